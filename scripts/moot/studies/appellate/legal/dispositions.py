"""What a sentence does to a decision under review, and whose act it is.

"We affirm" decides; "the Court of Appeals affirmed", "Defendant asks us to reverse", "if we were to
vacate", "remand with instructions to affirm" and a quotation do not. Each disposition verb is read
with the words around it: its form says what to look for (a subject, an auxiliary, a governing
verb), and the first rule of that form that fits wins.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from moot.studies.appellate.legal import patterns as p
from moot.studies.appellate.legal.sentences import Sentence, split_sentences

Reading = Literal["own", "negated", "other"]
# a sentence without a verb of its own ("Order reversed, on the law.") is no longer than this
FRAGMENT_WORDS = 14
SHORT_QUOTATION_WORDS = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One disposition found in a text.

    Attributes:
        disposition: affirm, reverse, vacate, remand, dismiss or "not affirm".
        explicit: the remedy is named and is the speaker's own; otherwise it is implied.
        in_part: for a part of the decision only.
        start, end: the sentence that shows it.
        target: the words that say what is affirmed or undone, lower case.
        provisional: said of an earlier stage ("initially I would have affirmed").
    """

    disposition: str
    explicit: bool
    in_part: bool
    start: int
    end: int
    target: str
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class _Verb:
    """A disposition verb, and the sentence left of it and behind it."""

    name: str
    text: str
    left: str
    behind: str

    @property
    def word(self) -> str:
        return self.text.lower().split()[0]

    def after(self, pattern: str) -> bool:
        """Whether a pattern ends right before the verb."""
        return bool(re.search(rf"(?:{pattern})\s*$", self.left, re.IGNORECASE))

    def earlier(self, pattern: str) -> bool:
        """Whether a pattern occurs anywhere left of the verb."""
        return bool(re.search(pattern, self.left, re.IGNORECASE))

    def followed(self, pattern: str) -> bool:
        """Whether a pattern starts right behind the verb."""
        return bool(re.match(pattern, self.behind, re.IGNORECASE))


def mask(text: str) -> str:
    """The text with quotations, parentheses and the history of cited cases blanked; every offset
    stays.

        Short quotations without a speaker ("AFFIRM") stay, since a vote is often put in quotation
        marks.
    """

    def blank(match: re.Match[str]) -> str:
        return " " * len(match[0])

    def blank_quotation(match: re.Match[str]) -> str:
        speaks = re.search(r"\b(?:we|I)\b", match[1], re.IGNORECASE)
        return blank(match) if speaks or len(match[1].split()) > SHORT_QUOTATION_WORDS else match[0]

    masked = p.QUOTE.sub(blank_quotation, text.replace("’", "'"))
    for _ in range(2):
        masked = p.PARENTHESIS.sub(blank, masked)
    return p.CITED_HISTORY.sub(blank, masked)


def _dismisses_appeal(verb: _Verb) -> bool:
    if not re.search(r"\w", verb.left):
        return verb.text[0].isupper()
    bare = verb.followed(
        r"\s*(?:[.,;]|as (?:premature|moot|untimely)|for (?:lack|want)|without prejudice|$)"
    )
    concluding = rf"{p.OWN}(?:\s+\w+){{0,3}}|\b(?:appeal|jurisdiction|untimely)\b.*\band(?: \w+ly)?"
    without_jurisdiction = verb.followed(r"\s+for (?:lack|want) of (?:appellate )?jurisdiction")
    return (
        verb.followed(rf"(?:\s+[\w',-]+){{0,4}}?\s+{p.APPEAL}\b")
        or (without_jurisdiction and verb.after(r"\b(?:case|cause|matter) is"))
        or verb.after(
            rf"\b{p.APPEAL}\b[^.;]{{0,60}}\b(?:is|are|be|must be|should be)(?:\s+\w+)?|\b{p.APPEAL}"
        )
        or (bare and verb.after(concluding))
    )


