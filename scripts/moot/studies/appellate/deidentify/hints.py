"""Recognise sentences that reveal the outcome of an appeal.

In such a sentence the court decides, speaks, evaluates or states the law in its own voice. Facts
are told in the past tense, and arguments are attributed to a person. An unattributed sentence that
says what is valid, sufficient or required is therefore the court's own and leads to its decision.
"""

import re

from moot.studies.appellate.deidentify.lexicon import normalise_word
from moot.studies.appellate.deidentify.words import (
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
    r"\b(?:we|this court)\b[^.;]{0,60}?\b(?:hold|conclude|agree|disagree|reject|find|determine|"
    r"decide|decline|adopt|believe|answer|rule|are (?:not )?persuaded)\b",
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
    r"\b(?:for the (?:reasons|foregoing)|reversible error|harmless error|no error|(?:basis|"
    r"grounds?|reason|need|warrants?|requir\w+|merits?|warranting) (?:for |to )?(?:an? "
    r")?(?:revers\w+|remand)|on remand|is (?:hereby )?(?:affirmed|reversed|vacated|remanded|"
    r"dismissed)|(?:lacks?|without) (?:jurisdiction|merit)|not (?:properly )?preserved|(?:did|"
    r"does|do|has|have|had) not preserve|fail(?:ed|s|ure) to preserve|deemed (?:abandoned|waived)|"
    r"will (?:be upheld|not be disturbed|not disturb)|presumption that|record (?:does|did) not "
    r"(?:\w+ )?(?:establish|show|support))\b",
    re.IGNORECASE,
)
_LINKING_VERB = (
    r"(?:is|are|was|were|be|been|remains?|remained|became|becomes?|seems?|appears?)"
    r"(?: (?:not|also|thus|therefore|only|neither|\w+ly))*"
)
_EVALUATES = re.compile(
    rf"\b(?:{_LINKING_VERB} (?:void|voidable|valid|invalid|improper|proper|barred|precluded|"
    rf"pre-?empted|entitled to|meritless|"
    r"(?:un)?constitutional|(?:un)?enforceable|(?:in)?sufficient|untimely|moot|premature|"
    r"(?:in)?admissible|prejudic\w+|harmless|(?:in)?appropriate|(?:im)?permissible|unlawful|"
    r"illegal|immune|inapplicable|controlling|dispositive|arbitrary|capricious|discriminatory|"
    r"unconscionable|confiscatory|(?:based on|supported by) substantial|viable|actionable|"
    r"(?:un)?justified|(?:un)?reasonable|unsupported|supported by|defective|deficient|ineffective|"
    r"unfounded|groundless|(?:in)?correct|irrelevant|jurisdictional|erroneous|error|harmless|"
    r"well[- ]taken|(?:un)?persuasive|without merit|in (?:full force|error|conflict with)|an? "
    r"(?:factual |legal |mixed )?question (?:of|to be)|an? abuse of|fatal|misplaced|unavailing)\b|"
    r"(?:un(?:fairly|duly|lawfully|reasonably|constitutionally)) \w+(?:ed|en)|(?:properly|"
    r"correctly|rightly|improperly|impermissibly|illegally|erroneously|incorrectly|wrongly|"
    r"prematurely|validly) \w+(?:ed|en)|(?:did|does|do) not (?:\w+ly )?(?:establish|prove|"
    r"demonstrate|constitute|entitle|violate|deprive|prejudice|warrant|justify|mandate|amount|"
    r"preclude|bar)|fail(?:s|ed)? to (?:establish|prove|show(?! up)|demonstrate|meet|satisfy|"
    r"comply|state)|(?:violat\w+|infring\w+) (?:[\w'’]+ ){0,4}(?:rights?|constitution\w*|"
    r"amendment|due process|clause|privilege)|(?:constitute[sd]?|amount(?:s|ed)? to) (?:an? "
    r")?(?:\w+ )?(?:abuse|error|violation|denial|waiver|breach)|lack(?:s|ed) (?:[\w-]+ "
    r"){0,2}(?:jurisdiction|probable cause|suspicion|standing|authority|merit)|there (?:is|are) "
    r"(?:no|nothing|ample|substantial|sufficient|insufficient)\b(?! dispute| question)|there "
    r"(?:was|were) (?:\w+ ){0,2}(?:evidence|basis|error|authority|reason)\b|(?:evidence|record|"
    r"facts?|law|findings?|precedents?|authorit(?:y|ies)|language|history) (?:\w+ )?support(?:s|"
    r"ed)|(?:argument|claim|contention|challenge)s? (?:\w+ )?(?:fails?|has no|have no)|"
    r"(?:requires?|required|warrants?|warranted) a new trial|there (?:seems?|appears?|can) (?:to "
    r")?be (?:no|little) (?:doubt|question)|err(?:ed|s)\b|did not err\b|abused (?:its|his|her|"
    r"their) discretion)",
    re.IGNORECASE,
)  # fmt: skip
_PRESUPPOSES = re.compile(
    r"\b(?:the|this|that|such|an?|after|of|by)"
    r" (?:(?:im)?permissible|improper|erroneous|mistaken|misleading) \w+",
    re.IGNORECASE,
)
_JUDGES_AN_ARGUMENT = re.compile(
    r"\b(?:assertion|argument|contention|claim|theory|position|complaint|"
    r"challenge)s?\b[^.;,]*\b(?:is|are|was|were) (?:not )?(?:an? (?:factual|legal|question|"
    r"matter)|without merit|(?:un)?persuasive|unavailing|misplaced|mistaken|(?:in)?correct|well[- "
    r"]taken|meritless|unpreserved)\b",
    re.IGNORECASE,
)
_PRESENT_TENSE = (
    r"(?:is|are|has|have|does|do|cannot|can|may|must|shall|should|will|need not|remains? (?:in|an?|"
    r"the|un\w+)|requires|appl(?:y|ies)|precludes|bars|allows|permits|governs|depends?|means)"
)
_CONCEDES = re.compile(
    r"\bcannot (?:now|be heard|complain)\b|\b(?:makes?|raises?|has|have) (?:an? )?(?:important|"
    r"valid|good|fair|persuasive|compelling|strong|serious|close|legitimate) (?:points?|arguments?|"
    r"questions?|case|concerns?)\b|\b(?:extensive|thoughtful|thorough|careful|comprehensive|well[- "
    r"]reasoned|conscientious)(?:,? (?:and )?\w+)? (?:explanation|analysis|opinion|findings|"
    r"consideration|review|reasoning)\b|^\W*(?:Since|Because|Given|As)\b[^;]*\bcourt (?:was|is) "
    r"(?:required|obligated|obliged|bound|correct) to\b|\bthat is (?:not )?(?:the case|so|true|"
    r"correct)\b|\bin no way\b|\b(?:has|have) (?:\w+ )?(?:ignored|overlooked|misread|misconstrued|"
    r"mistaken|confused)\b|\bread[^.;]{0,60} too (?:broadly|narrowly)\b|\bnot (?:been )?(?:raised|"
    r"argued|made|presented)\b|\b(?:findings|facts|evidence) (?:\w+ )?(?:meets?|met|satisf\w+) "
    r"the\b|\bnot sufficient to (?:justify|warrant|support|establish)\b|^\W*(?:Unlike|In neither|"
    r"(?:By|In) contrast)\b"
)
_SPEAKS_OF_LAW = re.compile(
    rf"\b(?:{_PRESENT_TENSE}|states?|provides?|imposes?|establish(?:es)?|reveals?|supports?|shows?|"
    r"restates?|creates?|pertains?|deals?|contemplates?|authorizes?|prohibits?|protects?|gives?|"
    r"limits?|defines?|directs?|embod(?:y|ies)|waives?|bears?|reflects?|follows?|turns?)\b"
)
_PAST_TENSE = re.compile(
    r"\b(?:was|were|had|did|could|would|\w+ed that|sought|declared|failed|began|took|gave|made|"
    r"told|said|went|came|held|refused|moved|found|denied|granted|decided|agreed|acknowledged|"
    r"noted|ruled|concluded|ordered|offered|entered|filed|indicated|requested|received)\b"
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
    r"^\W*(?:(?:Under|In|Pursuant to) )?(?:[Tt]he |[Tt]hat |NMSA |NMRA )?(?:[\w'’-]+ "
    r"){0,3}?(?:statutes?|[Ss]ections?|[Ss]ubsections?|[Rr]ules?|Act|policy|contract|agreement|"
    r"clause|decree|order|ordinance|regulations?|instruction|handbook|lease|deed|will|UJI|§+|"
    r"affidavit|warrant|letter|complaint|report|form|memorandum)\b[^;]{0,60}?(?<!ly "
    r")\b(?:provides?|requires?|states?|reads?|allows?|permits?|defines?|directs?|authorizes?|"
    r"prohibits?)\b"
)
_LEGAL_WORDS = (COMMON_WORDS - ROLE_WORDS) | STATE_WORDS
_STARTS_WITH_ROLE = re.compile(rf"\W*(?:{'|'.join(sorted(ROLES))})s?\b", re.IGNORECASE)
_STATES_LAW = re.compile(
    r"(?<!['’])\b(?:cannot|can(?! be seen)|may(?! have)|must|shall|should|need not|ought)\b"
)
_INFERENCE_OPENING = re.compile(
    r"^\W*(?:As a (?:consequence|result)|Consequently|Therefore|Thus|Accordingly|Hence|Clearly|"
    r"Obviously|Moreover|Furthermore|Further|Otherwise|Indeed|In (?:fact|sum|short)|Nevertheless|"
    r"Nonetheless|Rather|Instead)\b"
)
_ASSERTS = re.compile(rf"\b{_PRESENT_TENSE}\b")
_CONCLUSION_IN_PAST = re.compile(
    r"\b(?:waived|abandoned|had (?:no |the |an? )?(?:\w+ )?(?:jurisdiction|authority|standing|"
    r"right|discretion|duty)|was (?:not )?(?:required|obligated|bound|authorized|free|permitted) "
    r"to|acted within|complied with|satisfied|met (?:its|his|her|their|the) burden|could (?:not "
    r")?(?:have )?(?:rely|bring|recover|consider|reasonably))\b",
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
    r"es|ing)|complain\w*|challeng\w+|questions?|whether|issues?|found|finding|finds|ruled|ruling|"
    r"conclud\w+|held|holding|determin\w+|stat(?:ed|es|ing)|reason(?:ed|ing)|testif\w+|told|said|"
    r"says|believ\w+|according to|decided|decision|agreed|order(?:ed|ing)|explain\w+|opin\w+|"
    r"noted|respond\w*|request\w*|stipulat\w+|admit\w+|conced\w+|averr\w+|theory|indicat\w+|"
    r"inform\w+|report(?:s|ed)|granted|denied|denying|dismiss(?:ed|ing)|refus\w+|overruled|"
    r"sustained|instructed|advis\w+|notif\w+|warn\w+|object\w+|thought|knew|learned|acknowledg\w+|"
    r"view|grounds?|convicted|announced|suggest\w+|represent(?:s|ed)|upheld|upholding|denies|"
    r"protest\w*|recommend\w*)\b",
    re.IGNORECASE,
)
_ATTRIBUTED_TO_PARTY = re.compile(
    r"\b(?:argu\w+|contend\w*|assert\w*|claim\w*|alleg\w+|maintain\w*|submit\w*|urg\w+|"
    r"complain\w*|challeng\w+)\b",
    re.IGNORECASE,
)
_CITES_PROVISION = re.compile(
    r"\b(?:provid\w+|requir\w+|reads?|specif\w+|defin\w+|statutes?|sections?|subsections?|rules?|"
    r"[Aa]ct|policy|contract|agreement|clause|decree|orders?|ordinance|regulations?|handbook|lease|"
    r"deed|instructions?|will|I)\b|§"
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
