"""Recognise sentences that reveal the outcome of an appeal.

In such a sentence the court decides, speaks, evaluates or states the law in its own voice. Facts
are told in the past tense, and arguments are attributed to a person. An unattributed sentence that
says what is valid, sufficient or required is therefore the court's own and leads to its decision.
"""

import re

from moot.studies.appellate.deidentify.lexicon import normalise_word
from moot.studies.appellate.deidentify.vocabulary import (
    COMMON_WORDS,
    ROLE_WORDS,
    ROLES,
    STATE_WORDS,
)
from moot.studies.appellate.legal.dispositions import find_dispositions, mask_quotations

_COURT_SPEAKS = re.compile(
    r"\b(?:we|We|WE|our|Our|us|ourselves|[Tt]his [Cc]ourt(?:['’]s)?|[Tt]his (?:opinion|appeal"
    r" follow))\b"
)
_COURT_REVIEWS = re.compile(
    r"\bwe"
    r" (?:will|must|may|have|do|review|apply|presume|indulge|consider|examine|look|hold|defer)\b",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:we|this"
    r" court)\b[^.;]{0,60}?\b(?:hold|conclude|agree|disagree|reject|find|determine|decide|"
    r"decline|adopt|"
    r"believe|answer|rule|are (?:not )?persuaded)\b",
    re.IGNORECASE,
)
_APPLIES_LAW = re.compile(r"\W*(?:Here|In this case|In the (?:present|instant) case),")
_OWN_DECISION = re.compile(
    r"\bopinion\b.{0,60}\b(?:is|are) (?:hereby )?withdrawn|\bmotions? (?:for|to)"
    r" \w+.{0,60}\b(?:is|are) (?:\w+ )?"
    r"(?:denied|granted|withdrawn)\b|\bis substituted\b|\bfollowing substituted\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:for the (?:reasons|foregoing)|reversible error|harmless error|no error|"
    r"(?:basis|grounds?|reason|need|warrants?|requir\w+|merits?|warranting) (?:for |to )?(?:an?"
    r" )?(?:revers\w+|remand)|"
    r"on remand|is (?:hereby )?(?:affirmed|reversed|vacated|remanded|dismissed)|"
    r"(?:lacks?|without) (?:jurisdiction|merit)|not (?:properly )?preserved|"
    r"(?:did|does|do|has|have|had) not preserve|fail(?:ed|s|ure) to preserve|deemed"
    r" (?:abandoned|waived)|"
    r"will (?:be upheld|not be disturbed|not disturb)|presumption that|record (?:does"
    r"|did) not (?:\w+ )?(?:establish|show|support))\b",
    re.IGNORECASE,
)
_LINKING_VERB = (
    r"(?:is|are|was|were|be|been|remains?|remained|became|becomes?|seems?|appears?)"
    r"(?: (?:not|also|thus|therefore|only|neither|\w+ly))*"
)
_EVALUATES = re.compile(
    rf"\b(?:{_LINKING_VERB} (?:void|voidable|valid|invalid|improper|proper|barred|precluded|"
    rf"pre-?empted|"
    rf"entitled to|meritless|"
    r"(?:un)?constitutional|(?:un)?enforceable|(?:in)?sufficient|untimely|moot|premature|"
    r"(?:in)?admissible|prejudic\w+|"
    r"harmless|(?:in)?appropriate|(?:im)?permissible|unlawful|illegal|immune|inapplicable|"
    r"controlling|dispositive|"
    r"arbitrary|capricious|discriminatory|unconscionable|confiscatory|(?:based on|"
    r"supported by) substantial|"
    r"viable|actionable|(?:un)?justified|(?:un)?reasonable|unsupported|supported by|defective|"
    r"deficient|ineffective|"
    r"unfounded|groundless|(?:in)?correct|irrelevant|jurisdictional|erroneous|error|harmless|"
    r"well[- ]taken|"
    r"(?:un)?persuasive|without merit|in (?:full force|error|conflict with)|"
    r"an? (?:factual |legal |mixed )?question (?:of|to be)|an? abuse of|fatal|misplaced|"
    r"unavailing)\b"
    r"|(?:un(?:fairly|duly|lawfully|reasonably|constitutionally)) \w+(?:ed|en)"
    r"|(?:properly|correctly|rightly|improperly|impermissibly|illegally|erroneously|incorrectly|"
    r"wrongly|prematurely|"
    r"validly) \w+(?:ed|en)"
    r"|(?:did|does|do) not (?:\w+ly )?(?:establish|prove|demonstrate|constitute|entitle|violate|"
    r"deprive|prejudice|"
    r"warrant|justify|mandate|amount|preclude|bar)"
    r"|fail(?:s|ed)? to (?:establish|prove|show(?! up)|demonstrate|meet|satisfy|comply|state)"
    r"|(?:violat\w+|infring\w+) (?:[\w'’]+ ){0,4}(?:rights?|constitution\w*|amendment|"
    r"due process|clause|privilege)"
    r"|(?:constitute[sd]?|amount(?:s|ed)? to) (?:an? )?(?:\w+ )?(?:abuse|error|violation|denial|"
    r"waiver|breach)"
    r"|lack(?:s|ed) (?:[\w-]+ ){0,2}(?:jurisdiction|probable cause|suspicion|standing|authority|"
    r"merit)"
    r"|there (?:is|are) (?:no|nothing|ample|substantial|sufficient|insufficient)\b(?! dispute|"
    r" question)"
    r"|there (?:was|were) (?:\w+ ){0,2}(?:evidence|basis|error|authority|reason)\b"
    r"|(?:evidence|record|facts?|law|findings?|precedents?|authorit(?:y|ies)|language|"
    r"history) (?:\w+ )?support(?:s|ed)"
    r"|(?:argument|claim|contention|challenge)s? (?:\w+ )?(?:fails?|has no|have no)"
    r"|(?:requires?|required|warrants?|warranted) a new trial"
    r"|there (?:seems?|appears?|can) (?:to )?be (?:no|little) (?:doubt|question)"
    r"|err(?:ed|s)\b|did not err\b|abused (?:its|his|her|their) discretion)",
    re.IGNORECASE,
)  # fmt: skip
_PRESUPPOSES = re.compile(
    r"\b(?:the|this|that|such|an?|after|of|by)"
    r" (?:(?:im)?permissible|improper|erroneous|mistaken|misleading) \w+",
    re.IGNORECASE,
)
_JUDGES_AN_ARGUMENT = re.compile(
    r"\b(?:assertion|argument|contention|claim|theory|position|complaint|"
    r"challenge)s?\b[^.;,]*\b(?:is|are|was|were) "
    r"(?:not )?(?:an? (?:factual|legal|question|matter)|without"
    r" merit|(?:un)?persuasive|unavailing|misplaced|mistaken|"
    r"(?:in)?correct|well[- ]taken|meritless|unpreserved)\b",
    re.IGNORECASE,
)
_PRESENT_TENSE = (
    r"(?:is|are|has|have|does|do|cannot|can|may|must|shall|should|will|need not|remains?"
    r" (?:in|an?|the|un\w+)|requires|"
    r"appl(?:y|ies)|precludes|bars|allows|permits|governs|depends?|means)"
)
_CONCEDES = re.compile(
    r"\bcannot (?:now|be heard|complain)\b|\b(?:makes?|raises?|has|have) (?:an?"
    r" )?(?:important|valid|good|fair|"
    r"persuasive|compelling|strong|serious|close|legitimate)"
    r" (?:points?|arguments?|questions?|case|concerns?)\b|"
    r"\b(?:extensive|thoughtful|thorough|careful|comprehensive|well[- ]reasoned|conscientious)(?:,?"
    r" (?:and )?\w+)? "
    r"(?:explanation|analysis|opinion|findings|consideration|review|reasoning)\b|"
    r"^\W*(?:Since|Because|Given|As)\b[^;]*\bcourt (?:was|is)"
    r" (?:required|obligated|obliged|bound|correct) to\b|"
    r"\bthat is (?:not )?(?:the case|so|true|correct)\b|\bin no way\b|"
    r"\b(?:has|have) (?:\w+ )?(?:ignored|overlooked|misread|misconstrued|mistaken|confused)\b|"
    r"\bread[^.;]{0,60} too (?:broadly|narrowly)\b|\bnot (?:been )?(?:raised|argued|made|presented)\b|"
    r"\b(?:findings|facts|evidence) (?:\w+ )?(?:meets?|met|satisf\w+) the\b|"
    r"\bnot sufficient to (?:justify|warrant|support|establish)\b|"
    r"^\W*(?:Unlike|In neither|(?:By|In) contrast)\b"
)
_SPEAKS_OF_LAW = re.compile(
    rf"\b(?:{_PRESENT_TENSE}|states?|provides?|imposes?|establish(?:es)?|reveals?|supports?|shows?|"
    r"restates?|creates?|pertains?|deals?|contemplates?|authorizes?|prohibits?|protects?|gives?|"
    r"limits?|defines?|"
    r"directs?|embod(?:y|ies)|waives?|bears?|reflects?|follows?|turns?)\b"
)
_PAST_TENSE = re.compile(
    r"\b(?:was|were|had|did|could|would|\w+ed"
    r" that|sought|declared|failed|began|took|gave|made|told|said|went|came|"
    r"held|refused|moved|found|denied|granted|decided|agreed|acknowledged|noted|ruled|concluded|"
    r"ordered|offered|entered|"
    r"filed|indicated|requested|received)\b"
)
_ARGUMENT_VERB = re.compile(
    r"\b(?:argues?|contends?|asserts?|claims?"
    r" (?:that|to)|alleges?|maintains?|urges?|submits?|challenges?|according to|"
    r"explains?|responds?|concedes?|notes?|points out|questions?|whether|issues?)\b",
    re.IGNORECASE,
)
_PERSONAL_PRONOUN = re.compile(
    r"\b(?:he|she|they|him|his|her|hers|their|them|I|my)\b", re.IGNORECASE
)
_QUOTES_PROVISION = re.compile(
    r"^\W*(?:(?:Under|In|Pursuant to) )?(?:[Tt]he |[Tt]hat |NMSA |NMRA )?(?:[\w'’-]+"
    r" ){0,3}?(?:statutes?|[Ss]ections?|"
    r"[Ss]ubsections?|[Rr]ules?|Act|policy|contract|agreement|clause|decree|order|ordinance|"
    r"regulations?|instruction|"
    r"handbook|lease|deed|will|UJI|§+|affidavit|warrant|letter|complaint|report|form|"
    r"memorandum)\b[^;]{0,60}?(?<!ly )"
    r"\b(?:provides?|requires?|states?|reads?|allows?|permits?|defines?|directs?|authorizes?|"
    r"prohibits?)\b"
)
_LEGAL_WORDS = (COMMON_WORDS - ROLE_WORDS) | STATE_WORDS
_STARTS_WITH_ROLE = re.compile(rf"\W*(?:{'|'.join(ROLES)})s?\b", re.IGNORECASE)
_STATES_LAW = re.compile(
    r"(?<!['’])\b(?:cannot|can(?! be seen)|may(?! have)|must|shall|should|need not|ought)\b"
)
_INFERENCE_OPENING = re.compile(
    r"^\W*(?:As a"
    r" (?:consequence|result)|Consequently|Therefore|Thus|Accordingly|Hence|Clearly|Obviously|"
    r"Moreover|"
    r"Furthermore|Further|Otherwise|Indeed|In"
    r" (?:fact|sum|short)|Nevertheless|Nonetheless|Rather|Instead)\b"
)
_ASSERTS = re.compile(rf"\b{_PRESENT_TENSE}\b")
_CONCLUSION_IN_PAST = re.compile(
    r"\b(?:waived|abandoned|had (?:no |the |an? )?(?:\w+"
    r" )?(?:jurisdiction|authority|standing|right|discretion|duty)|"
    r"was (?:not )?(?:required|obligated|bound|authorized|free|permitted) to|acted within|complied"
    r" with|satisfied|"
    r"met (?:its|his|her|their|the) burden|could (?:not )?(?:have"
    r" )?(?:rely|bring|recover|consider|reasonably))\b",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"\b(?:appeals?|cross-appeals?|seeks?|asks?|presents?|involves?|concerns?|arises?|raises?|"
    r"addresses|undisputed|"
    r"(?:is|are) (?:an? |the )?(?:\w+ )?(?:appeal|case|action|suit|issue|question)s?)\b",
    re.IGNORECASE,
)
_ATTRIBUTED_TO_ANYONE = re.compile(
    r"\b(?:argu\w+|contend\w*|assert\w*|claim\w*|alleg\w+|maintain\w*|submit\w*|urg\w+|mov(?:ed|"
    r"es|ing)|complain\w*|"
    r"challeng\w+|questions?|whether|issues?|found|finding|finds|ruled|ruling|conclud\w+|held|"
    r"holding|determin\w+|"
    r"stat(?:ed|es|ing)|reason(?:ed|ing)|testif\w+|told|said|says|believ\w+|according"
    r" to|decided|decision|agreed|"
    r"order(?:ed|ing)|explain\w+|opin\w+|noted|respond\w*|request\w*|stipulat\w+|admit\w+|"
    r"conced\w+|averr\w+|theory|"
    r"indicat\w+|inform\w+|report(?:s|ed)|granted|denied|denying|dismiss(?:ed|ing)|refus\w+|"
    r"overruled|sustained|"
    r"instructed|advis\w+|notif\w+|warn\w+|object\w+|thought|knew|learned|acknowledg\w+|view|"
    r"grounds?|convicted|"
    r"announced|suggest\w+|represent(?:s|ed)|upheld|upholding|denies|protest\w*|recommend\w*)\b",
    re.IGNORECASE,
)
_ATTRIBUTED_TO_PARTY = re.compile(
    r"\b(?:argu\w+|contend\w*|assert\w*|claim\w*|alleg\w+|maintain\w*|submit\w*|urg\w+|"
    r"complain\w*|challeng\w+)\b",
    re.IGNORECASE,
)
_CITES_PROVISION = re.compile(
    r"\b(?:provid\w+|requir\w+|reads?|specif\w+|defin\w+|statutes?|sections?|subsections?|rules?|"
    r"[Aa]ct|policy|contract|"
    r"agreement|clause|decree|orders?|ordinance|regulations?|handbook|lease|deed|instructions?|"
    r"will|I)\b|§"
)


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
    if find_dispositions(sentence) or _is_court_speaking(masked_sentence):
        return True
    if is_only_quotation:
        masked_sentence = sentence
    return _evaluates(masked_sentence) or _states_law(masked_sentence)