def _concerns_decision(verb: _Verb) -> bool:
    """Whether the verb is about a decision at all: objections are sustained and charges dismissed,
    too.
    """
    if verb.name == "dismiss":
        return _dismisses_appeal(verb)
    if verb.word.startswith(("sustain", "uph", "set", "overturn", "annul", "quash", "remit")):
        decides = rf"[^.;,]{{0,90}}?\b{p.DECISION}\b"
        return verb.followed(decides) or verb.earlier(rf"\b{p.DECISION}\b[^.;]{{0,120}}$")
    if verb.name == "vacate":
        return not verb.followed(r"\s+(?:the panel|our (?:prior|earlier|previous|panel))\b")
    if verb.name == "remand":
        return not verb.after(
            r"\b(?:on|upon|after|following|before|since|prior to|the|any|our|this)"
        )
    if verb.name == "affirm":
        return not verb.followed(r"\s+that (?:the|a|an|it|he|she|we|I)\b")
    return not verb.followed(r"(?:d|s)? (?:course|discrimination|itself|order of|side|the burden)")


def _reported(verb: _Verb) -> bool:
    """A party or another judge says it, and the speaker has not taken over since."""
    clause = re.split(p.SPEAKER_TAKES_OVER, verb.left, flags=re.IGNORECASE)[-1]
    return bool(p.ATTRIBUTED.search(clause) or p.ASKED.search(clause))


def _supposed(verb: _Verb) -> bool:
    begins = (
        r"(?i)[;:]|, (?:we|i)\b|\b(?:but|because|since|that|and therefore|therefore) (?=we\b|i\b)"
    )
    clause = re.split(begins, verb.left)[-1]
    if verb.after(r"\bwould(?: \w+ly)?") and verb.earlier(
        r"\b(?:if|had (?:the|it|he|she|they|we))\b"
    ):
        return True
    if p.HYPOTHETICAL.search(clause) and not re.search(
        r"\bthen\b|, (?=we |i )", clause, re.IGNORECASE
    ):
        return True
    modal = verb.earlier(r"\b(?:will|must|would|shall|should)\b[^,;]{0,20}$")
    return modal and bool(p.CONDITION_BEHIND.search(verb.behind[:160]))


def _instructed(verb: _Verb) -> bool:
    """The court below is told to do it, on remand."""
    if verb.name == "remand" or not p.INSTRUCTED.search(verb.left):
        return False
    resumed = verb.earlier(rf"(?:\b(?:and|but)\b|[,;])\s*{p.OWN}[^.;]*$")
    return not resumed and verb.earlier(r"\b(?:with|instruct\w*|direct\w*|to|that)\b[^.;]*$")


def _is_general(verb: _Verb) -> bool:
    return bool(p.GENERAL.search(verb.left[-40:])) and not verb.word.endswith(("ed", "ing"))


def _infinitive(verb: _Verb) -> Reading:
    if p.NEGATION.search(verb.left) or p.UNFITTING.search(verb.left):
        return "negated"
    return "own" if p.OWN_INFINITIVE.search(verb.left) or p.FITTING.search(verb.left) else "other"


def _coordinated_infinitive(verb: _Verb) -> re.Match[str] | None:
    """The first of two infinitives ("to reverse the order and remand"), if the verb is the second."""
    resumed = (
        rf"{p.OWN}{p.ADVERB}\s*(?:and)?(?: \w+ly)?|\band (?:thus|therefore|hereby|accordingly)"
    )
    if verb.after(resumed) or not verb.after(
        r"\bto\b(?: \w+ly)? \w+[^.;]{0,60}\b(?:and|or)(?: \w+ly)?"
    ):
        return None
    first = p.HIT.search(verb.left)
    return (
        first
        if first and re.search(r"\bto(?: \w+ly)?\s*$", verb.left[: first.start()], re.IGNORECASE)
        else None
    )


def _read_base(verb: _Verb) -> Reading:
    """The base form: an infinitive by what governs it, a finite verb by its subject, an order
    standing alone.
    """
    if verb.after(r"\bto(?: \w+ly)?"):
        return _infinitive(verb)
    if first := _coordinated_infinitive(verb):
        return _infinitive(_Verb(verb.name, verb.text, verb.left[: first.start()], verb.behind))
    if p.BENCH_SHOULD.search(verb.left):
        doubted = verb.earlier(r"\b(?:not|disagree\w*|cannot)\b[^.;]{0,60}\bthat\b[^.;]{0,40}$")
        return "negated" if doubted else "own"
    return _first(_BASE_RULES, verb)


def _stands_alone(verb: _Verb) -> bool:
    named = r"\b(?:decision|votes?|verdict|position|stance|conclusion|judgment|ruling|is|therefore)\b\W*"
    announced = r"\b(?:my|our|vote|position|decision)\b[^.;]*:\s*(?:\w+ and )?"
    return not verb.left.strip(" \t*_#\"'“:-–—.") or verb.after(f"{named}|{announced}")


