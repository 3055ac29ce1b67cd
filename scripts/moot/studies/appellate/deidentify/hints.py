"""Recognise sentences that reveal the outcome of an appeal.

In such a sentence the court decides, speaks, evaluates or states the law in its own voice. Facts
are told in the past tense, and arguments are attributed to a person. An unattributed sentence that
says what is valid, sufficient or required is therefore the court's own and leads to its decision.
"""

import re

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.lexicon import normalise_word
from moot.studies.appellate.legal.dispositions import find_dispositions, mask_quotations

_PATTERNS = w.read_patterns("hints.yaml")
_LEGAL_WORDS = (w.COMMON_WORDS - w.ROLE_WORDS) | w.STATE_WORDS


def tells_outcome(sentence: str) -> bool:
    """Return whether a sentence states the decision on the appeal, or the court speaks in it.

    The deciding court does not speak in the facts of a case. Every sentence in which it does ("we",
    "this Court") may reveal the outcome, and so may one that evaluates or states the law without
    attribution.
    """
    masked_sentence = mask_quotations(sentence)
    if not re.search(r"[A-Za-z]{2}", masked_sentence):
        masked_sentence = sentence
    if _PATTERNS["court_speaks"].search(masked_sentence):
        return True
    if _matches_unattributed("evaluates", masked_sentence):
        return True
    if _matches_unattributed("presupposes", masked_sentence, "attributed_to_party"):
        return True
    has_provision = _PATTERNS["cites_provision"].search(masked_sentence) is not None
    if not has_provision and _matches_unattributed("states_law", masked_sentence):
        return True
    return bool(find_dispositions(sentence))


def states_general_rule(sentence: str) -> bool:
    """Return whether a sentence states a general rule in the present tense, about no person.

    Facts are told in the past tense and about people, so such a sentence is the court's reading of
    the law. A bare quotation of what a statute or a contract provides does not count.
    """
    masked_sentence = mask_quotations(sentence)
    if not _matches_unattributed("speaks_of_law", masked_sentence, "argues"):
        return False
    exceptions = ("past_tense", "procedure", "quotes_provision")
    if any(_PATTERNS[name].search(masked_sentence) for name in exceptions):
        return False
    return not _mentions_person(masked_sentence)


def _mentions_person(masked_sentence: str) -> bool:
    """Return whether a sentence has a personal pronoun, starts with a role or contains a name."""
    if _PATTERNS["person"].search(masked_sentence):
        return True
    names = re.findall(r"(?<!^)\b[A-Z][\w'’-]+", masked_sentence.lstrip(' "“(‘'))
    return any(normalise_word(name) not in _LEGAL_WORDS for name in names)


def _matches_unattributed(name: str, masked_sentence: str, attribution: str = "attributed") -> bool:
    """Return whether a pattern matches and no party, witness or court is named before it."""
    match = _PATTERNS[name].search(masked_sentence)
    if match is None:
        return False
    return _PATTERNS[attribution].search(masked_sentence[: match.start()]) is None