def _is_court_speaking(masked_sentence: str) -> bool:
    """Whether the court speaks in its own person, applies the law or rules on a motion."""
    if _COURT_SPEAKS.search(masked_sentence) or _APPLIES_LAW.match(masked_sentence):
        return True
    return bool(_OWN_DECISION.search(masked_sentence) or _CONCEDES.search(masked_sentence))


def _evaluates(masked_sentence: str) -> bool:
    """Whether a sentence concludes or evaluates without attribution."""
    for pattern in (_CONCLUDES, _EVALUATES, _JUDGES_AN_ARGUMENT):
        if _matches_unattributed(pattern, masked_sentence):
            return True
    return _matches_unattributed(_PRESUPPOSES, masked_sentence, _ATTRIBUTED_TO_PARTY)


def _states_law(masked_sentence: str) -> bool:
    """Whether a sentence infers or states the law without attribution and without a provision."""
    is_inference = _INFERENCE_OPENING.match(masked_sentence) is not None
    if is_inference and _matches_unattributed(_ASSERTS, masked_sentence):
        return True
    if _CITES_PROVISION.search(masked_sentence):
        return False
    return _matches_unattributed(_STATES_LAW, masked_sentence)


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
    if _matches_unattributed(_ASSERTS, masked_sentence):
        return True
    return _matches_unattributed(_CONCLUSION_IN_PAST, masked_sentence)


