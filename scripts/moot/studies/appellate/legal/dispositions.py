"""Find what a sentence does to the decision under review, and whose act it is.

"We affirm" decides. "The Court of Appeals affirmed", "Defendant asks us to reverse", "if we were to
vacate", "remand with instructions to affirm" and a quotation do not. The form of each disposition
verb determines what to look for around it (a subject, an auxiliary, a governing verb). The first
rule of that form that applies decides.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from moot.studies.appellate.legal import patterns as p
from moot.studies.appellate.legal.sentences import Sentence, split_sentences

Reading = Literal["own", "negated", "other"]
# The longest sentence without a finite verb ("Order reversed, on the law.").
FRAGMENT_WORDS = 14
SHORT_QUOTATION_WORDS = 3


@dataclass(frozen=True, slots=True)
class Disposition:
    """One disposition in a text.

    Attributes:
        name: "affirm", "reverse", "vacate", "remand", "dismiss" or "not affirm".
        is_explicit: whether the speaker names the remedy; otherwise it is implied.
        is_in_part: whether it concerns a part of the decision only.
        start: the offset of the sentence that shows it.
        end: the offset behind that sentence.
        is_provisional: whether it is an earlier position ("initially I would have affirmed").
    """

    name: str
    is_explicit: bool
    is_in_part: bool
    start: int
    end: int
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class _Verb:
    """A disposition verb with the text of its sentence before and behind it."""

    name: str
    text: str
    preceding_text: str
    following_text: str

    @property
    def word(self) -> str:
        return self.text.lower().split()[0]

    def follows(self, pattern: str) -> bool:
        """Return whether the verb directly follows a pattern."""
        return bool(re.search(rf"(?:{pattern})\s*$", self.preceding_text, re.IGNORECASE))

    def comes_after(self, pattern: str) -> bool:
        """Return whether a pattern occurs anywhere before the verb."""
        return bool(re.search(pattern, self.preceding_text, re.IGNORECASE))

    def precedes(self, pattern: str) -> bool:
        """Return whether the verb directly precedes a pattern."""
        return bool(re.match(pattern, self.following_text, re.IGNORECASE))


def mask_quotations(text: str) -> str:
    """Replace quotations and parentheses by blanks. Offsets stay.

    Short quotations without a speaker ("AFFIRM") stay, since votes are often in quotation marks.
    """

    def blank(match: re.Match[str]) -> str:
        return " " * len(match[0])

    def blank_quotation(match: re.Match[str]) -> str:
        has_speaker = re.search(r"\b(?:we|I)\b", match[1], re.IGNORECASE)
        is_long = len(match[1].split()) > SHORT_QUOTATION_WORDS
        return blank(match) if has_speaker or is_long else match[0]

    masked_text = p.QUOTE.sub(blank_quotation, text.replace("’", "'"))
    for _ in range(2):
        masked_text = p.PARENTHESIS.sub(blank, masked_text)
    return masked_text


def _dismisses_appeal(verb: _Verb) -> bool:
    """Return whether "dismiss" is about the appeal, which precedes or follows it."""
    if not re.search(r"\w", verb.preceding_text):
        return verb.text[0].isupper()
    if verb.precedes(rf"(?:\s+[\w',-]+){{0,4}}?\s+{p.APPEAL}\b"):
        return True
    is_passive = verb.follows(
        rf"\b{p.APPEAL}\b[^.;]{{0,60}}\b(?:is|are|be|must be|should be)(?:\s+\w+)?|\b{p.APPEAL}"
    )
    if is_passive:
        return True
    lacks_jurisdiction = verb.precedes(r"\s+for (?:lack|want) of (?:appellate )?jurisdiction")
    if lacks_jurisdiction and verb.follows(r"\b(?:case|cause|matter) is"):
        return True
    is_bare = verb.precedes(
        r"\s*(?:[.,;]|as (?:premature|moot|untimely)|for (?:lack|want)|without prejudice|$)"
    )
    conclusion_pattern = (
        rf"{p.SPEAKER}(?:\s+\w+){{0,3}}|\b(?:appeal|jurisdiction|untimely)\b.*\band(?: \w+ly)?"
    )
    return is_bare and verb.follows(conclusion_pattern)


def _concerns_decision(verb: _Verb) -> bool:
    """Return whether the verb is about a decision.

    Objections are sustained and charges dismissed, too.
    """
    if verb.name == "dismiss":
        return _dismisses_appeal(verb)
    if verb.word.startswith(("sustain", "uph", "set", "overturn", "annul", "quash", "remit")):
        has_object = verb.precedes(rf"[^.;,]{{0,90}}?\b{p.DECISION}\b")
        return has_object or verb.comes_after(rf"\b{p.DECISION}\b[^.;]{{0,120}}$")
    if verb.name == "vacate":
        return not verb.precedes(r"\s+(?:the panel|our (?:prior|earlier|previous|panel))\b")
    if verb.name == "remand":
        return not verb.follows(
            r"\b(?:on|upon|after|following|before|since|prior to|the|any|our|this)"
        )
    if verb.name == "affirm":
        return not verb.precedes(r"\s+that (?:the|a|an|it|he|she|we|I)\b")
    return not verb.precedes(r"(?:d|s)? (?:course|discrimination|itself|order of|side|the burden)")


def _is_attributed(verb: _Verb) -> bool:
    """Return whether a party or another judge says it, and the speaker has not taken over since."""
    clause = re.split(p.SPEAKER_TAKES_OVER, verb.preceding_text, flags=re.IGNORECASE)[-1]
    return bool(p.ATTRIBUTION.search(clause) or p.REQUESTED_OF_COURT.search(clause))


def _is_hypothetical(verb: _Verb) -> bool:
    """Return whether the verb depends on a condition ("if we were to vacate")."""
    clause_start = (
        r"(?i)[;:]|, (?:we|i)\b|\b(?:but|because|since|that|and therefore|therefore) (?=we\b|i\b)"
    )
    clause = re.split(clause_start, verb.preceding_text)[-1]
    is_conditional = verb.follows(r"\bwould(?: \w+ly)?")
    if is_conditional and verb.comes_after(r"\b(?:if|had (?:the|it|he|she|they|we))\b"):
        return True
    has_main_clause = re.search(r"\bthen\b|, (?=we |i )", clause, re.IGNORECASE)
    if p.HYPOTHETICAL.search(clause) and not has_main_clause:
        return True
    has_modal = verb.comes_after(r"\b(?:will|must|would|shall|should)\b[^,;]{0,20}$")
    return has_modal and p.CONDITION_AFTER.search(verb.following_text[:160]) is not None


def _is_instruction(verb: _Verb) -> bool:
    """Return whether the court below is told to do it, on remand."""
    if verb.name == "remand" or not p.INSTRUCTION.search(verb.preceding_text):
        return False
    speaker_resumes = verb.comes_after(rf"(?:\b(?:and|but)\b|[,;])\s*{p.SPEAKER}[^.;]*$")
    if speaker_resumes:
        return False
    return verb.comes_after(r"\b(?:with|instruct\w*|direct\w*|to|that)\b[^.;]*$")


def _read_infinitive(verb: _Verb) -> Reading:
    """Read an infinitive by the words that govern it."""
    if p.NEGATION.search(verb.preceding_text):
        return "negated"
    if p.SPEAKER_INFINITIVE.search(verb.preceding_text):
        return "own"
    return "own" if p.APPROPRIATE.search(verb.preceding_text) else "other"


def _find_coordinated_infinitive(verb: _Verb) -> re.Match[str] | None:
    """Find the first of two infinitives ("to reverse the order and remand") before the second."""
    resumption_pattern = (
        rf"{p.SPEAKER}{p.ADVERB}\s*(?:and)?(?: \w+ly)?|\band (?:thus|therefore|hereby|accordingly)"
    )
    if verb.follows(resumption_pattern):
        return None
    if not verb.follows(r"\bto\b(?: \w+ly)? \w+[^.;]{0,60}\b(?:and|or)(?: \w+ly)?"):
        return None
    match = p.DISPOSITION_VERB.search(verb.preceding_text)
    if match is None:
        return None
    text_before_match = verb.preceding_text[: match.start()]
    is_infinitive = re.search(r"\bto(?: \w+ly)?\s*$", text_before_match, re.IGNORECASE)
    return match if is_infinitive else None


def _read_base(verb: _Verb) -> Reading:
    """Read the base form.

    An infinitive is decided by its governing verb, a finite verb by its subject. A bare order is
    the speaker's own.
    """
    if verb.follows(r"\bto(?: \w+ly)?"):
        return _read_infinitive(verb)
    if match := _find_coordinated_infinitive(verb):
        text_before_match = verb.preceding_text[: match.start()]
        return _read_infinitive(_Verb(verb.name, verb.text, text_before_match, verb.following_text))
    if p.BENCH_SHOULD.search(verb.preceding_text):
        is_doubted = verb.comes_after(
            r"\b(?:not|disagree\w*|cannot)\b[^.;]{0,60}\bthat\b[^.;]{0,40}$"
        )
        return "negated" if is_doubted else "own"
    return _apply_rules(_BASE_RULES, verb)


def _is_bare_vote(verb: _Verb) -> bool:
    """Return whether the verb stands alone, or follows a word such as "vote" or "decision"."""
    noun_pattern = (
        r"\b(?:decision|votes?|verdict|position|stance|conclusion|judgment|ruling|is|"
        r"therefore)\b\W*"
    )
    announcement_pattern = r"\b(?:my|our|vote|position|decision)\b[^.;]*:\s*(?:\w+ and )?"
    if not verb.preceding_text.strip(" \t*_#\"'“:-–—."):
        return True
    return verb.follows(f"{noun_pattern}|{announcement_pattern}")


def _read_fragment(verb: _Verb) -> Reading:
    """Read a fragment ("Judgment affirmed."): a participle without another verb or an actor."""
    is_ruling = verb.follows(rf"^\W*(?:the )?{p.RULING}(?: (?:of|for) [\w' ]{{1,60}})?")
    if is_ruling and not verb.follows(r"\bcourt"):
        return "own"
    if _has_actor(verb):
        return "other"
    words = re.findall(r"\w+", verb.preceding_text)
    if words and re.search(r"\b(?:by|that|which|a|an)\b", verb.following_text[:40]):
        return "other"
    return "other" if len(words) > FRAGMENT_WORDS else "own"


def _has_actor(verb: _Verb) -> bool:
    """Return whether a court, a party or a pronoun before the verb may be its subject."""
    if verb.follows(rf"\b(?:{p.OTHER_JUDGE_OR_COURT}|{p.PARTY}|which|who|that)\b{p.ADVERB}"):
        return True
    return verb.comes_after(r"\b(?:we|i|he|she|they)\b")


def _read_participle(verb: _Verb) -> Reading:
    """Read a participle: a passive in the present, a fragment, or a past act of another court."""
    if verb.precedes(r"(?:\s+\w+)?\s+by (?:the|a|an|that|both)\b"):
        return "other"
    auxiliaries = list(p.AUXILIARY.finditer(verb.preceding_text))
    if not auxiliaries:
        return _read_fragment(verb)
    auxiliary = auxiliaries[-1]
    text_before_auxiliary = verb.preceding_text[: auxiliary.start()]
    text_after_auxiliary = verb.preceding_text[auxiliary.end() :]
    has_other_actor = re.search(
        rf"\b(?:{p.OTHER_JUDGE_OR_COURT})\b{p.ADVERB}\s*$", text_after_auxiliary, re.IGNORECASE
    )
    if has_other_actor:
        return "other"
    if auxiliary[1].lower() == "be":
        return _read_modal_passive(text_before_auxiliary)
    if auxiliary[1].lower() in ("was", "were", "been", "being", "has", "have", "had"):
        return "other"
    return "negated" if re.search(r"\bnot\b", text_after_auxiliary) else "own"


def _read_modal_passive(preceding_text: str) -> Reading:
    """Read the passive "be affirmed" by its modal: "should" decides, "could" does not."""
    negation_pattern = r"\b(?:can|could|should|must|need|may|shall)(?:not|n't| not)\b[^,;]{0,20}$"
    if re.search(negation_pattern, preceding_text, re.IGNORECASE):
        return "negated"
    possibility_pattern = r"\b(?:can|could|may|might|would)\b[^,;]{0,25}$"
    if re.search(possibility_pattern, preceding_text, re.IGNORECASE):
        return "other"
    decision_pattern = (
        r"\b(?:should|must|shall|will|ought to|is to|are to|deserves? to|needs?"
        r" to|that)\b[^;]{0,80}$"
    )
    return "own" if re.search(decision_pattern, preceding_text, re.IGNORECASE) else "other"


def _read_gerund(verb: _Verb) -> Reading:
    """Read a gerund.

    It is the speaker's own after a leaning or a comma, or at the head of "affirming in part, we".
    """
    if p.ADJACENT_NEGATION.search(verb.preceding_text):
        return "negated"
    if verb.follows(r"\b(?:against|oppos\w+)"):
        return "negated"
    if not verb.preceding_text.strip():
        return "own" if re.search(p.SPEAKER, verb.following_text, re.IGNORECASE) else "other"
    has_governing_noun = verb.follows(
        r"\b(?:in|by|before|after|without|from|for|of|on|orders?|opinion|court|judgment|decision)"
    )
    leaning = p.LEANING if has_governing_noun else p.CURRENT_LEANING
    return "own" if leaning.search(verb.preceding_text) else "other"


def _read_noun(verb: _Verb) -> Reading:
    """Read a noun: demanded, voted for, or not required."""
    if verb.precedes(r"\s+(?:of [^.;]{0,60} )?by (?:the|that)\b"):
        return "other"
    is_denied = verb.precedes(r"\s+(?:is|would|are)(?: be)? not\b")
    if is_denied or p.NEGATION.search(verb.preceding_text):
        undoes_decision = verb.word.startswith(("revers", "vacat"))
        has_without = "without" in verb.preceding_text[-30:]
        return "negated" if undoes_decision and not has_without else "other"
    if p.REMEDY_REQUIRED.match(verb.following_text):
        return "own"
    if p.REQUIRES_REMEDY.search(verb.preceding_text):
        return "own"
    return "own" if p.SPEAKER_NOUN.search(verb.preceding_text) else "other"


def _is_participle(verb: _Verb) -> bool:
    if verb.word.endswith(("ed", "held", "sent")):
        return True
    passive_pattern = (
        r"\b(?:is|are|be|was|were|been)(?: \w+)?|\b(?:conviction|verdict|judgment|sentence|order)s?"
    )
    return verb.word == "set" and verb.follows(passive_pattern)


_Rules = tuple[tuple[Callable[[_Verb], bool], Reading | Callable[[_Verb], Reading]], ...]
_BASE_RULES: _Rules = (
    (lambda verb: verb.follows(r"\b(?:can|could|may|might)(?: \w+ly)?"), "other"),
    (lambda verb: bool(p.ADJACENT_NEGATION.search(verb.preceding_text)), "negated"),
    (lambda verb: verb.follows(rf"\b(?:{p.OTHER_JUDGE_OR_COURT}|{p.PARTY})\b{p.ADVERB}"), "other"),
    (_is_bare_vote, "own"),
    (lambda verb: verb.comes_after(p.SPEAKER), "own"),
    (lambda verb: verb.text.isupper() and verb.comes_after(r"\b(?:my|our)\b"), "own"),
)
_RULES: _Rules = (
    (_is_attributed, "other"),
    (_is_hypothetical, "other"),
    (_is_instruction, "other"),
    (lambda verb: verb.word.endswith(("al", "als", "ance", "ances", "ur")), _read_noun),
    (lambda verb: verb.word.endswith("ing"), _read_gerund),
    (_is_participle, _read_participle),
    (lambda _: True, _read_base),
)


def _apply_rules(rules: _Rules, verb: _Verb) -> Reading:
    for applies, reading in rules:
        if applies(verb):
            return reading(verb) if callable(reading) else reading
    return "other"


def _read_verb(match: re.Match[str], masked_sentence: str) -> tuple[str, bool] | None:
    """Return the disposition, and whether it is explicit.

    Return None if the disposition is not the speaker's own.
    """
    verb = _Verb(
        str(match.lastgroup),
        match[0],
        masked_sentence[: match.start()],
        masked_sentence[match.end() :],
    )
    if not _concerns_decision(verb):
        return None
    reading = _apply_rules(_RULES, verb)
    if reading == "own":
        name = "dismiss" if _concerns_petition(verb) else verb.name
        return name, True
    if reading == "negated" and verb.name in ("affirm", "reverse", "vacate"):
        return "not affirm" if verb.name == "affirm" else "affirm", False
    return None


def _concerns_petition(verb: _Verb) -> bool:
    """Return whether a court undoes its own writ, which dismisses the petition."""
    if verb.name not in ("reverse", "vacate"):
        return False
    context = verb.preceding_text[-120:] + verb.text + verb.following_text[:60]
    return p.PETITION.search(context) is not None


def _find_implied_dispositions(masked_sentence: str) -> Iterator[tuple[str, bool]]:
    """Find the dispositions that a sentence implies without naming the remedy."""
    for name, pattern in (
        ("not affirm", p.IMPLIED_NOT_AFFIRM),
        ("affirm", p.IMPLIED_AFFIRM),
    ):
        match = pattern.search(masked_sentence)
        if match is None or _has_doubt(masked_sentence[: match.start()]):
            continue
        is_disbelieved = p.DISBELIEF.search(masked_sentence[: match.start()])
        yield "not affirm" if name == "affirm" and is_disbelieved else name, False
        break


def _has_doubt(preceding_text: str) -> bool:
    """Return whether a text attributes, requests or supposes what follows it."""
    patterns = (p.ATTRIBUTION, p.REQUESTED_OF_COURT, p.HYPOTHETICAL)
    return any(pattern.search(preceding_text) for pattern in patterns)


def _find_in_sentence(sentence: Sentence, masked_sentence: str) -> Iterator[Disposition]:
    is_in_part = p.PARTIAL.search(masked_sentence) is not None
    is_provisional = p.PROVISIONAL.search(masked_sentence) is not None
    verbs = p.DISPOSITION_VERB.finditer(masked_sentence)
    readings = filter(None, [_read_verb(match, masked_sentence) for match in verbs])
    for name, is_explicit in [*readings, *_find_implied_dispositions(masked_sentence)]:
        yield Disposition(
            name, is_explicit, is_in_part, sentence.start, sentence.end, is_provisional
        )


def find_dispositions(text: str) -> list[Disposition]:
    """Return every disposition that a text takes as its own, in order.

    Questions and quotations decide nothing.
    """
    masked_text = mask_quotations(text)
    dispositions: list[Disposition] = []
    for sentence in split_sentences(text):
        masked_sentence = masked_text[sentence.start : sentence.end]
        if not masked_sentence.rstrip().endswith("?"):
            dispositions += _find_in_sentence(sentence, re.sub(r"\s", " ", masked_sentence))
    return dispositions
