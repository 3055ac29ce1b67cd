"""Who is who in an opinion, and by what each name is replaced throughout.

A person is a party only by the caption or by a definition in the opinion ("Defendant Hale", "Hale
(Mother)", "Ann Hale appeals"); a surname that two people share means neither. Everybody else is
"Person B". A short form in parentheses behind a name ("First Bank of Hale (First)") is a defined
term, and gets the pseudonym of its name wherever it is used.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import INITIALS, Lexicon, plain
from moot.studies.appellate.deidentify.mentions import Finder, Mention
from moot.studies.appellate.deidentify.opinion import Opinion
from moot.studies.appellate.deidentify.references import letter
from moot.studies.appellate.legal.sentences import split_sentences

INTRODUCTION = (
    3  # sentences in which "Ann Hale appeals" and "Defendant, Ann Hale," say who a party is
)
_ALIAS = re.compile(
    r"[’']?s?,?\s*\((?:(?P<the>the )|hereinafter |hereafter |referred to as |collectively,?"
    r" |together,? |or |"
    r"also known as |a/?k/?a )*"
    r"[\"“]*(?P<alias>[A-Z][\w'’&. -]{0,40}?)[,.]?[\"”]*(?: or (?:the )?[\"“][^)]{1,40})?\)"
)
_APPEALS = re.compile(r"(?:,[^,.;]{0,80},)?\s*(?:\([^)]*\)\s*)?(?:appeals?|petitions?)\b")
_CONVICTED = re.compile(
    r"\s*(?:\([^)]*\)\s*)?(?:was|were) (?:\w+ )?(?:convicted|charged|indicted)\b"
)
_CALLED = re.compile(rf"\b(?:the )?(?P<role>{'|'.join(sorted(v.PARTY_ROLES))}),\s+$", re.IGNORECASE)
_BEHIND_SOMEBODY = re.compile(
    rf"\b(?P<before>[A-Z][a-zà-ÿ]+)\.?\s+(?P<name>{v.any_of(v.COMMON_SURNAMES)})\b"
)
_VAGUE = ("name", "guess", "person", "place")
_THINGS = v.ORGANISATIONS | {"city", "county", "state", "statute", "road"}
_PEOPLE = frozenset(("person", "judge", "counsel", *v.TITLED.values()))


@dataclass(slots=True)
class Entity:
    """Somebody or something named.

    Attributes:
        kind: person, judge, counsel, a party's side or role, or a kind of `vocabulary.KINDS`.
        words: the words that name it, as `lexicon.plain` writes them.
        party: named as a party by the caption or by a definition.
        surfaces: the forms seen in the text.
        aliases: short forms that the opinion itself gives it.
        seen: how often its neighbours say of which vague kind it is.
        pseudonym: what replaces it.
    """

    kind: str
    words: tuple[str, ...]
    party: bool = False
    surfaces: set[str] = field(default_factory=set)
    aliases: set[tuple[str, ...]] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    pseudonym: str = ""

    def may_be(self, kind: str) -> bool:
        """Whether it may be of a kind, too: no officer is an agency, no road a bank; a party may be
        anything.
        """
        kinds = {kind, self.kind}
        other = (kinds & _PEOPLE and kinds & _THINGS) or len(kinds & _THINGS - {"company"}) > 1
        return self.party or kind in v.ROLES or not other


def naming_words(name: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The words of a name that identify: neither customary in law nor initials, as `lexicon.plain`
    writes them.
    """
    if re.fullmatch(rf"(?:{INITIALS}\s?)+", name.strip()):
        return (plain(name),)
    words = re.findall(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:['’-][\wÀ-ÿ]+)*", name)
    no_name = v.LINKS | {"in", "at", "by"}
    return tuple(
        plain(word)
        for word in words
        if len(word) > 1 and not lexicon.is_common(word) and plain(word) not in no_name
    )


def _same(word: str, known: str) -> bool:
    """Whether two words are one, allowing for a plural and for a possessive that lost its
    apostrophe.
    """
    return word == known or (len(known) > 3 and word in (f"{known}s", f"{known}es"))  # not initials


class Entities:
    """The entities of one opinion; a name met again is the same entity, a surname that two share is
    neither.
    """

    def __init__(self, full_names: Sequence[tuple[str, ...]] = ()) -> None:
        self.found: list[Entity] = []
        self.aliases: dict[str, tuple[str, ...]] = {}
        self._given: dict[str, set[str]] = defaultdict(set)
        for words in full_names:
            if len(words) > 1:
                self._given[words[-1]].add(words[0])

    def find(self, words: Sequence[str], kind: str = "") -> Entity | None:
        """The entity of a kind ("": any) that the words of a name mean;
        None for none, and for one of several.
        """
        wanted = tuple(words)
        possible = [entity for entity in self.found if entity.may_be(kind)]
        for entity in possible:
            if wanted == entity.words or wanted in entity.aliases:
                return entity
        if len(wanted) == 1:
            holders = [e for e in possible if any(_same(wanted[0], word) for word in e.words)]
            return holders[0] if len(holders) == 1 else None
        for entity in possible:
            known = set(entity.words)
            if set(wanted) < known or (len(known) > 1 and known < set(wanted)):
                return entity
        surname_alone = [e for e in possible if e.words == (wanted[-1],)]
        return surname_alone[0] if surname_alone and len(self._given[wanted[-1]]) <= 1 else None

    def add(self, words: Sequence[str], kind: str, surface: str, *, party: bool = False) -> Entity:
        """Add a name, or the form that it has here to the entity that it means."""
        entity = self.find(words, "" if party else kind)
        if entity is None:
            entity = Entity(kind, tuple(words), party)
            self.found.append(entity)
        if len(words) > len(entity.words):
            entity.words = tuple(words)
        if kind in _VAGUE:
            entity.seen[kind] += 1
        if (party and not entity.party) or (entity.kind in _VAGUE and kind not in _VAGUE):
            entity.kind, entity.party = kind, party or entity.party
        entity.surfaces.add(surface)
        return entity

    def name_all(self) -> None:
        """Give every entity its pseudonym: "Defendant", or "Defendant A" where there are several;
        "Person A".

                Of what no title and no word of its own says the kind, most of its neighbours do.
        """
        for entity in self.found:
            specific = {
                kind: count for kind, count in entity.seen.items() if kind in ("person", "place")
            }
            if entity.kind in _VAGUE and specific:
                entity.kind = max(specific, key=lambda kind: specific[kind])
            elif entity.kind == "guess" or (entity.kind == "name" and entity.seen["guess"]):
                entity.kind = "person"
        counts = Counter(entity.kind for entity in self.found)
        used: Counter[str] = Counter()
        for entity in self.found:
            used[entity.kind] += 1
            alone = counts[entity.kind] == 1 and entity.kind in v.ROLES
            kind = entity.kind.capitalize()
            entity.pseudonym = kind if alone else f"{kind} {letter(used[entity.kind])}"


def definitions(text: str, mentions: Sequence[Mention]) -> list[tuple[Mention, str]]:
    """The names that a text defines as a party's, each with the role: "Defendant Hale", "Hale
    (Mother)", and in its first sentences "Defendant, Ann Hale," and "Ann Hale appeals".
    """
    sentences = split_sentences(text)
    introduction = sentences[min(INTRODUCTION, len(sentences)) - 1].end if sentences else 0
    found = []
    for mention in mentions:
        before = text[max(0, mention.start - 30) : mention.start]
        behind = text[mention.end : mention.end + 120]
        alias = _ALIAS.match(behind)
        called = (
            _CALLED.search(before)
            if mention.start < introduction and behind.startswith(",")
            else None
        )
        appeals = mention.start < introduction and _APPEALS.match(behind)
        head = text[mention.start : mention.end - len(mention.name)]
        if mention.role in v.PARTY_ROLES and not (
            mention.role in v.FAMILY_ROLES and head.islower()
        ):
            found.append((mention, mention.role))
        elif alias and alias["alias"].lower() in v.ROLES:
            found.append((mention, alias["alias"].lower()))
        elif called:
            found.append((mention, called["role"].lower()))
        elif appeals and mention.kind in ("person", "guess", "name", "company"):
            found.append((mention, "appellant"))
        elif (
            mention.start < introduction
            and _CONVICTED.match(behind)
            and mention.kind in ("person", "guess")
        ):
            found.append((mention, "defendant"))
    return found


def find_entities(
    opinion: Opinion, background: str, lexicon: Lexicon, named: frozenset[str]
) -> Entities:
    """The parties, judges and counsel of an opinion, and everybody whom its background names.

    Args:
        opinion: with the names of its caption (`opinion.with_caption`).
        background: the part of the opinion that tells who is who.
        lexicon: the words of the opinion.
        named: words that name although ordinary (`strong_words`).
    """
    mentions = Finder(lexicon, named).find(background)
    entities = Entities(
        [mention.words for mention in mentions if mention.kind in ("person", "guess")]
    )
    defined = definitions(background, mentions)
    roles = [
        (name, _role_in_text(naming_words(name, lexicon), side, defined))
        for name, side in opinion.parties
    ]
    listed = [
        *roles,
        *((name, "judge") for name in opinion.judges),
        *((name, "counsel") for name in opinion.counsel),
    ]
    for name, kind in listed:
        words = naming_words(name, lexicon)
        if words and not set(words) <= v.STATE_WORDS:
            entities.add(words, kind or "party", name, party=kind not in ("judge", "counsel"))
    for mention, role in sorted(defined, key=lambda found: -len(found[0].words)):
        entities.add(mention.words, role, mention.name, party=True)
    for mention in mentions:
        entity = entities.add(mention.words, mention.kind, mention.name)
        alias = _ALIAS.match(background, mention.end)
        if alias and mention.kind != "state" and _is_term(alias, lexicon):
            form = alias["alias"].strip()
            words = naming_words(form, lexicon) or tuple(plain(form).split())
            entity.aliases.add(words)
            entity.surfaces.add(form)
            entities.aliases[form] = words
    return entities


def _is_term(alias: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether an alias is more than the role or the common noun by which the opinion calls what it
    names.
    """
    words = alias["alias"].split()
    keys = [plain(word) for word in words]
    if lexicon.terms & set(words) or any(
        key in v.ROLES or key.removesuffix("s") in v.ROLES for key in keys
    ):
        return False
    noun = all(lexicon.is_ordinary(word) or lexicon.is_common(word) for word in words)
    return not noun or (len(keys) > 1 and not alias["the"]) or keys[0] in v.SHORT_COMPANIES


def _role_in_text(words: Sequence[str], side: str, defined: Sequence[tuple[Mention, str]]) -> str:
    """The role by which the opinion itself calls a party of the caption; the caption's side where
    it calls it none.
    """
    roles = [
        role
        for mention, role in defined
        if set(mention.words) <= set(words) and role != "appellant"
    ]
    return roles[0] if roles else side


def strong_words(
    opinion: Opinion, background: str, lexicon: Lexicon, extra: Sequence[str]
) -> frozenset[str]:
    """Ordinary and customary words that name in this opinion: they are in a full name, behind a
    title or an initial, or in a name that the record, the caption or a recogniser gives; "in
    Pueblo" names a town.
    """
    listed = [name for name, _ in opinion.parties] + [*opinion.judges, *opinion.counsel]
    words = {
        word for name in listed for word in naming_words(name, lexicon) if not lexicon.small[word]
    }
    for mention in Finder(lexicon).find(background):
        if mention.title in v.PERSONAL_TITLES or mention.kind in ("person", "guess"):
            words |= set(mention.words) - v.LINKS
    people = {
        word for name in extra if len(name.split()) > 1 for word in naming_words(name, lexicon)
    }
    organisational = {word for word in words if v.kind_by_words(word)}
    surnames = {plain(name.split()[-1]) for name, _ in opinion.parties} & v.COMMON_SURNAMES
    in_context = set(_named_in_context(background, lexicon))
    return frozenset(((words | people) - organisational) | in_context | surnames)


def _named_in_context(background: str, lexicon: Lexicon) -> Iterator[str]:
    """Customary words that name because of the word before them: "Deputy House", "Ann House", "in
    Pueblo".
    """
    for match in _BEHIND_SOMEBODY.finditer(background):
        if plain(match["before"]) in v.PERSONAL_TITLES or lexicon.names(match["before"]):
            yield plain(match["name"])
    for match in v.PLACE_OF_CUSTOMARY_WORDS.finditer(background):
        yield plain(match["name"])


def pseudonyms(entities: Entities) -> Mapping[str, str]:
    """The map from every form of a name to its pseudonym: kept next to the cases, never shown to a
    model.
    """
    return {
        surface: entity.pseudonym
        for entity in entities.found
        for surface in sorted(entity.surfaces)
    }
