"""Recognise sentences that reveal the outcome of an appeal.

In such a sentence the court decides, speaks, evaluates or states the law in its own voice. Facts
are told in the past tense, and arguments are attributed to a person. An unattributed sentence that
says what is valid, sufficient or required is therefore the court's own and leads to its decision.
"""

import re

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.lexicon import normalise_word
from moot.studies.appellate.legal.dispositions import find_dispositions, mask_quotations

_COURT_SPEAKS = re.compile(
    r"\b(?:[Ww]e|WE|[Oo]ur|us|ourselves|[Tt]his [Cc]ourt(?:['’]s)?|[Tt]his (?:opinion|appeal"
    r" follow))\b|^\W*(?:Here|In this case|In the (?:present|instant) case),"
)
_COURT_RULES = re.compile(
    r"(?i)\bopinion\b.{0,60}\b(?:is|are) (?:hereby )?withdrawn|"
    r"\bmotions? (?:for|to) \w+.{0,60}\b(?:is|are) (?:\w+ )?(?:denied|granted|withdrawn)\b|"
    r"\b(?:cannot|can not) (?:now|be heard|complain)\b|\bin no way\b|^\W*(?:Unlike|By contrast)\b|"
    r"\b(?:makes?|raises?|has|have) an? (?:important|valid|good|fair|strong|serious|close) \w+|"
    r"\b(?:extensive|thoughtful|thorough|careful|well[- ]reasoned) (?:and \w+ )?"
    r"(?:explanation|analysis|opinion|findings|consideration|review|reasoning)\b|"
    r"^\W*(?:Since|Because|Given|As)\b[^;]*\bcourt (?:was|is) (?:required|obliged|bound|correct)"
    r" to\b|\bnot (?:been )?(?:raised|argued|made|presented|preserved)\b"
)
_COURT_REVIEWS = re.compile(
    r"(?i)\bwe (?:will|must|may|have|do|review|consider|examine|look|hold)\b"
)
_HOLDS = re.compile(
    r"(?i)\b(?:we|this court)\b[^.;]{0,60}?\b(?:hold|conclude|agree|disagree|reject|find|"
    r"determine|decide|decline|adopt|believe|answer|rule|are (?:not )?persuaded)\b"
)
_LINKING_VERB = (
    r"(?:is|are|was|were|be|been|remains?|remained|seems?|appears?)(?: (?:not|\w+ly|an?|as))*"
)
_RECORD = r"(?:evidence|record|facts?|findings?|precedents?|authorit(?:y|ies)|law)"
_EVALUATES = re.compile(
    rf"(?i)\b(?:{_LINKING_VERB} (?:{w.join_words('evaluations')}|without merit|well[- ]taken|"
    r"in (?:full force|error|conflict)|(?:\w+ )?question (?:of|to be)|abuse of)\b|"
    r"for the (?:reasons|foregoing)|(?:basis|grounds?|reason|need) for (?:an? )?(?:revers|remand)"
    r"\w+|on remand|is (?:hereby )?(?:affirmed|reversed|vacated|remanded|dismissed)|"
    r"presumption that|(?:reversible|harmless|no) error|"
    r"(?:did|does|do) not (?:\w+ly )?(?:establish|prove|demonstrate|constitute|entitle|violate|"
    r"deprive|prejudice|warrant|justify|preclude|bar|err)|"
    r"fail(?:s|ed|ure)? to (?:establish|prove|show(?! up)|demonstrate|meet|satisfy|comply|"
    r"preserve)|violat\w+ (?:[\w'’]+ ){0,4}(?:rights?|constitution\w*|amendment|due process)|"
    r"(?:constituted?s?|amount(?:s|ed)? to) (?:an? )?(?:\w+ )?(?:abuse|error|violation|waiver)|"
    r"(?:lack(?:s|ed)|without) (?:[\w-]+ ){0,2}(?:jurisdiction|probable cause|standing|authority|"
    r"merit)|there (?:is|are) (?:no|nothing|ample|substantial|(?:in)?sufficient)\b(?! dispute| "
    rf"question)|there (?:was|were) (?:\w+ ){{0,2}}(?:evidence|basis|error|reason)\b|{_RECORD} "
    r"(?:\w+ )?(?:supports?(?:ed)?|meets?)|"
    r"(?:un|im|in)?(?:proper|correct|right|wrong|erroneous|fair|due|lawful|reasonable|"
    r"premature)ly \w+(?:ed|en)|err(?:ed|s)\b|abused (?:its|his|her) discretion|"
    r"will (?:be upheld|not (?:be )?disturb))"
)
_EVALUATES_ARGUMENT = re.compile(
    r"(?i)\b(?:assertion|argument|contention|claim|theory|position|complaint|challenge)s?\b[^.;,]*"
    rf"\b{_LINKING_VERB} (?:{w.join_words('evaluations')}|without merit|(?:\w+ )?question)\b"
)
_PRESUPPOSES = re.compile(
    r"(?i)\b(?:the|this|that|such|an?|after|of|by) (?:(?:im)?permissible|improper|erroneous|"
    r"mistaken|misleading) \w+"
)
_PRESENT_TENSE = (
    r"(?:is|are|has|have|does|do|cannot|can|may|must|shall|should|will|need not|remains? (?:in|an?|"
    r"the|un\w+)|requires|appl(?:y|ies)|precludes|bars|allows|permits|governs|depends?|means)"
)
_ASSERTS = re.compile(rf"\b{_PRESENT_TENSE}\b")
_SPEAKS_OF_LAW = re.compile(rf"\b(?:{_PRESENT_TENSE}|{w.join_words('law_verbs')})\b")
_STATES_LAW = re.compile(
    r"(?<!['’])\b(?:cannot|can(?! be seen)|may(?! have)|must|shall|should|need not|ought)\b"
)
_PAST_TENSE = re.compile(
    r"\b(?:was|were|had|did|could|would|\w+ed that|sought|declared|failed|began|took|gave|made|"
    r"told|said|went|came|held|refused|moved|found|denied|granted|decided|agreed|noted|ruled|"
    r"concluded|ordered|offered|entered|filed|indicated|requested|received)\b"
)
_CONCLUSION_IN_PAST = re.compile(
    r"(?i)\b(?:waived|abandoned|had (?:no |the |an? )?(?:\w+ )?(?:jurisdiction|authority|standing|"
    r"right|discretion|duty)|was (?:not )?(?:required|obligated|bound|authorized|permitted) to|"
    r"acted within|complied with|satisfied|met (?:its|his|her|their|the) burden)\b"
)
_INFERENCE_OPENING = re.compile(
    r"^\W*(?:As a (?:consequence|result)|Consequently|Therefore|Thus|Accordingly|Hence|Clearly|"
    r"Moreover|Furthermore|Further|Otherwise|Indeed|In (?:fact|sum|short)|Nevertheless|Rather|"
    r"Instead)\b"
)
_PROCEDURE = re.compile(
    r"(?i)\b(?:appeals?|cross-appeals?|seeks?|asks?|presents?|involves?|concerns?|arises?|raises?|"
    r"addresses|undisputed|"
    r"(?:is|are) (?:an? |the )?(?:\w+ )?(?:case|action|suit|issue|question)s?)\b"
)
_CITES_PROVISION = re.compile(
    r"\b(?:provid\w+|requir\w+|reads?|specif\w+|defin\w+|statutes?|sections?|subsections?|rules?|"
    r"[Aa]ct|policy|contract|agreement|clause|decree|orders?|ordinance|regulations?|handbook|lease|"
    r"deed|instructions?|will|I)\b|§"
)
_QUOTES_PROVISION = re.compile(
    r"^\W*(?:[\w'’-]+ ){0,4}?(?:statutes?|[Ss](?:ubs)?ections?|[Rr]ules?|Act|policy|contract|"
    r"agreement|clause|decree|order|ordinance|regulations?|lease|deed|will|affidavit|warrant|"
    r"letter|"
    r"complaint|report)\b[^;]{0,60}?(?<!ly )\b(?:provides?|requires?|states?|reads?|allows?|"
    r"permits?|defines?|directs?)\b"
)
_ARGUMENT = rf"(?:{w.join_words('attribution_stems')})\w*"
_ATTRIBUTED_TO_PARTY = re.compile(rf"(?i)\b{_ARGUMENT}")
_ATTRIBUTED = re.compile(rf"(?i)\b(?:{_ARGUMENT}|(?:{w.join_words('attributions')})\b)")
_ARGUES = re.compile(
    r"(?i)\b(?:argues?|contends?|asserts?|claims? (?:that|to)|alleges?|maintains?|urges?|submits?|"
    r"challenges?|according to|explains?|responds?|concedes?|notes?|questions?|whether|issues?)\b"
)
_PERSON = re.compile(
    r"(?i)\b(?:he|she|they|him|his|her|hers|their|them|I|my)\b|"
    rf"^\W*(?:{'|'.join(sorted(w.ROLES))})s?\b"
)
_LEGAL_WORDS = (w.COMMON_WORDS - w.ROLE_WORDS) | w.STATE_WORDS


