"""Merge the mentions of one referent to an entity, and give each entity a pseudonym.

A person is a party only by the caption or by a definition in the opinion ("Defendant Hale", "Hale
(Mother)", "Ann Hale appeals"). A surname that two people share identifies neither. A pseudonym
names a kind that is sure: a role, a title or a noun next to the name, Person, Organization or
Place, and otherwise Name. A short form in parentheses behind a name ("First Bank of Hale (First)")
is a defined term and gets the pseudonym of its name throughout.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.caption import (
    Opinion,
    extract_margins,
    find_caption_parties,
)
from moot.studies.appellate.deidentify.lexicon import INITIALS, Lexicon, normalise_word
from moot.studies.appellate.deidentify.mentions import Mention, MentionFinder
from moot.studies.appellate.deidentify.references import format_letter
from moot.studies.appellate.legal.segments import extract_part, split_opinion
from moot.studies.appellate.legal.sentences import split_sentences

# "Defendant, Ann Hale," and "Ann Hale appeals" define a party in this many first sentences only.
INTRODUCTION_SENTENCES = 3
# An opinion with this many capitalised roles ("Defendant", "the State") calls its parties by roles.
MIN_ROLE_NOUNS = 3
_PATTERNS = w.read_patterns("names.yaml")
_FAMILIES = {
    **dict.fromkeys(w.PERSON_KINDS, "person"),
    **dict.fromkeys(w.ORGANISATION_KINDS, "organization"),
    **dict.fromkeys(w.PLACE_KINDS, "place"),
    "statute": "statute",
}
"""The family of each kind. A kind without a family ("name") may be any."""


def _split_name(name: str) -> set[str]:
    return {normalise_word(word) for word in name.split() if len(word.strip(".,")) > 1}


@dataclass(slots=True)
class Entity:
    """A named person, organisation, place or thing.

    Attributes:
        words: the identifying words, as `lexicon.normalise_word` writes them.
        role: the role of a party by the caption or a definition, or "".
        surfaces: the forms of the name in the text.
        kind_counts: how many mentions tell each kind.
        pseudonym: the replacement of the name.
    """

    words: tuple[str, ...]
    role: str = ""
    surfaces: set[str] = field(default_factory=set)
    kind_counts: Counter[str] = field(default_factory=Counter)
    pseudonym: str = ""

    @property
    def kind(self) -> str:
        """The role, or else the most frequent kind of its mentions; fine kinds come first."""
        if self.role:
            return self.role
        kinds = self.kind_counts.keys() - {"name"}
        fine_kinds = kinds - {"person", "place", "organization"}
        return max(sorted(fine_kinds or kinds), key=self.kind_counts.__getitem__, default="name")

    def has_word(self, word: str) -> bool:
        """Return whether a word, or its plural, is one of the entity's words."""
        stems = {word, word.removesuffix("s"), word.removesuffix("es")} if len(word) > 4 else {word}
        return not stems.isdisjoint(self.words)

    def has_words(self, words: Sequence[str]) -> bool:
        """Return whether the entity has all these words, or these words contain all of its own."""
        is_longer = len(self.words) > 1 and set(self.words) <= set(words)
        return is_longer or set(words) <= set(self.words)

    def can_be(self, name: str, kind: str) -> bool:
        """Return whether the entity may also have a form of its name, and be of a kind.

        "Hale Bank" is not "Hale Road", and a person is not an organisation or a place.
        """
        forms = [_split_name(surface) for surface in self.surfaces]
        keys = _split_name(name)
        if len(keys) > 1 and not any(keys <= form or form <= keys for form in forms):
            return False
        families = {_FAMILIES[kind] for kind in self.kind_counts if kind in _FAMILIES}
        return not families or _FAMILIES.get(kind) in families | {None}


