"""Sentences of legal prose: a full stop after "v.", "No." or "F.3d" ends nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
_STOP = re.compile(r"[.!?]+[\"'”’)\]]*")
_PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?:[-*•]|\d+[.)])\s+|[{(\[]\d{1,3}[})\]](?=\s*[A-Z\"“])")
_NEXT_STARTS = re.compile(
    r"(?:\s*[{(\[]\d{1,3}[})\]])?(?:\s+|(?=[A-Z{]))[\"'“‘(\[]*[A-Z0-9§]|\s*$|\s*\{"
)
_INITIAL = re.compile(r"(?:^|[\s(\[\"“{}.])[A-Z]$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its place in its text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset just behind the sentence."""
        return self.start + len(self.text)


def _ends_here(text: str, stop: re.Match[str]) -> bool:
    if not _NEXT_STARTS.match(text, stop.end()):
        return False
    if text[stop.start()] != ".":
        return True
    before = text[max(0, stop.start() - 30) : stop.start()]
    words = before.split()
    word = words[-1] if words else ""
    last = re.sub(r"^\W+", "", word)
    if last.lower() in _ABBREVIATIONS or _INITIAL.search(before):
        return bool(re.match(r"\s*\{\d+\}|\s*\n\s*\n|\s*$", text[stop.end() :]))
    joined = text[stop.end() : stop.end() + 1]
    return (
        not joined
        or joined.isspace()
        or joined == "{"
        or bool(re.search(r"[a-z0-9)\]\"”]$|[A-Z]{4}$", before))
    )


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order; paragraph marks ("{12}", blank lines, list items) also end
    one.

        >>> [part.text for part in split_sentences('See State v. Lee, 5 P.2d 1. We affirm.{2} He appealed.')]
        ['See State v. Lee, 5 P.2d 1.', 'We affirm.', '{2} He appealed.']
    """
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[Sentence]:
    cuts = {match.start() for match in _PARAGRAPH.finditer(text)}
    cuts |= {stop.end() for stop in _STOP.finditer(text) if _ends_here(text, stop)}
    start = 0
    for cut in [*sorted(cuts - {0}), len(text)]:
        piece = text[start:cut]
        if stripped := piece.strip():
            yield Sentence(stripped, start + piece.index(stripped[0]))
        start = cut