def tells_outcome(sentence: str) -> bool:
    """Whether a sentence states the decision on the appeal, or the court speaks in it.

    The deciding court does not speak in the facts of a case. Every sentence in which it does ("we",
    "this Court") may reveal the outcome, and so may one that evaluates or states the law without
    attribution.
    """
    masked_sentence = mask_quotations(sentence)
    is_only_quotation = not re.search(r"[A-Za-z]{2}", masked_sentence)
    if is_only_quotation and _COURT_REVIEWS.search(sentence):
        return True
    if _COURT_SPEAKS.search(masked_sentence) or _COURT_RULES.search(masked_sentence):
        return True
    if is_only_quotation:
        masked_sentence = sentence
    for pattern in (_EVALUATES, _EVALUATES_ARGUMENT):
        if _matches_unattributed(pattern, masked_sentence):
            return True
    if _matches_unattributed(_PRESUPPOSES, masked_sentence, _ATTRIBUTED_TO_PARTY):
        return True
    return _states_law(masked_sentence) or bool(find_dispositions(sentence))


def _states_law(masked_sentence: str) -> bool:
    """Whether a sentence infers or states the law without attribution and without a provision."""
    if _INFERENCE_OPENING.match(masked_sentence) and _matches_unattributed(
        _ASSERTS, masked_sentence
    ):
        return True
    has_provision = _CITES_PROVISION.search(masked_sentence) is not None
    return not has_provision and _matches_unattributed(_STATES_LAW, masked_sentence)