def extract_name_words(name: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the identifying words of a name: no customary words, no single initials."""
    if re.fullmatch(rf"(?:{INITIALS}\s?)+", name.strip()):
        return (normalise_word(name),)
    name_words = []
    for word in re.findall(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]+(?:['’-][\wÀ-ÿ]+)*", name):
        key = normalise_word(word)
        if key not in w.LINKING_WORDS | {"in", "at", "by"} and not lexicon.is_common(word):
            name_words.append(key)
    return tuple(name_words)


class Entities:
    """The entities of one opinion.

    Attributes:
        entities: in the order in which they were added.
        aliases: each short form that the opinion defines, and its entity.
    """

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.aliases: dict[str, Entity] = {}

    def find(self, mention: Mention, kind: str) -> Entity | None:
        """Return the entity of a kind ("": any) that the words of a mention identify, or None."""
        if mention.name in self.aliases:
            return self.aliases[mention.name]
        words = mention.words
        candidates = [entity for entity in self.entities if entity.can_be(mention.name, kind)]
        candidates.sort(key=lambda entity: entity.words != words)  # an equal name comes first
        if len(words) == 1 and candidates and candidates[0].words != words:
            holders = [entity for entity in candidates if entity.has_word(words[0])]
            if len(holders) > 1 and kind != "person":
                holders = [entity for entity in holders if entity.kind == kind]
            return holders[0] if len(holders) == 1 and holders[0].kind != "state" else None
        match = next((entity for entity in candidates if entity.has_words(words)), None)
        # "His son Lee Hale" is not the Hale of whom the opinion spoke before.
        if match or mention.role in w.ROLE_WORDS - w.PARTY_ROLES:
            return match
        return next((entity for entity in candidates if entity.words == words[-1:]), None)

    def add(self, mention: Mention, role: str = "") -> Entity:
        """Return the entity of a mention with this form added; a new entity if none matches."""
        entity = self.find(mention, "" if role else mention.kind)
        if entity is None and mention.kind == "place":
            # "In Hale's group" tells no place if Hale is a person.
            person = self.find(mention, "person")
            entity = person if person and not person.can_be("", "place") else None
        if entity is None:
            entity = Entity(mention.words)
            self.entities.append(entity)
        if len(mention.words) > len(entity.words):
            entity.words = mention.words
        entity.role = entity.role or role
        entity.kind_counts[mention.kind] += 1
        entity.surfaces.add(mention.name)
        return entity

    def count_recognised_people(self, recognised_names: Sequence[tuple[str, str]]) -> None:
        """Count full names of people that a recogniser finds where the text tells no kind."""
        people = {name for name, kind in recognised_names if kind == "person" and " " in name}
        for entity in self.entities:
            if entity.kind == "name" and not people.isdisjoint(entity.surfaces):
                entity.kind_counts["person"] += 1

    def assign_pseudonyms(self) -> None:
        """Give every entity its pseudonym.

        The only holder of a role has the role alone ("Defendant"); all others have a letter
        ("Defendant A", "Person A").
        """
        counts = Counter(entity.kind for entity in self.entities)
        letter_counts: Counter[str] = Counter()
        for entity in self.entities:
            kind = entity.kind
            letter_counts[kind] += 1
            entity.pseudonym = f"{kind.capitalize()} {format_letter(letter_counts[kind])}"
            if counts[kind] == 1 and kind in w.ROLES:
                entity.pseudonym = kind.capitalize()

    def map_pseudonyms(self) -> Mapping[str, str]:
        """Map every form of a name to its pseudonym. No model sees this map."""
        pseudonyms: dict[str, str] = {}
        for entity in self.entities:
            pseudonyms |= dict.fromkeys(sorted(entity.surfaces), entity.pseudonym)
        return pseudonyms


def find_role(mention: Mention, text: str, *, is_introduction: bool) -> str:
    """Return the role of a party that a text defines for a name, or "".

    Definitions are "Defendant Hale", "Hale (Mother)", and in an introduction also "Defendant, Ann
    Hale," and "Ann Hale appeals".
    """
    head = text[mention.start : mention.end - len(mention.name)]
    role = mention.role.removesuffix("s")
    if role in w.PARTY_ROLES and not (role in w.FAMILY_ROLES and head.islower()):
        return role
    alias = _PATTERNS["alias"].match(text, mention.end)
    if alias and alias["alias"].lower() in w.ROLES:
        return alias["alias"].lower()
    if is_introduction and mention.kind not in w.PLACE_KINDS:
        preceding_text = text[max(0, mention.start - 30) : mention.start]
        following_text = text[mention.end : mention.end + 120]
        role_match = _PATTERNS["before_role"].search(preceding_text)
        if role_match and following_text.startswith(","):
            return role_match[1].lower()
        if _PATTERNS["before_defendant"].search(preceding_text):
            return "defendant"
        for role in ("plaintiff", "appellant", "defendant"):
            if _PATTERNS[f"behind_{role}"].match(following_text):
                return role
    return ""


def find_entities(
    opinion: Opinion, background: str, lexicon: Lexicon, naming_words: frozenset[str]
) -> Entities:
    """Find the parties of an opinion, and all whom its background names.

    Args:
        opinion: with the names of its caption (`caption.add_caption_names`).
        background: the part of the opinion that introduces people and organisations.
        lexicon: the words of the opinion.
        naming_words: ordinary words that are names here (`collect_naming_words`).
    """
    mentions = MentionFinder(lexicon, naming_words).find_mentions(background)
    entities = Entities()
    definitions = []
    introduction = split_sentences(background)[:INTRODUCTION_SENTENCES]
    for mention in mentions:
        is_introduction = mention.start < introduction[-1].end
        if role := find_role(mention, background, is_introduction=is_introduction):
            definitions.append((mention, role))
    for name, side in opinion.parties:
        words = extract_name_words(name, lexicon)
        if words and not set(words) <= w.STATE_WORDS:
            keys = [normalise_word(word) for word in name.split()]
            kind = (w.find_kind(keys) if len(keys) > 1 else "") or "name"
            role = _find_role(words, side, definitions)
            entities.add(Mention(0, 0, name, words, kind=kind), role)
    for mention, role in sorted(definitions, key=lambda definition: -len(definition[0].words)):
        entities.add(mention, role)
    for mention in mentions:
        entity = entities.add(mention)
        alias = _PATTERNS["alias"].match(background, mention.end)
        if alias and mention.kind != "state" and _is_defined_term(alias, lexicon):
            entity.surfaces.add(alias["alias"].strip())
            entities.aliases[alias["alias"].strip()] = entity
    return entities


def _is_defined_term(alias: re.Match[str], lexicon: Lexicon) -> bool:
    """Return whether an alias is a name, not a role or a common noun ("the Hospital")."""
    words = alias["alias"].split()
    keys = [normalise_word(word) for word in words]
    if lexicon.acronyms & set(words) or w.ROLE_WORDS & set(keys):
        return False
    if keys[0] in w.COMPANY_STARTS or (len(keys) > 1 and not alias["the"]):
        return True
    return any(lexicon.is_distinctive(word) for word in words)


def _find_role(words: Sequence[str], side: str, definitions: Sequence[tuple[Mention, str]]) -> str:
    """Return a party's role in the opinion, or else its side in the caption."""
    for mention, role in definitions:
        if role != "appellant" and set(mention.words) <= set(words):
            return role
    return side


def collect_naming_words(
    opinion: Opinion, background: str, lexicon: Lexicon, recognised_names: Sequence[tuple[str, str]]
) -> frozenset[str]:
    """Collect the ordinary and customary words that are names in this opinion.

    Such a word is part of a person's name, or belongs to a name of the record, the caption or the
    recogniser.
    """
    words = set(collect_record_words(opinion, lexicon))
    for mention in MentionFinder(lexicon).find_mentions(background):
        if mention.kind in w.PERSON_KINDS and (mention.title or mention.kind == "person"):
            words |= set(mention.words)
    for name, kind in recognised_names:
        if kind == "person" and " " in name:
            words |= set(extract_name_words(name, lexicon))
    surnames = {normalise_word(name.split()[-1]) for name, _ in opinion.parties} & w.ALSO_NAMES
    return frozenset(words - w.KIND_BY_NOUN.keys() - w.LINKING_WORDS | surnames)


def collect_record_words(opinion: Opinion, lexicon: Lexicon) -> frozenset[str]:
    """Return the identifying words of the record, of the caption and of the signatures.

    A word that the opinion also writes in lower case does not identify.
    """
    words: set[str] = set()
    parties = [name for name, _ in opinion.parties]
    margins = extract_margins(opinion.text)
    for name in [*parties, *opinion.judges, *opinion.counsel, margins]:
        words |= set(extract_name_words(name, lexicon))
    return frozenset(word for word in words if not lexicon.lower_case_counts[word])


def find_party_rules(opinion: Opinion, lexicon: Lexicon) -> list[str]:
    """Return the rules that find the parties of an opinion.

    The rules are record, caption, definition and role nouns ("Defendant", "the State"). An opinion
    in which no rule finds a party cannot be checked.
    """
    background = extract_part(opinion.text, split_opinion(opinion.text), "background")
    rules = ["caption"] if find_caption_parties(opinion.text) else []
    if introduces_party(background, lexicon):
        rules.append("definition")
    if len(_PATTERNS["role_noun"].findall(background)) >= MIN_ROLE_NOUNS:
        rules.append("role nouns")
    if not rules and opinion.parties:
        rules.append("record")
    return rules


def introduces_party(background: str, lexicon: Lexicon) -> bool:
    """Return whether a text defines a party by name, or tells who sued, appealed or was charged."""
    mentions = MentionFinder(lexicon).find_mentions(background)
    return any(find_role(mention, background, is_introduction=True) for mention in mentions)
