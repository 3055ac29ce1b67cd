"""Whether a sentence tells the outcome of the appeal, or gives it away: the court decides, speaks,
evaluates or states the law in its own voice.

The facts of a case are told in the past tense, and its arguments are somebody's. So a sentence in
which no person argues or rules, and that says what is valid, sufficient or required, is the court's
own, and leads to what it decides.
"""

import re

from moot.studies.appellate.deidentify.lexicon import plain
from moot.studies.appellate.deidentify.vocabulary import COMMON, ROLE_WORDS, ROLES, STATE_WORDS
from moot.studies.appellate.legal.dispositions import find_dispositions, mask

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
    r" court)\b[^.;]{0,60}?\b(?:hold|conclude|agree|disagree|reject|find|determine|decide|decline|adopt|"
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
_BE = (
    r"(?:is|are|was|were|be|been|remains?|remained|became|becomes?|seems?|appears?)"
    r"(?: (?:not|also|thus|therefore|only|neither|\w+ly))*"
)
_EVALUATES = re.compile(
    rf"\b(?:{_BE} (?:void|voidable|valid|invalid|improper|proper|barred|precluded|pre-?empted|entitled to|meritless|"
    r"(?:un)?constitutional|(?:un)?enforceable|(?:in)?sufficient|untimely|moot|premature|(?:in)?admissible|prejudic\w+|"
    r"harmless|(?:in)?appropriate|(?:im)?permissible|unlawful|illegal|immune|inapplicable|controlling|dispositive|"
    r"arbitrary|capricious|discriminatory|unconscionable|confiscatory|(?:based on|supported by) substantial|"
    r"viable|actionable|(?:un)?justified|(?:un)?reasonable|unsupported|supported by|defective|deficient|ineffective|"
    r"unfounded|groundless|(?:in)?correct|irrelevant|jurisdictional|erroneous|error|harmless|well[- ]taken|"
    r"(?:un)?persuasive|without merit|in (?:full force|error|conflict with)|"
    r"an? (?:factual |legal |mixed )?question (?:of|to be)|an? abuse of|fatal|misplaced|unavailing)\b"
    r"|(?:un(?:fairly|duly|lawfully|reasonably|constitutionally)) \w+(?:ed|en)"
    r"|(?:properly|correctly|rightly|improperly|impermissibly|illegally|erroneously|incorrectly|wrongly|prematurely|"
    r"validly) \w+(?:ed|en)"
    r"|(?:did|does|do) not (?:\w+ly )?(?:establish|prove|demonstrate|constitute|entitle|violate|deprive|prejudice|"
    r"warrant|justify|mandate|amount|preclude|bar)"
    r"|fail(?:s|ed)? to (?:establish|prove|show(?! up)|demonstrate|meet|satisfy|comply|state)"
    r"|(?:violat\w+|infring\w+) (?:[\w'’]+ ){0,4}(?:rights?|constitution\w*|amendment|due process|clause|privilege)"
    r"|(?:constitute[sd]?|amount(?:s|ed)? to) (?:an? )?(?:\w+ )?(?:abuse|error|violation|denial|waiver|breach)"
    r"|lack(?:s|ed) (?:[\w-]+ ){0,2}(?:jurisdiction|probable cause|suspicion|standing|authority|merit)"
    r"|there (?:is|are) (?:no|nothing|ample|substantial|sufficient|insufficient)\b(?! dispute| question)"
    r"|there (?:was|were) (?:\w+ ){0,2}(?:evidence|basis|error|authority|reason)\b"
    r"|(?:evidence|record|facts?|law|findings?|precedents?|authorit(?:y|ies)|language|history) (?:\w+ )?support(?:s|ed)"
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
    r"\b(?:assertion|argument|contention|claim|theory|position|complaint|challenge)s?\b[^.;,]*\b(?:is|are|was|were) "
    r"(?:not )?(?:an? (?:factual|legal|question|matter)|without"
    r" merit|(?:un)?persuasive|unavailing|misplaced|mistaken|"
    r"(?:in)?correct|well[- ]taken|meritless|unpreserved)\b",
    re.IGNORECASE,
)
_PRESENT = (
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
    r"^\W*(?:Unlike|In neither|(?:By|In) contrast)\b"
)
_SPEAKS_OF_LAW = re.compile(
    rf"\b(?:{_PRESENT}|states?|provides?|imposes?|establish(?:es)?|reveals?|supports?|shows?|"
    r"restates?|creates?|pertains?|deals?|contemplates?|authorizes?|prohibits?|protects?|gives?|limits?|defines?|"
    r"directs?|embod(?:y|ies)|waives?|bears?|reflects?|follows?|turns?)\b"
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|could|would|\w+ed"
    r" that|sought|declared|failed|began|took|gave|made|told|said|went|came|"
    r"held|refused|moved|found|denied|granted|decided|agreed|acknowledged|noted|ruled|concluded|ordered|offered|entered|"
    r"filed|indicated|requested|received)\b"
)
_ARGUED = re.compile(
    r"\b(?:argues?|contends?|asserts?|claims?"
    r" (?:that|to)|alleges?|maintains?|urges?|submits?|challenges?|according to|"
    r"explains?|responds?|concedes?|notes?|points out|questions?|whether|issues?)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:he|she|they|him|his|her|hers|their|them|I|my)\b", re.IGNORECASE)
