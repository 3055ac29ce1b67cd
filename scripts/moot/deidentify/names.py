"""Who and what an opinion names, and by what each name is replaced throughout.

Names come from the record and the caption (parties, judges, counsel), from the roles and titles that the text puts
before a name ("Plaintiff Ann Lee", "Dr. Hale"), and from every other run of capitalised words that names something: a
word is taken for a name if it is never written small in the same opinion and is no word of law (`vocabulary.COMMON`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from moot.deidentify.opinion import Opinion
from moot.deidentify.vocabulary import COMMON, HONORIFICS, KINDS, ROLES, STATES

_CAPITALISED = r"[A-ZÀ-Þ][\wÀ-ÿ]*(?:['’&-][A-ZÀ-Þ][\wÀ-ÿ]+)*"
_INITIAL = r"(?:[A-Z]\.(?:[A-Z]\.)*|(?:St|Ste|Mt|Ft)\.)"
_WORD = rf"(?:{_INITIAL}|{_CAPITALISED})"
_BODY = (
    "Department|Company|Association|Commission|Board|Authority|Bank|Railway|Railroad|Insurance|Division|District|"
    "Partners"
)
_LINK = rf"(?:of|of the|de|de la|la|del|van|von|&|(?:and|for)(?=\s+(?:[A-Z][\w-]+\s+){{0,2}}(?:{_BODY})))"
RUN = re.compile(rf"(?<![\w'’]){_WORD}(?:(?:,? (?:Inc|Jr|Sr|Ltd|LLC|Co|Corp)\b\.?)|(?:\s+(?:{_LINK}\s+)?{_WORD}))*")
_ONLY_INITIALS = re.compile(r"(?:[A-Z]\.\s?){2,4}")
_LINKS = ("of", "the", "and", "for", "de", "la", "del", "van", "von", "&")
_STATE = re.compile(rf"(?:{STATES})", re.IGNORECASE)
_ALIAS = re.compile(
    r"\s*\((?:the |hereinafter |collectively,? |together,? )*[\"“]?(?P<alias>[A-Z][\w'’&. -]{1,40}?)[\"”]?\)"
)
_ROLE_BEFORE = re.compile(rf"(?P<role>\b(?:{'|'.join(ROLES)})s?(?:[-/](?:{'|'.join(ROLES)})s?)*),?\s+$", re.IGNORECASE)
_HONORIFIC_BEFORE = re.compile(rf"\b(?P<title>{'|'.join(HONORIFICS)})\.?\s+$", re.IGNORECASE)
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to|outside|through|between)\s+$")
_PERSON_BEHIND = re.compile(
    r"\s*(?:testified|said|told|stated|was|had|asked|admitted|denied|lived|married|died|drove|shot|left|went|'s|’s)\b"
)
PERSONAL_TOKENS = 3  # a run of two or three words and no word of an organisation is a person


@dataclass(slots=True)
class Entity:
    """Somebody or something named.

    Attributes:
        kind: person, judge, counsel, a party's side or role, or a kind of `vocabulary.KINDS`.
        tokens: the words that name it, lower case, without titles and links.
        surfaces: the forms seen in the text.
        pseudonym: what stands for it.
    """

    kind: str
    tokens: tuple[str, ...]
    surfaces: set[str] = field(default_factory=set)
    pseudonym: str = ""


def words_of(name: str) -> list[str]:
    """The words of a name, without links, initials and punctuation."""
    words = re.findall(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:['’-][A-Za-zÀ-ÿ][\wÀ-ÿ]+)*", name)
    return [word for word in words if len(word) > 1 and word.lower() not in _LINKS]


def small_words(text: str) -> frozenset[str]:
    """Every word that a text writes small: ordinary words of this opinion, which name nobody by themselves."""
    return frozenset(re.findall(r"(?<![\w'’])[a-zà-ÿ]{2,}", text))


def naming_words(name: str, small: frozenset[str]) -> tuple[str, ...]:
    """The words of a name that identify: neither words of law nor ordinary words of the same opinion."""
    if _ONLY_INITIALS.fullmatch(name.strip()):
        return (re.sub(r"\s", "", name).lower().rstrip("."),)
    return tuple(word.lower() for word in words_of(name) if word.lower() not in COMMON and word.lower() not in small)


def kind_of(name: str, before: str, behind: str) -> str:
    """What a name names, by its own words and by its neighbours."""
    if _STATE.fullmatch(name.strip()):
        return "state"
    by_words = next((kind for kind, pattern in KINDS if pattern.search(name)), "")
    return by_words or _kind_before(before) or _kind_behind(name, before, behind)


_TITLED = {
    "dr": "doctor", "doctor": "doctor", "physician": "doctor", "nurse": "nurse", "judge": "judge", "justice": "judge",
    "officer": "officer", "detective": "officer", "agent": "officer", "deputy": "officer", "sergeant": "officer",
    "trooper": "officer", "inspector": "officer",
}  # fmt: skip


def _kind_before(before: str) -> str:
    """The kind that the words before a name give it: a title, or "City of"."""
    if title := _HONORIFIC_BEFORE.search(before):
        return _TITLED.get(title["title"].lower(), "person")
    body = re.search(r"\b(City|Town|Village|County|State) of\s+$", before)
    return {"Town": "city", "Village": "city"}.get(body[1], body[1].lower()) if body else ""


def _kind_behind(name: str, before: str, behind: str) -> str:
    if re.match(r"\s+(?:County|Parish)\b", behind):
        return "county"
    acts = bool(_PERSON_BEHIND.match(behind))
    if _PLACE_BEFORE.search(before) and len(words_of(name)) == 1 and not acts:
        return "place"
    several = 1 < len(words_of(name)) <= PERSONAL_TOKENS
    return "person" if acts or several or re.search(r"[A-Z]\.", name) else "name"


class Cast:
    """The entities of one opinion; a name met again is the same entity."""

    def __init__(self, small: frozenset[str]) -> None:
        self.small = small
        self.entities: list[Entity] = []

    def find(self, tokens: Sequence[str]) -> Entity | None:
        """The entity that a name means: the same words, a part of them, or the surname alone."""
        wanted = set(tokens)
        if not wanted:
            return None
        for entity in self.entities:
            if wanted == set(entity.tokens):
                return entity
        for entity in self.entities:
            known = set(entity.tokens)
            if wanted < known or (known < wanted and len(known) > 1):
                return entity
        return next(
            (entity for entity in self.entities if set(entity.tokens) < wanted and entity.tokens[-1] == tokens[-1]),
            None,
        )

    def add(self, name: str, kind: str) -> Entity | None:
        """Add a name, or the form that it has here to the entity that it means; None where no word of it identifies."""
        tokens = naming_words(name, self.small)
        if not tokens:
            return None
        entity = self.find(tokens)
        if entity is None:
            entity = Entity(kind, tokens)
            self.entities.append(entity)
        elif len(tokens) > len(entity.tokens):
            entity.tokens = tokens
        if entity.kind in ("name", "person", "place") and kind not in ("name", "person", "place"):
            entity.kind = kind
        entity.surfaces.add(name)
        return entity

    def name_all(self) -> None:
        """Give every entity its pseudonym: "the doctor" where there is one, "Doctor A", "Doctor B" for several."""
        counts = Counter(entity.kind for entity in self.entities)
        used: Counter[str] = Counter()
        for entity in self.entities:
            used[entity.kind] += 1
            alone = counts[entity.kind] == 1 and entity.kind not in _LETTERED
            entity.pseudonym = (
                f"the {entity.kind}" if alone else f"{entity.kind.capitalize()} {letter(used[entity.kind])}"
            )


_LETTERED = (
    "person",
    "name",
    "place",
    "city",
    "county",
    "state",
    "judge",
    "counsel",
    "company",
    "agency",
    "statute",
    "court",
)


def letter(number: int) -> str:
    """A, B, ..., Z, AA, AB, ...

    >>> [letter(1), letter(26), letter(27)]
    ['A', 'Z', 'AA']
    """
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _trimmed(run: str, start: int, names: frozenset[str], opens: bool) -> Iterable[tuple[str, int]]:
    """The stretches of a run of capitalised words that are left when leading and trailing common words are cut."""
    words = [(match[0], start + match.start()) for match in re.finditer(r"\S+", run)]
    stretch: list[tuple[str, int]] = []
    for word, place in [*words, ("", 0)]:
        bare = re.sub(r"[^\wÀ-ÿ'’&-]", "", word).lower()
        initial = bool(re.fullmatch(_INITIAL, word))
        carried = (
            word[:1].isupper()
            and bare not in _BREAKS
            and (stretch or (bare not in COMMON and not (opens and place == start)))
        )
        if word and (bare in names or initial or bare in _LINKS or carried):
            stretch.append((word, place))
            continue
        while stretch and _drops(stretch[-1][0], names):
            stretch.pop()
        while stretch and re.sub(r"\W", "", stretch[0][0]).lower() in _LINKS:
            stretch.pop(0)
        if any(re.sub(r"[^\wÀ-ÿ'’&-]", "", word).lower() in names for word, _ in stretch):
            text = run[stretch[0][1] - start : stretch[-1][1] - start + len(stretch[-1][0])]
            yield text.rstrip(",;:"), stretch[0][1]
        stretch = []


_BREAKS = frozenset(
    (
        "he",
        "she",
        "they",
        "it",
        "we",
        "i",
        "but",
        "and",
        "however",
        "when",
        "after",
        "before",
        "on",
        "in",
        "at",
        "as",
        "the",
        "a",
        "an",
        "plaintiff",
        "defendant",
    )
)


def _drops(word: str, names: frozenset[str]) -> bool:
    bare = re.sub(r"\W", "", word).lower()
    return bare in _LINKS or (
        bare not in names and bare in COMMON and not any(pattern.fullmatch(bare) for _, pattern in KINDS)
    )


def name_words(text: str, known: Iterable[str], small: frozenset[str]) -> frozenset[str]:
    """Every word of a text that names: from known names, or capitalised within a sentence and never written small."""
    names = {word for name in known for word in naming_words(name, small)}
    inside = re.findall(rf"(?<=[a-z,;)] )(?:[A-Z]\. )?({_CAPITALISED})", text)
    introduced = re.findall(
        rf"\b(?:{'|'.join(HONORIFICS + ROLES)})s?\.?,? ({_CAPITALISED})(?: ({_CAPITALISED}))?", text, re.IGNORECASE
    )
    named = [word for pair in introduced for word in pair if word[:1].isupper()]
    candidates = [part for word in [*inside, *named] for part in words_of(word)]
    initialled = re.findall(rf"(?:{_INITIAL} ?)+({_CAPITALISED})|({_CAPITALISED}) (?:{_INITIAL})", text)
    paired = re.findall(rf"(?:^|[.!?}}] ?)({_CAPITALISED}) ({_CAPITALISED})(?= (?:appeals|was|filed|sued|\()|,)", text)
    candidates += [part for pair in [*initialled, *paired] for word in pair for part in words_of(word)]
    names |= {word.lower() for word in candidates if word.lower() not in COMMON and word.lower() not in small}
    acronyms = re.findall(r"\((?:the )?[\"“]?([A-Z][A-Z&]{1,6})[\"”]?\)", text)
    names |= {acronym.lower() for acronym in acronyms if acronym.lower() not in COMMON}
    return frozenset(names)


def cast_of(opinion: Opinion, text: str, extra: Sequence[tuple[str, str]] = ()) -> Cast:
    """Everybody and everything that `text` (a part of `opinion`) names.

    Args:
        opinion: with the names of its caption (`opinion.with_caption`).
        text: what will be shown to models.
        extra: further names with their kinds, from a recogniser.
    """
    small = small_words(opinion.text)
    cast = Cast(small)
    listed = [
        *opinion.parties,
        *((name, "judge") for name in opinion.judges),
        *((name, "counsel") for name in opinion.counsel),
        *extra,
    ]
    for name, kind in listed:
        organisation = kind_of(name, "", "")
        person_like = organisation in ("person", "name") or kind in ("judge", "counsel")
        cast.add(name, (kind or "party") if person_like else organisation)
    names = name_words(opinion.text, [name for name, _ in listed], small)
    for match in RUN.finditer(text):
        opens = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in '.!?:"”'
        for name, start in _trimmed(match[0], match.start(), names, opens):
            before, behind = text[max(0, start - 40) : start], text[start + len(name) : start + len(name) + 60]
            role = _ROLE_BEFORE.search(before)
            kind = (
                re.split(r"[-/]", role["role"].lower())[-1].removesuffix("s") if role else kind_of(name, before, behind)
            )
            entity = cast.add(name, kind)
            alias = _ALIAS.match(behind) if entity else None
            if entity and alias and naming_words(alias["alias"], small):
                entity.surfaces.add(alias["alias"])
    cast.name_all()
    return cast


def pseudonyms(cast: Cast) -> Mapping[str, str]:
    """The map from every form of a name to what stands for it: kept beside the case, never shown to a model."""
    return {surface: entity.pseudonym for entity in cast.entities for surface in sorted(entity.surfaces)}