def states_general_rule(sentence: str) -> bool:
    """Whether a sentence states a general rule: present tense, unattributed, about no person.

    Facts are told in the past tense and about people, so such a sentence is the court's reading of
    the law. A bare quotation of what a statute or a contract provides does not count.
    """
    masked_sentence = mask_quotations(sentence)
    if not _matches_unattributed(_SPEAKS_OF_LAW, masked_sentence, _ARGUMENT_VERB):
        return False
    if _PAST_TENSE.search(masked_sentence) or _mentions_person(masked_sentence):
        return False
    return not (_QUOTES_PROVISION.match(masked_sentence) or _PROCEDURE.search(masked_sentence))


def _mentions_person(masked_sentence: str) -> bool:
    """Whether a sentence has a personal pronoun, starts with a role or contains a name."""
    if _PERSONAL_PRONOUN.search(masked_sentence) or _STARTS_WITH_ROLE.match(masked_sentence):
        return True
    for match in re.finditer(r"[A-Z][\w'’-]+", masked_sentence):
        is_first_word = not masked_sentence[: match.start()].strip(' "“(‘')
        if not is_first_word and normalise_word(match[0]) not in _LEGAL_WORDS:
            return True
    return False


def _matches_unattributed(
    pattern: re.Pattern[str],
    masked_sentence: str,
    attribution: re.Pattern[str] = _ATTRIBUTED_TO_ANYONE,
) -> bool:
    """Whether a pattern matches without an attribution to a party, witness or court before it."""
    match = pattern.search(masked_sentence)
    return match is not None and not attribution.search(masked_sentence[: match.start()])