_PROVIDES = re.compile(
    r"^\W*(?:(?:Under|In|Pursuant to) )?(?:[Tt]he |[Tt]hat |NMSA |NMRA )?(?:[\w'’-]+"
    r" ){0,3}?(?:statutes?|[Ss]ections?|"
    r"[Ss]ubsections?|[Rr]ules?|Act|policy|contract|agreement|clause|decree|order|ordinance|regulations?|instruction|"
    r"handbook|lease|deed|will|UJI|§+|affidavit|warrant|letter|complaint|report|form|memorandum)\b[^;]{0,60}?(?<!ly )"
    r"\b(?:provides?|requires?|states?|reads?|allows?|permits?|defines?|directs?|authorizes?|prohibits?)\b"
)
_LEGAL = (COMMON - ROLE_WORDS) | STATE_WORDS
_OPENED_BY_ROLE = re.compile(rf"\W*(?:{'|'.join(ROLES)})s?\b", re.IGNORECASE)
_STATES_LAW = re.compile(
    r"(?<!['’])\b(?:cannot|can(?! be seen)|may(?! have)|must|shall|should|need not|ought)\b"
)
_FOLLOWS = re.compile(
    r"^\W*(?:As a"
    r" (?:consequence|result)|Consequently|Therefore|Thus|Accordingly|Hence|Clearly|Obviously|Moreover|"
    r"Furthermore|Further|Otherwise|Indeed|In"
    r" (?:fact|sum|short)|Nevertheless|Nonetheless|Rather|Instead)\b"
)
_ASSERTS = re.compile(rf"\b{_PRESENT}\b")
_CONCLUDED = re.compile(
    r"\b(?:waived|abandoned|had (?:no |the |an? )?(?:\w+"
    r" )?(?:jurisdiction|authority|standing|right|discretion|duty)|"
    r"was (?:not )?(?:required|obligated|bound|authorized|free|permitted) to|acted within|complied"
    r" with|satisfied|"
    r"met (?:its|his|her|their|the) burden|could (?:not )?(?:have"
    r" )?(?:rely|bring|recover|consider|reasonably))\b",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"\b(?:appeals?|cross-appeals?|seeks?|asks?|presents?|involves?|concerns?|arises?|raises?|addresses|undisputed|"
    r"(?:is|are) (?:an? |the )?(?:\w+ )?(?:appeal|case|action|suit|issue|question)s?)\b",
    re.IGNORECASE,
)
_SAID_BY_SOMEBODY = re.compile(
    r"\b(?:argu\w+|contend\w*|assert\w*|claim\w*|alleg\w+|maintain\w*|submit\w*|urg\w+|mov(?:ed|es|ing)|complain\w*|"
    r"challeng\w+|questions?|whether|issues?|found|finding|finds|ruled|ruling|conclud\w+|held|holding|determin\w+|"
    r"stat(?:ed|es|ing)|reason(?:ed|ing)|testif\w+|told|said|says|believ\w+|according"
    r" to|decided|decision|agreed|"
    r"order(?:ed|ing)|explain\w+|opin\w+|noted|respond\w*|request\w*|stipulat\w+|admit\w+|conced\w+|averr\w+|theory|"
    r"indicat\w+|inform\w+|report(?:s|ed)|granted|denied|denying|dismiss(?:ed|ing)|refus\w+|overruled|sustained|"
    r"instructed|advis\w+|notif\w+|warn\w+|object\w+|thought|knew|learned|acknowledg\w+|view|grounds?|convicted|"
    r"announced|suggest\w+|represent(?:s|ed)|upheld|upholding|denies|protest\w*|recommend\w*)\b",
    re.IGNORECASE,
)
_SAID_BY_A_PARTY = re.compile(
    r"\b(?:argu\w+|contend\w*|assert\w*|claim\w*|alleg\w+|maintain\w*|submit\w*|urg\w+|complain\w*|challeng\w+)\b",
    re.IGNORECASE,
)
_SAYS_WHAT_IT_PROVIDES = re.compile(
    r"\b(?:provid\w+|requir\w+|reads?|specif\w+|defin\w+|statutes?|sections?|subsections?|rules?|[Aa]ct|policy|contract|"
    r"agreement|clause|decree|orders?|ordinance|regulations?|handbook|lease|deed|instructions?|will|I)\b|§"
)