def announces_holding(sentence: str) -> bool:
    """Whether the court states a holding. The rest of the paragraph then explains the holding."""
    return bool(find_dispositions(sentence) or _HOLDS.search(mask_quotations(sentence)))


def asserts_unattributed(sentence: str) -> bool:
    """Whether a sentence makes an unattributed assertion that is not about procedure.

    An introduction says who appeals what and why. All its other assertions come from the court's
    conclusion, and so do those that explain a holding.
    """
    masked_sentence = mask_quotations(sentence)
    if _PROCEDURE.search(masked_sentence):
        return False
    patterns = (_ASSERTS, _CONCLUSION_IN_PAST)
    return any(_matches_unattributed(pattern, masked_sentence) for pattern in patterns)


def states_general_rule(sentence: str) -> bool:
    """Whether a sentence states a general rule: present tense, unattributed, about no person.

    Facts are told in the past tense and about people, so such a sentence is the court's reading of
    the law. A bare quotation of what a statute or a contract provides does not count.
    """
    masked_sentence = mask_quotations(sentence)
    if not _matches_unattributed(_SPEAKS_OF_LAW, masked_sentence, _ARGUES):
        return False
    if _PAST_TENSE.search(masked_sentence) or _mentions_person(masked_sentence):
        return False
    return not (_QUOTES_PROVISION.match(masked_sentence) or _PROCEDURE.search(masked_sentence))


def _mentions_person(masked_sentence: str) -> bool:
    """Whether a sentence has a personal pronoun, starts with a role or contains a name."""
    if _PERSON.search(masked_sentence):
        return True
    names = re.findall(r"(?<!^)\b[A-Z][\w'’-]+", masked_sentence.lstrip(' "“(‘'))
    return any(normalise_word(name) not in _LEGAL_WORDS for name in names)


def _matches_unattributed(
    pattern: re.Pattern[str], masked_sentence: str, attribution: re.Pattern[str] = _ATTRIBUTED
) -> bool:
    """Whether a pattern matches without an attribution to a party, witness or court before it."""
    match = pattern.search(masked_sentence)
    return match is not None and not attribution.search(masked_sentence[: match.start()])
