"""Identify the people and organisations of an opinion, and give each a pseudonym.

A person is a party only by the caption or by a definition in the opinion ("Defendant Hale", "Hale
(Mother)", "Ann Hale appeals"). A surname that two people share identifies neither. A pseudonym
names a kind that is sure: a role, a title or a noun next to the name, Person, Organization or
Place, and otherwise Name. A short form in parentheses behind a name ("First Bank of Hale (First)")
is a defined term and gets the pseudonym of its name throughout.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import INITIALS, Lexicon, normalise_word
from moot.studies.appellate.deidentify.mentions import Mention, MentionFinder
from moot.studies.appellate.deidentify.opinion import Opinion
from moot.studies.appellate.deidentify.references import format_letter
from moot.studies.appellate.legal.sentences import split_sentences

# "Ann Hale appeals" and "Defendant, Ann Hale," define a party in this many first sentences only.
INTRODUCTION_SENTENCES = 3
_ALIAS_DEFINITION = re.compile(
    r"[’']?s?,?\s*\((?:(?P<the>the )|hereinafter |hereafter |referred to as |collectively,?"
    r" |together,? |or |also known as |a/?k/?a )*"
    r"[\"“]*(?P<alias>[A-Z][\w'’&. -]{0,40}?)[,.]?[\"”]*(?: or (?:the )?[\"“][^)]{1,40})?\)"
)
_APPEALS_AFTER_NAME = re.compile(
    r"(?:,[^,.;]{0,80},)?\s*(?:\([^)]*\)\s*)?(?:appeals?|petitions?)\b"
)
_SUES_AFTER_NAME = re.compile(r"\s*(?:\([^)]*\)\s*)?(?:sued|brought suit|filed suit)\b")
_SUED_BEFORE_NAME = re.compile(r"\b(?:sued|suit against)\s+$")
_CONVICTED_AFTER_NAME = re.compile(
    r"\s*(?:\([^)]*\)\s*)?(?:was|were) (?:\w+ )?(?:convicted|charged|indicted)\b"
)
_ROLE_BEFORE_NAME = re.compile(
    rf"\b(?:the )?(?P<role>{'|'.join(sorted(v.PARTY_ROLES))}),\s+$", re.IGNORECASE
)
_SURNAME_AFTER_NAME = re.compile(
    rf"\b(?P<before>[A-Z][a-zà-ÿ]+)\.?\s+(?P<name>{v.match_any(v.COMMON_SURNAMES)})\b"
)
_PERSON_KINDS = frozenset(("person", *v.KINDS_BY_TITLE.values()))


def _family_of(kind: str) -> str:
    """The family of a kind: person, organization, place, statute, or "" for any."""
    if kind in _PERSON_KINDS:
        return "person"
    if kind in v.ORGANISATION_KINDS:
        return "organization"
    if kind in v.PLACE_KINDS:
        return "place"
    return kind if kind == "statute" else ""


@dataclass(slots=True)
class Entity:
    """A named person, organisation, place or thing.

    Attributes:
        words: the identifying words, as `lexicon.normalise_word` writes them.
        role: the role of a party by the caption or a definition, or "".
        surfaces: the forms of the name in the text.
        aliases: the short forms that the opinion defines for it.
        kind_counts: how many mentions tell each kind.
        pseudonym: the replacement of the name.
    """

    words: tuple[str, ...]
    role: str = ""
    surfaces: set[str] = field(default_factory=set)
    aliases: set[tuple[str, ...]] = field(default_factory=set)
    kind_counts: Counter[str] = field(default_factory=Counter)
    pseudonym: str = ""

    @property
    def kind(self) -> str:
        """The role, or else the kind that most mentions tell.

        A title or a noun decides before the neighbours of a name do.
        """
        if self.role:
            return self.role
        kinds = [kind for kind in self.kind_counts if kind != "name"]
        finer_kinds = [kind for kind in kinds if kind not in ("person", "place", "organization")]
        return max(finer_kinds or kinds, key=self.kind_counts.__getitem__, default="name")

    def has_word(self, word: str) -> bool:
        """Whether a word, or its plural or possessive, is one of the entity's words."""
        for name_word in self.words:
            is_plural = len(name_word) > 3 and word in (f"{name_word}s", f"{name_word}es")
            if word == name_word or is_plural:
                return True
        return False

    def has_form(self, name: str) -> bool:
        """Whether a name of several words is a part of a form of this name, or contains one.

        "General Electric" is not "Electric Mutual Insurance".
        """
        keys = _split_keys(name)
        if len(keys) < 2:
            return True
        forms = [_split_keys(surface) for surface in self.surfaces]
        return any(keys <= form or form <= keys for form in forms)

    def can_be(self, kind: str) -> bool:
        """Whether the entity may also be of a kind: a person is not an organisation or a place."""
        families = {_family_of(kind) for kind in self.kind_counts}
        family = _family_of(kind)
        families.discard("")
        return not family or not families or family in families