def tells_outcome(sentence: str) -> bool:
    """Whether a sentence says how the appeal is decided, or has the court speak on its way there.

    In the facts of a case the court that decides has nothing to say in its own person, so every
    sentence in which it does ("we", "this Court") is taken for one that may tell, and so is one
    that evaluates or states the law where no other person is said to do so.
    """
    masked = mask(sentence)
    quotes_alone = not re.search(r"[A-Za-z]{2}", masked)  # a quotation without a speaker
    if quotes_alone and _COURT_REVIEWS.search(sentence):
        return True
    if find_dispositions(sentence) or _COURT_SPEAKS.search(masked) or _APPLIES_LAW.match(masked):
        return True
    if _OWN_DECISION.search(masked) or _CONCEDES.search(masked):
        return True
    if quotes_alone:
        masked = sentence
    return (
        _unattributed(_CONCLUDES, masked)
        or _unattributed(_EVALUATES, masked)
        or _unattributed(_JUDGES_AN_ARGUMENT, masked)
        or (_FOLLOWS.match(masked) is not None and _unattributed(_ASSERTS, masked))
        or _unattributed(_PRESUPPOSES, masked, _SAID_BY_A_PARTY)
        or (_unattributed(_STATES_LAW, masked) and not _SAYS_WHAT_IT_PROVIDES.search(masked))
    )


def announces_holding(sentence: str) -> bool:
    """Whether the court says in its own person what it holds: what follows in the paragraph
    explains it.
    """
    return bool(find_dispositions(sentence) or _HOLDS.search(mask(sentence)))


def asserts(sentence: str) -> bool:
    """Whether a sentence asserts, unattributed, what is so or what somebody was bound or free to
    do, and tells no procedure.

    An introduction says who appeals what and why; all else that it asserts comes from the
    conclusion, and so does what explains a holding.
    """
    masked = mask(sentence)
    asserted = _unattributed(_ASSERTS, masked) or _unattributed(_CONCLUDED, masked)
    return asserted and not _PROCEDURE.search(masked)


def generalises(sentence: str) -> bool:
    """Whether a sentence says in the present tense, unattributed, what is so, and tells of no
    person and nothing past.

        Facts are told in the past tense and of somebody. Such a sentence is the court's reading of
        the law; what a statute or a contract provides is none, as long as it is told without a word
        of how it is meant.
    """
    masked = mask(sentence)
    if (
        not _unattributed(_SPEAKS_OF_LAW, masked, _ARGUED)
        or _PAST.search(masked)
        or _PERSONAL.search(masked)
    ):
        return False
    capitals = (
        match
        for match in re.finditer(r"[A-Z][\w'’-]+", masked)
        if masked[: match.start()].strip(' "“(‘')
    )
    somebody = any(plain(match[0]) not in _LEGAL for match in capitals) or _OPENED_BY_ROLE.match(
        masked
    )
    return not (somebody or _PROVIDES.match(masked) or _PROCEDURE.search(masked))


def _unattributed(
    pattern: re.Pattern[str], masked: str, said: re.Pattern[str] = _SAID_BY_SOMEBODY
) -> bool:
    """Whether something is said that no party, witness or other court is reported to say."""
    found = pattern.search(masked)
    return found is not None and not said.search(masked[: found.start()])