def _read_fragment(verb: _Verb) -> Reading:
    """A fragment ("Judgment affirmed."): no verb but the participle, and no subject that could have
    done it.
    """
    if verb.after(rf"^\W*(?:the )?{p.RULING}(?: (?:of|for) [\w' ]{{1,60}})?") and not verb.after(
        r"\bcourt"
    ):
        return "own"
    words = re.findall(r"\w+", verb.left)
    acted = verb.after(rf"\b(?:{p.LOWER}|{p.PARTY}|which|who|that)\b{p.ADVERB}")
    acted = acted or verb.earlier(r"\b(?:we|i|he|she|they)\b")
    continues = re.search(r"\b(?:by|that|which|a|an)\b", verb.behind[:40]) and words
    return "other" if acted or continues or len(words) > FRAGMENT_WORDS else "own"


def _read_past(verb: _Verb) -> Reading:
    """The participle: a passive of now, a fragment, or somebody's past act."""
    if verb.followed(r"(?:\s+\w+)?\s+by (?:the|a|an|that|both)\b"):
        return "other"
    auxiliaries = list(p.AUXILIARY.finditer(verb.left))
    if not auxiliaries:
        return _read_fragment(verb)
    auxiliary = auxiliaries[-1]
    before, between = verb.left[: auxiliary.start()], verb.left[auxiliary.end() :]
    if re.search(rf"\b(?:{p.LOWER})\b{p.ADVERB}\s*$", between, re.IGNORECASE):
        return "other"
    if auxiliary[1].lower() == "be":
        return _read_modal_passive(before)
    if auxiliary[1].lower() in ("was", "were", "been", "being", "has", "have", "had"):
        return "other"
    return "negated" if re.search(r"\bnot\b", between) else "own"


def _read_modal_passive(before: str) -> Reading:
    """The passive "be affirmed", by its modal: "should" decides, "could" does not."""
    if re.search(
        r"\b(?:can|could|should|must|need|may|shall)(?:not|n't| not)\b[^,;]{0,20}$",
        before,
        re.IGNORECASE,
    ):
        return "negated"
    if re.search(r"\b(?:can|could|may|might|would)\b[^,;]{0,25}$", before, re.IGNORECASE):
        return "other"
    decides = (
        r"\b(?:should|must|shall|will|ought to|is to|are to|deserves? to|needs?"
        r" to|that)\b[^;]{0,80}$"
    )
    return "own" if re.search(decides, before, re.IGNORECASE) else "other"


def _read_gerund(verb: _Verb) -> Reading:
    """The gerund: after a leaning or a comma of the speaker's own, or heading "affirming in part,
    we ...".
    """
    if p.NEGATION_NEAR.search(verb.left) or verb.after(r"\b(?:against|oppos\w+)"):
        return "negated"
    if not verb.left.strip():
        return "own" if re.search(p.OWN, verb.behind, re.IGNORECASE) else "other"
    if verb.after(
        r"\b(?:in|by|before|after|without|from|for|of|on|orders?|opinion|court|judgment|decision)"
    ):
        return "own" if p.LEANING.search(verb.left) else "other"
    return "own" if p.LEANS_NOW.search(verb.left) else "other"


def _read_noun(verb: _Verb) -> Reading:
    """The noun: demanded, voted for, or not required."""
    if verb.followed(r"\s+(?:of [^.;]{0,60} )?by (?:the|that)\b"):
        return "other"
    if p.NEGATION.search(verb.left) or verb.followed(r"\s+(?:is|would|are)(?: be)? not\b"):
        undoing = verb.word.startswith(("revers", "vacat")) and "without" not in verb.left[-30:]
        return "negated" if undoing else "other"
    demanded = p.WANTED.match(verb.behind) or p.DEMANDED.search(verb.left)
    return "own" if demanded or p.OWN_NOUN.search(verb.left) else "other"


def _read_third_person(verb: _Verb) -> Reading:
    own = (
        r"\b(?:this (?:court|panel|judge)|the court hereby|the panel|my"
        r" (?:vote|decision))\b[^.;]{0,40}"
    )
    return "own" if verb.after(own) else "other"


def _is_participle(verb: _Verb) -> bool:
    set_aside = (
        r"\b(?:is|are|be|was|were|been)(?: \w+)?|\b(?:conviction|verdict|judgment|sentence|order)s?"
    )
    return verb.word.endswith(("ed", "held", "sent")) or (
        verb.word == "set" and verb.after(set_aside)
    )


_Rules = tuple[tuple[Callable[[_Verb], bool], Reading | Callable[[_Verb], Reading]], ...]
_BASE_RULES: _Rules = (
    (lambda verb: verb.after(r"\b(?:can|could|may|might)(?: \w+ly)?"), "other"),
    (lambda verb: bool(p.NEGATION_NEAR.search(verb.left)), "negated"),
    (lambda verb: verb.after(rf"\b(?:{p.LOWER}|{p.PARTY})\b{p.ADVERB}"), "other"),
    (_stands_alone, "own"),
    (lambda verb: verb.earlier(p.OWN), "own"),
    (lambda verb: verb.text.isupper() and verb.earlier(r"\b(?:my|our)\b"), "own"),
)
_RULES: _Rules = (
    (_reported, "other"),
    (_supposed, "other"),
    (_instructed, "other"),
    (lambda verb: _is_general(verb) and bool(p.CANNOT.search(verb.left[-30:])), "negated"),
    (_is_general, "other"),
    (lambda verb: verb.word.endswith(("al", "als", "ance", "ances", "ur")), _read_noun),
    (lambda verb: verb.word.endswith("ing"), _read_gerund),
    (_is_participle, _read_past),
    (lambda verb: bool(p.THIRD_PERSON.fullmatch(verb.word)), _read_third_person),
    (lambda _: True, _read_base),
)


def _first(rules: _Rules, verb: _Verb) -> Reading:
    for fits, reading in rules:
        if fits(verb):
            return reading(verb) if callable(reading) else reading
    return "other"


def _of_verb(match: re.Match[str], masked: str) -> tuple[str, bool, str] | None:
    """The disposition, whether it is explicit, and its target;
    None if it is unattributed or another's.
    """
    verb = _Verb(str(match.lastgroup), match[0], masked[: match.start()], masked[match.end() :])
    if not _concerns_decision(verb):
        return None
    reading = _first(_RULES, verb)
    if reading == "own":
        around = verb.left[-120:] + verb.text + verb.behind[:60]
        petition = verb.name in ("reverse", "vacate") and p.PETITION.search(around)
        passive = re.split(r",|;|\band\b", verb.left)[-1] if verb.word.endswith("ed") else ""
        return "dismiss" if petition else verb.name, True, (passive + verb.behind)[:300].lower()
    if reading == "negated" and verb.name in ("affirm", "reverse", "vacate"):
        return "not affirm" if verb.name == "affirm" else "affirm", False, ""
    return None


def _implied(masked: str) -> Iterator[tuple[str, bool, str]]:
    """Dispositions that a sentence implies without naming the remedy."""
    if p.ALLOWED.search(masked):
        yield "reverse", True, ""
    if p.NOT_FINAL.search(masked) and not p.HYPOTHETICAL.search(masked):
        yield "dismiss", False, ""
    for disposition, pattern in (
        ("not affirm", p.IMPLIED_NOT_AFFIRM),
        ("affirm", p.IMPLIED_AFFIRM),
    ):
        implied = pattern.search(masked)
        before = masked[: implied.start()] if implied else ""
        if implied and not any(
            doubt.search(before) for doubt in (p.ATTRIBUTED, p.ASKED, p.HYPOTHETICAL)
        ):
            undone = disposition == "affirm" and p.DISBELIEVED.search(before)
            yield "not affirm" if undone else disposition, False, ""
            break


def _in_sentence(sentence: Sentence, masked: str) -> Iterator[Finding]:
    parts, provisional = bool(p.PARTS.search(masked)), bool(p.PROVISIONAL.search(masked))
    named = [found for match in p.HIT.finditer(masked) if (found := _of_verb(match, masked))]
    for disposition, explicit, target in [*named, *_implied(masked)]:
        yield Finding(
            disposition, explicit, parts, sentence.start, sentence.end, target, provisional
        )


def find_dispositions(text: str) -> list[Finding]:
    """Every disposition that a text takes as its own, in order; questions and quotations decide
    nothing.
    """
    masked = mask(text)
    findings: list[Finding] = []
    for sentence in split_sentences(text):
        visible = masked[sentence.start : sentence.end]
        if not visible.rstrip().endswith("?"):
            findings += _in_sentence(sentence, re.sub(r"\s", " ", visible))
    return findings
