"""The digests that a job's rule has as parameters, and what they are made of."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from moot.core.artifacts import file_digest
from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig
from moot.core.registry import REGISTRIES
from moot.core.rubric import Rubric
from moot.core.types import JsonObject
from moot.llm.endpoints import ENDPOINTS
from moot.llm.identity import model_asked, served_as

REPLIES_DEPEND_ON = {
    "endpoint",
    "model",
    "temperature",
    "max_tokens",
    "seed",
    "context",
    "structured",
    "reasoning",
    "parameters",
    "price",
}
"""Of a model's entry; the others say how fast and how patiently it is asked."""


@dataclass(frozen=True)
class Digests:
    """What a job depends on: options (configuration, seed, the user's own files), prompts, and
    code.
    """

    options: str
    prompts: str
    code: str


def digest_of(content: object) -> str:
    """A digest of what JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def digest_with_files(code: str, files: Iterable[Path]) -> str:
    """A digest of code and of templates that it fills."""
    return digest_of([code, contents(files)])


def contents(paths: Iterable[Path]) -> list[str]:
    """The name of each file, and a digest of what it holds."""
    return [f"{path.name} {file_digest(path)}" for path in paths]


def what_replies_depend_on(models: Mapping[str, ModelConfig]) -> JsonObject:
    """What of the entries of models their replies depend on."""

    def of(model: ModelConfig) -> JsonObject:
        fields = REPLIES_DEPEND_ON | set(endpoint_traits(model.endpoint).request_keys)
        asked = {"model": model_asked(model), "server": served_as(model)}
        return model.model_dump(mode="json", include=fields) | asked

    return {name: of(models[name]) for name in sorted(models)}


def endpoint_modules(models: Mapping[str, ModelConfig]) -> list[str]:
    """The modules of the kinds of endpoint that some models are reached by."""
    shipped = {name.rpartition(".")[2]: name for name in ENDPOINTS.modules()}
    known = {**ENDPOINTS.extensions, **shipped}
    wanted = {known[config.endpoint] for config in models.values() if config.endpoint in known}
    return ["moot.llm.endpoints", *sorted(wanted)]


def extension_modules() -> list[str]:
    """Every module of the user's own that registers something."""
    return sorted({module for registry in REGISTRIES for module in registry.extensions.values()})


def rubric_text(rubric: Rubric | None) -> str:
    """A rubric as it is written, since the order of its labels counts."""
    return rubric.model_dump_json() if rubric else ""