def _split_keys(name: str) -> set[str]:
    return {normalise_word(word) for word in name.split() if len(word.strip(".,")) > 1}


def extract_name_words(name: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The identifying words of a name, as `lexicon.normalise_word` writes them.

    Customary words and single initials do not identify; a name of initials alone is one word.
    """
    if re.fullmatch(rf"(?:{INITIALS}\s?)+", name.strip()):
        return (normalise_word(name),)
    name_words = []
    for word in re.findall(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:['’-][\wÀ-ÿ]+)*", name):
        key = normalise_word(word)
        if len(word) == 1 or lexicon.is_common(word):
            continue
        if key not in v.LINKING_WORDS and key not in ("in", "at", "by"):
            name_words.append(key)
    return tuple(name_words)


class Entities:
    """The entities of one opinion.

    A repeated name is the same entity. A surname that two entities share identifies neither.

    Attributes:
        entities: in the order in which they were added.
        aliases: each defined short form, and its identifying words.
    """

    def __init__(self, full_names: Sequence[tuple[str, ...]] = ()) -> None:
        self.entities: list[Entity] = []
        self.aliases: dict[str, tuple[str, ...]] = {}
        self._given_names: dict[str, set[str]] = defaultdict(set)
        for words in full_names:
            if len(words) > 1:
                self._given_names[words[-1]].add(words[0])

    def find(
        self, words: Sequence[str], kind: str = "", role: str = "", name: str = ""
    ) -> Entity | None:
        """Return the entity of a kind ("": any) that the words of a name identify.

        Return None if no entity matches, or if a single word matches several. "His son Lee Hale"
        is not the Hale of whom the opinion spoke before.
        """
        key = tuple(words)
        candidates = [entity for entity in self.entities if entity.can_be(kind)]
        for entity in candidates:
            if key == entity.words or key in entity.aliases:
                return entity
        if len(key) == 1:
            return _find_holder(candidates, key[0], kind, name)
        for entity in candidates:
            entity_words = set(entity.words)
            if set(key) < entity_words or (len(entity_words) > 1 and entity_words < set(key)):
                return entity
        is_relative = role in v.ROLE_WORDS - v.PARTY_ROLES
        if is_relative or len(self._given_names[key[-1]]) > 1:
            return None
        return next((entity for entity in candidates if entity.words == (key[-1],)), None)

    def add(self, mention: Mention, role: str = "") -> Entity:
        """Return the entity of a mention with this form added; a new entity if none matches."""
        entity = self.find(mention.words, "" if role else mention.kind, mention.role, mention.name)
        if entity is None and mention.kind == "place":
            person = self.find(mention.words, "person", mention.role, mention.name)
            entity = person if person and person.can_be("") and not person.can_be("place") else None
        if entity is None:
            entity = Entity(mention.words)
            if len(mention.words) == 1 and self._is_family(mention.words[0]):
                entity.kind_counts["person"] += 1
            self.entities.append(entity)
        if len(mention.words) > len(entity.words):
            entity.words = mention.words
        entity.role = entity.role or role
        entity.kind_counts[mention.kind] += 1
        entity.surfaces.add(mention.name)
        return entity

    def _is_family(self, surname: str) -> bool:
        """Whether several entities, all of them people, have a surname."""
        holders = [entity for entity in self.entities if entity.has_word(surname)]
        return len(holders) > 1 and all(entity.kind_counts["person"] for entity in holders)

    def count_recognised_kinds(self, recognised_names: Sequence[tuple[str, str]]) -> None:
        """Count full names of people that a trained recogniser finds where nothing tells more."""
        for entity in self.entities:
            if entity.kind != "name":
                continue
            for name, kind in recognised_names:
                if kind == "person" and " " in name and name in entity.surfaces:
                    entity.kind_counts[kind] += 1

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
            if counts[kind] == 1 and kind in v.ROLES:
                entity.pseudonym = kind.capitalize()


def find_definitions(text: str, mentions: Sequence[Mention]) -> list[tuple[Mention, str]]:
    """Find the names that a text defines as a party's, each with its role.

    Definitions are "Defendant Hale", "Hale (Mother)", and in the first sentences also "Defendant,
    Ann Hale," and "Ann Hale appeals".
    """
    sentences = split_sentences(text)
    introduction_end = 0
    if sentences:
        introduction_end = sentences[min(INTRODUCTION_SENTENCES, len(sentences)) - 1].end
    definitions = []
    for mention in mentions:
        role = _role_by_words(mention, text)
        if not role and mention.start < introduction_end:
            role = _role_in_introduction(mention, text)
        if role:
            definitions.append((mention, role))
    return definitions


def _role_by_words(mention: Mention, text: str) -> str:
    """The role before a name ("Defendant Hale") or in parentheses behind it, or ""."""
    head = text[mention.start : mention.end - len(mention.name)]
    is_relative = mention.role in v.FAMILY_ROLES and head.islower()
    if mention.role in v.PARTY_ROLES and not is_relative:
        return mention.role
    alias = _ALIAS_DEFINITION.match(text[mention.end : mention.end + 120])
    if alias and alias["alias"].lower() in v.ROLES:
        return alias["alias"].lower()
    return ""


def _role_in_introduction(mention: Mention, text: str) -> str:
    """The role that the introduction gives to a name ("Ann Hale appeals"), or ""."""
    preceding_text = text[max(0, mention.start - 30) : mention.start]
    following_text = text[mention.end : mention.end + 120]
    if following_text.startswith(","):
        role_match = _ROLE_BEFORE_NAME.search(preceding_text)
        if role_match:
            return role_match["role"].lower()
    family = _family_of(mention.kind)
    if family != "place" and _SUES_AFTER_NAME.match(following_text):
        return "plaintiff"
    if family != "place" and _SUED_BEFORE_NAME.search(preceding_text):
        return "defendant"
    if family != "place" and _APPEALS_AFTER_NAME.match(following_text):
        return "appellant"
    if family == "person" and _CONVICTED_AFTER_NAME.match(following_text):
        return "defendant"
    return ""


def find_entities(
    opinion: Opinion, background: str, lexicon: Lexicon, name_words: frozenset[str]
) -> Entities:
    """Find the parties, judges and counsel of an opinion, and all whom its background names.

    Args:
        opinion: with the names of its caption (`opinion.add_caption_names`).
        background: the part of the opinion that introduces people and organisations.
        lexicon: the words of the opinion.
        name_words: ordinary words that are names here (`collect_naming_words`).
    """
    mentions = MentionFinder(lexicon, name_words).find_mentions(background)
    entities = Entities([mention.words for mention in mentions if mention.kind == "person"])
    definitions = find_definitions(background, mentions)
    for name, side in opinion.parties:
        words = extract_name_words(name, lexicon)
        if words and not set(words) <= v.STATE_WORDS:
            keys = [normalise_word(word) for word in name.split()]
            kind = (v.find_kind(keys) if len(keys) > 1 else "") or "name"
            entities.add(
                Mention(0, 0, name, words, kind=kind), _find_role(words, side, definitions)
            )
    for mention, role in sorted(definitions, key=lambda definition: -len(definition[0].words)):
        entities.add(mention, role)
    for mention in mentions:
        entity = entities.add(mention)
        alias = _ALIAS_DEFINITION.match(background, mention.end)
        if alias and mention.kind != "state" and _is_defined_term(alias, lexicon):
            form = alias["alias"].strip()
            words = extract_name_words(form, lexicon) or tuple(normalise_word(form).split())
            entity.aliases.add(words)
            entity.surfaces.add(form)
            entities.aliases[form] = words
    return entities


def _is_defined_term(alias: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether an alias is a name, not a role or a common noun ("the Hospital")."""
    words = alias["alias"].split()
    keys = [normalise_word(word) for word in words]
    if lexicon.acronyms & set(words):
        return False
    if any(key in v.ROLES or key.removesuffix("s") in v.ROLES for key in keys):
        return False
    if keys[0] in v.COMPANY_STARTS or (len(keys) > 1 and not alias["the"]):
        return True
    return not all(lexicon.is_ordinary(word) or lexicon.is_common(word) for word in words)


def _find_role(words: Sequence[str], side: str, definitions: Sequence[tuple[Mention, str]]) -> str:
    """The role that the opinion gives to a party of the caption, or the side of the caption."""
    for mention, role in definitions:
        if role != "appellant" and set(mention.words) <= set(words):
            return role
    return side


def collect_naming_words(
    opinion: Opinion, background: str, lexicon: Lexicon, recognised_people: Sequence[str]
) -> frozenset[str]:
    """Collect the ordinary and customary words that are names in this opinion.

    Such a word is part of a full name, follows a title or an initial, or belongs to a name of the
    record, the caption or the recogniser. "in Pueblo" makes "Pueblo" the name of a town.
    """
    words = set(collect_record_words(opinion, lexicon))
    for mention in MentionFinder(lexicon).find_mentions(background):
        if mention.title in v.PERSONAL_TITLES or mention.kind == "person":
            words |= set(mention.words) - v.LINKING_WORDS
    for name in recognised_people:
        if len(name.split()) > 1:
            words |= set(extract_name_words(name, lexicon))
    words -= set(v.KIND_BY_NOUN)
    surnames = {normalise_word(name.split()[-1]) for name, _ in opinion.parties} & v.COMMON_SURNAMES
    return frozenset(words | set(_find_context_names(background, lexicon)) | surnames)


def collect_record_words(opinion: Opinion, lexicon: Lexicon) -> frozenset[str]:
    """The identifying words of the parties', judges' and counsel's names.

    A word that the opinion also writes in lower case does not identify.
    """
    words: set[str] = set()
    for name in [*(name for name, _ in opinion.parties), *opinion.judges, *opinion.counsel]:
        words |= set(extract_name_words(name, lexicon))
    return frozenset(word for word in words if not lexicon.lower_case_counts[word])


def _find_context_names(background: str, lexicon: Lexicon) -> Iterator[str]:
    """Find customary words that the preceding word makes names: "Deputy House", "in Pueblo"."""
    for match in _SURNAME_AFTER_NAME.finditer(background):
        is_title = normalise_word(match["before"]) in v.PERSONAL_TITLES
        if is_title or lexicon.is_distinctive(match["before"]):
            yield normalise_word(match["name"])
    for match in v.PLACE_OF_CUSTOMARY_WORDS.finditer(background):
        yield normalise_word(match["name"])


def map_pseudonyms(entities: Entities) -> Mapping[str, str]:
    """Map every form of a name to its pseudonym. No model sees this map."""
    pseudonyms = {}
    for entity in entities.entities:
        for surface in sorted(entity.surfaces):
            pseudonyms[surface] = entity.pseudonym
    return pseudonyms


def _find_holder(candidates: Sequence[Entity], word: str, kind: str, name: str) -> Entity | None:
    """Return the only entity that a single word identifies."""
    holders = [entity for entity in candidates if entity.has_word(word)]
    if len(holders) > 1:
        holders = [entity for entity in holders if entity.kind == kind != "person"]
    return holders[0] if len(holders) == 1 and holders[0].has_form(name) else None
