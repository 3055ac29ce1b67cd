"""Pre-trained models of a few thousand random weights, which tests write themselves."""

from collections.abc import Iterable
from pathlib import Path

import pytest

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny_bert(folder: Path, words: Iterable[str], positions: int = 24) -> Path:
    """Write a BERT with random weights and a vocabulary of whole words; skip without the extra."""
    pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
    transformers = pytest.importorskip(
        "transformers", reason="the extra 'transformers' is not installed"
    )
    vocabulary = list(dict.fromkeys([*SPECIAL_TOKENS, *words]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        max_position_embeddings=positions,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder
