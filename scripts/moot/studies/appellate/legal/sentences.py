"""Split legal prose into sentences. A full stop after "v.", "No." or "F.3d" does not end one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_ABBREVIATIONS = frozenset(
    (
        "v vs no nos inc co corp ltd llc mr mrs ms dr st jr sr hon prof gov gen sgt capt lt rev"
        " messrs cf see e.g i.e id ibid al etc art sec subsec ch para pt app supp ct cir dist div"
        " stat reg cert aff'd rev'd f p u.s s n.m n.e n.w s.e s.w so l ed fed rep repl pamp comp"
        " ann const amend jan feb mar apr jun jul aug sept oct nov dec dep't int'l ass'n bros ex"
        " rel esq ch j jj c.j p.j a.j u.s.c c.f.r r evid civ crim proc am op mem viz approx mass"
        " cal ill tex pa fla mich minn wis ariz colo conn del ga ind kan ky la md me mo mont neb"
        " nev okla or ore tenn va vt wash wyo ala ark d.c n.j n.y n.c n.d s.c s.d w.va r.i n.h "
    ).split()
)
# Words unless they have a capital: "So." is a reporter, "Me." a state.
_ALSO_WORDS = "so no me or ill art mass wash amend".split()
_STOP = re.compile(r"[.!?]+[\"'”’)\]]*")
_PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?:[-*•]|\d+[.)])\s+|[{(\[]\d{1,3}[})\]](?=\s*[A-Z\"“])")
_NEXT_STARTS = re.compile(
    r"(?:\s*[{(\[]\d{1,3}[})\]])?(?:\s+|(?=[A-Z{]))[\"'“‘(\[]*[A-Z0-9§]|\s*$|\s*\{"
)
_INITIAL = re.compile(r"(?:^|[\s(\[\"“{}.])[A-Z]$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its offset in the text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset just behind the sentence."""
        return self.start + len(self.text)


def _is_sentence_end(text: str, stop: re.Match[str]) -> bool:
    """Return whether a stop ends a sentence and is not part of an abbreviation or a number."""
    if not _NEXT_STARTS.match(text, stop.end()):
        return False
    if text[stop.start()] != ".":
        return True
    preceding_text = text[max(0, stop.start() - 30) : stop.start()]
    words = preceding_text.split()
    last_word = re.sub(r"^\W+", "", words[-1] if words else "")
    is_abbreviation = last_word.lower() in _ABBREVIATIONS and last_word not in _ALSO_WORDS
    if is_abbreviation or _INITIAL.search(preceding_text):
        return re.match(r"\s*\{\d+\}|\s*\n\s*\n|\s*$", text[stop.end() :]) is not None
    next_character = text[stop.end() : stop.end() + 1]
    if not next_character or next_character.isspace() or next_character == "{":
        return True
    return re.search(r"[a-z0-9)\]\"”]$|[A-Z]{4}$", preceding_text) is not None


def split_sentences(text: str) -> list[Sentence]:
    """Split a text into sentences, in order.

    Paragraph marks ("{12}", blank lines, list items) also end a sentence.

    >>> text = "See State v. Lee, 5 P.2d 1. We affirm.{2} He appealed."
    >>> [sentence.text for sentence in split_sentences(text)]
    ['See State v. Lee, 5 P.2d 1.', 'We affirm.', '{2} He appealed.']
    """
    return list(_sentences_of(text))


@lru_cache(maxsize=16)
def _sentences_of(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text; the steps of a case read the same few texts."""
    return tuple(_iter_sentences(text))


def _iter_sentences(text: str) -> Iterator[Sentence]:
    ends = {match.start() for match in _PARAGRAPH.finditer(text)}
    ends |= {stop.end() for stop in _STOP.finditer(text) if _is_sentence_end(text, stop)}
    start = 0
    for end in [*sorted(ends - {0}), len(text)]:
        piece = text[start:end]
        if stripped := piece.strip():
            yield Sentence(stripped, start + piece.index(stripped[0]))
        start = end
