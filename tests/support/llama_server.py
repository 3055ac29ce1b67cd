"""A real llama.cpp server as a process of its own, with a tiny model of random weights.

The model has one layer. Its tokenizer and chat template come from SmolLM2, in the package that
moot brings. Its replies are gibberish, in the form that a request asks for; quotation
marks and the end of a reply are likely.
"""

import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import BinaryIO

import numpy as np

from moot.core.model_config import ModelConfig
from moot.llm.endpoints.embedded import PACKAGED, model_path
from patience import PATIENCE

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 8192
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""GGUF's type of a value to its size."""
UINT32, FLOAT32, STRING, ARRAY = 4, 6, 8, 9
ALIGNMENT = 32
COMMON, WEIGHT_OF_ENDS = 1.2, 4.2
"""A component that all tokens have, and its weight in the logits of tokens that end a text."""


def write_tiny_llama(path: Path, seed: int = 1) -> Path:
    """Write a model of one layer with random weights as a GGUF file."""
    tokenizer, tokens = read_tokenizer(model_path(ModelConfig(endpoint="embedded", model=PACKAGED)))
    vocabulary = len(tokens)
    fields = [
        text_field("general.architecture", "llama"),
        text_field("general.name", "tiny"),
        *(number_field(f"llama.{name}", value) for name, value in shape_fields(vocabulary)),
        float_field("llama.attention.layer_norm_rms_epsilon", 1e-5),
        *tokenizer,
    ]
    draw = np.random.default_rng(seed)
    infos, data = [], []
    offset = 0
    for name, dimensions in tensor_shapes(vocabulary).items():
        values = draw.normal(0, 0.4, dimensions[::-1]).astype(np.float32)
        if name.endswith("norm.weight"):
            values[:] = 1
        elif name == "token_embd.weight":
            values[:, 0] = COMMON
        elif name == "output.weight":
            for token in ('"', "<|im_end|>"):
                values[tokens.index(token), 0] = WEIGHT_OF_ENDS
        content = values.tobytes()
        content += bytes(-len(content) % ALIGNMENT)
        sizes = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
        infos.append(text(name) + sizes + struct.pack("<IQ", 0, offset))
        data.append(content)
        offset += len(content)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(fields)) + b"".join(fields + infos)
    path.write_bytes(header + bytes(-len(header) % ALIGNMENT) + b"".join(data))
    return path


def shape_fields(vocabulary: int) -> list[tuple[str, int]]:
    """Return the sizes of the model as GGUF names them."""
    return [
        ("block_count", 1),
        ("context_length", CONTEXT),
        ("embedding_length", WIDTH),
        ("feed_forward_length", INNER),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", HEADS),
        ("rope.dimension_count", WIDTH // HEADS),
        ("vocab_size", vocabulary),
    ]


def tensor_shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    """Return the dimensions of each tensor; the first varies fastest."""
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (WIDTH, vocabulary)}
    shapes |= {"output_norm.weight": (WIDTH,), "output.weight": (WIDTH, vocabulary)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH, WIDTH)
    for name in ("attn_norm", "ffn_norm"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH,)
    for name in ("ffn_gate", "ffn_up"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH, INNER)
    return {**shapes, "blk.0.ffn_down.weight": (INNER, WIDTH)}


def text(value: str) -> bytes:
    """Return a string of GGUF."""
    content = value.encode()
    return struct.pack("<Q", len(content)) + content


def text_field(key: str, value: str) -> bytes:
    """Return a field whose value is a text."""
    return text(key) + struct.pack("<I", STRING) + text(value)


def number_field(key: str, value: int) -> bytes:
    """Return a field whose value is a number."""
    return text(key) + struct.pack("<II", UINT32, value)


def float_field(key: str, value: float) -> bytes:
    """Return a field whose value has decimals."""
    return text(key) + struct.pack("<If", FLOAT32, value)


def read_tokenizer(path: Path) -> tuple[list[bytes], list[str]]:
    """Return the fields of a model's tokenizer as they are stored, and its tokens."""
    fields: list[bytes] = []
    tokens: list[str] = []
    with path.open("rb") as file:
        _, _, _, count = struct.unpack("<4sIQQ", file.read(24))
        for _ in range(count):
            start = file.tell()
            key = read_text(file)
            kind = read_number(file, "<I")
            if key == "tokenizer.ggml.tokens":
                _, token_count = read_number(file, "<I"), read_number(file, "<Q")
                tokens = [read_text(file) for _ in range(token_count)]
            else:
                skip_value(file, kind)
            end = file.tell()
            if key.startswith("tokenizer."):
                file.seek(start)
                fields.append(file.read(end - start))
    return fields, tokens


def read_text(file: BinaryIO) -> str:
    """Read a string of GGUF."""
    return file.read(read_number(file, "<Q")).decode()


def read_number(file: BinaryIO, form: str) -> int:
    """Read one number."""
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return int(value)


def skip_value(file: BinaryIO, kind: int) -> None:
    """Move behind a value."""
    if kind == STRING:
        file.seek(read_number(file, "<Q"), 1)
    elif kind == ARRAY:
        kind_of_elements, count = read_number(file, "<I"), read_number(file, "<Q")
        for _ in range(count):
            skip_value(file, kind_of_elements)
    else:
        file.seek(SCALAR_BYTES[kind], 1)


def free_port() -> int:
    """Return a port of this machine that no server uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LlamaServer:
    """llama.cpp's server in a process of its own."""

    def __init__(self, model: Path, port: int = 0) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        program = Path(__file__).with_name("llama_process.py")
        command = [sys.executable, str(program), str(model), str(self.port), str(CONTEXT)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).close()
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def close(self) -> None:
        """End the process by SIGKILL."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()
