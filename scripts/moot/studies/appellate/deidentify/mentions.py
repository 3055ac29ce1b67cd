"""Find the names of a text: runs of capitalised words that are neither customary nor ordinary.

The rule is by exclusion. A capital within a sentence that legal style does not demand marks a name,
together with all capitalised words next to it. An ordinary word behind an article ("the Lease") is
not a name; `lower_ordinary_words` writes it in lower case.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    INITIALS,
    Lexicon,
    is_sentence_start,
    normalise_word,
)
from moot.studies.appellate.legal.sentences import split_sentences

_LINK = r"(?:of|of the|de|de la|de los|la|del|van|von|y|&|and|for)"
_SUFFIX = (
    r",? (?:Inc|Incorporated|Jr|Sr|Ltd|LLC|L\.L\.C|Co|Corp|II|III|P\.?C|P\.?A|N\.A|L\.?P|LLP)\b\.?"
)
_ABBREVIATED_TITLE = r"(?:Mr|Mrs|Ms|Messrs|Dr|Drs|Sgt|Lt|Capt|Hon|Prof|Rev|Gov|Sen|Det|Dep|Cpl)\."
_WORD = rf"(?:{_ABBREVIATED_TITLE}|{INITIALS}|{CAPITALISED}(?:(?<=s)['’](?=\s+[A-Z]))?)"
_RUN = re.compile(
    rf"(?<![\wÀ-ÿ'’]){_WORD}(?:\s+[\"“(][A-Z][\w]+[\"”)](?=\s+{_WORD})|"
    rf"\s+(?:{_LINK}\s+)?{_WORD})*(?:{_SUFFIX})?"
)
_PIECE = re.compile(rf"[\"“(]?{_WORD}[\"”)]?|[&\w]+")
_STATE = re.compile(rf"\b(?:{v.STATES})(?:['’]s)?\b")
_SPLITTING_WORDS = frozenset(
    "he she they it we i if but however when after before on in at as an a his her this that"
    " id whether".split()
)
_NOT_PART_OF_NAME = frozenset(
    "count counts exhibit exhibits section sections article title chapter paragraph part phase"
    " monday tuesday wednesday thursday friday saturday sunday estate estates office clerk"
    " id".split()
) | frozenset(v.MONTHS.lower().split("|"))
"""Customary words that precede a name and are not part of it: "Exhibit Hale", "Estate of Hale"."""
_LEGAL_FORMS = frozenset("inc corp co llc ltd jr sr company corporation".split())
_ENDS_WITH_SUFFIX = re.compile(rf"(?:{_SUFFIX})$")
_POINT_OF_SUFFIX = re.compile(r"\.(?=\s+[a-z(]|[,;:'’])")
_ENDS_COMPANY = re.compile(
    r"\b(?:Inc|Incorporated|Corp|Corporation|LLC|L\.L\.C|Ltd|Company|Co|Companies|Partners|Bank|"
    r"Enterprises)\b\.?$"
)
_INCORPORATED = re.compile(r"\b(?:Inc|Corp|LLC|L\.L\.C|Ltd|Co)\b")
_ARTICLE = re.compile(
    r"\b(?:the|a|an|this|that|such|its|his|her|their|our|any|each|every|no|said)\s+$", re.IGNORECASE
)
_FOLLOWS_PERSON = re.compile(
    r"\s+(?:testified|told|said|drove|walked|shot|pleaded|pled|lived|married|died|saw|heard|stated|"
    r"asked|was (?:born|arrested|driving|convicted|charged|sentenced|injured|killed|shot|a "
    r"passenger))\b|['’]s (?:car|truck|home|wife|husband|mother|father|testimony|death|injur\w+|"
    r"brother|sister|son|daughter)\b"
)
_PRECEDES_PERSON = re.compile(
    r"\b(?:brother|sister|wife|husband|son|daughter|mother|father|friend|victim|named|driver|child|"
    r"passenger|neighbor|cousin|uncle|aunt|nephew|niece|boyfriend|girlfriend|man|woman|employee|"
    r"manager|attorney|lawyer|children|clerk|psychiatrist|psychologist|physician|supervisor),?\s+$"
)
_PRECEDES_PLACE = re.compile(
    r"\b(?:in|near|outside|toward|onto|along|down|(?:driv\w+|drove|travel\w+|walk\w+|park\w+|"
    r"northbound|southbound|eastbound|westbound|lanes?|turn\w*|located|house|home) (?:on|to|off)|"
    r"(?:City|Town|Village) of)\s+$"
)
_FOLLOWS_PLACE = re.compile(rf",? (?:{v.STATES}|N\.M\.|County)\b")
_COLOURS = "red|blue|white|black|green|gold|silver|gr[ae]y|brown|tan|yellow|maroon|new|used|old"
_PRECEDES_THING = re.compile(
    rf"\b(?:a|an|the|{_COLOURS})\s+(?:{_COLOURS}\s+|year\S+\s+)?$", re.IGNORECASE
)
_NO_INITIALS = re.compile(
    r"(?:U\.?\s?S\.?(?:A\.?)?|[PA]\.\s?M\.?|D\.\s?C\.?|P\.?\s?[AC]\.?|I\.\s?D\.?|D\.?A\.?)",
    re.IGNORECASE,
)
_PRECEDES_ENUMERATION = re.compile(
    r"(?i)\b(?:exhibit|part|count|section|paragraph|tract|lot)s?\s+$"
)
_REST_OF_TITLE = re.compile(
    rf"(?: (?i:in|to|from|with|on|by|against) {CAPITALISED}(?: {CAPITALISED})*)+"
)
_START_OF_TITLE = re.compile(r"\b([A-Z]\w+) (?:for|to|of|in|on|by) (?:the )?$")
_LIST_SEPARATOR = re.compile(r",? and |, |,? & ")
_MAX_PERSON_WORDS = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and its place in a text.

    Attributes:
        start: the offset of the name, or of the title or role before it.
        end: the offset just behind the name.
        name: the name without title and role.
        words: the identifying words, as `lexicon.normalise_word` writes them.
        title: the title before the name in lower case and singular, or "".
        role: the role before the name in lower case and singular, or "".
        kind: what the title, the nouns of the name or its neighbours tell; "name" if nothing does.
        is_plural: whether the title belongs to several people ("Officers Hale and Moss").
    """

    start: int
    end: int
    name: str
    words: tuple[str, ...]
    title: str = ""
    role: str = ""
    kind: str = "name"
    is_plural: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    starts_sentence: bool
    key: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_initials(self) -> bool:
        return bool(re.fullmatch(INITIALS, self.text))

    @property
    def is_link(self) -> bool:
        """Whether the token links words. "Los" and "De" with a capital begin a name."""
        return self.key in v.LINKING_WORDS and (
            self.text.islower() or self.key in ("of", "the", "and", "for")
        )

    @property
    def is_head(self) -> bool:
        """Whether the token is a role or a title."""
        return self.key in v.ROLE_WORDS | v.TITLES


@dataclass(frozen=True)
class MentionFinder:
    """Finds the names of a text.

    Attributes:
        lexicon: the words of the opinion that the text comes from.
        naming_words: ordinary words that are names in this opinion, as `lexicon.normalise_word`
            writes them.
        aliases: the short forms that the opinion defines, each with the words of its name.
    """

    lexicon: Lexicon
    naming_words: Collection[str] = ()
    aliases: Mapping[str, tuple[str, ...]] | None = None

    def find_mentions(self, text: str) -> list[Mention]:
        """Return the mentions of a text in order and without overlap."""
        mentions: list[Mention] = []
        for sentence in split_sentences(text):
            for mention in sorted(self._find_in_sentence(sentence.text), key=lambda m: m.start):
                start, end = mention.start + sentence.start, mention.end + sentence.start
                placed_mention = replace(mention, start=start, end=end)
                previous = mentions[-1] if mentions else None
                if previous and _shares_title(previous, placed_mention, text):
                    placed_mention = replace(
                        placed_mention,
                        title=previous.title,
                        role=previous.role,
                        kind=previous.kind,
                        is_plural=True,
                    )
                mentions.append(placed_mention)
        return mentions

    def _find_in_sentence(self, sentence: str) -> Iterator[Mention]:
        """Find aliases and states first; hide them, then read the runs of capitalised words."""
        visible = sentence
        for mention in [*self._find_aliases(visible), *self._find_states(visible)]:
            start, end = mention.start, mention.end
            if "·" not in visible[start:end]:
                visible = f"{visible[:start]}{'·' * (end - start)}{visible[end:]}"
                yield mention
        for run in _RUN.finditer(visible):
            for stretch in _split_stretches(_tokenise_run(run, sentence)):
                if mention_of_stretch := self._build_mention(stretch, sentence):
                    yield mention_of_stretch

    def _find_aliases(self, sentence: str) -> Iterator[Mention]:
        """Find the aliases that the opinion defines. A capitalised word next to one is separate."""
        for alias, words in (self.aliases or {}).items():
            for match in re.finditer(
                rf"(?<![\w'’-]){re.escape(alias)}(?![\w-])(?!{_SUFFIX}| [A-Z])", sentence
            ):
                yield Mention(match.start(), match.end(), alias, words)

    def _find_states(self, sentence: str) -> Iterator[Mention]:
        """Find the states of the USA. "Virginia Hale" is a person."""
        for match in _STATE.finditer(sentence):
            next_word = re.match(rf"\s+({CAPITALISED})", sentence[match.end() :])
            has_surname = next_word and self.lexicon.is_distinctive(next_word[1])
            if " " in match[0] or not has_surname:
                name = re.sub(r"['’]s$", "", match[0])
                words = tuple(normalise_word(name).split())
                yield Mention(match.start(), match.start() + len(name), name, words, kind="state")

    def _build_mention(self, tokens: list[_Token], sentence: str) -> Mention | None:
        """Build the mention of a stretch. Return None if the stretch is not a name."""
        head, tokens = _split_head(tokens)
        titles = [token.key for token in head if token.key not in v.ROLE_WORDS]
        tokens = self._trim_tokens(tokens, sentence, has_title=bool(titles))
        if not tokens or _is_lone_title(tokens):
            return None
        name = _extract_name(tokens, sentence)
        is_addressed = bool(titles) and titles[-1] in (*v.FORMS_OF_ADDRESS, "dr")
        if not is_addressed and not self._is_name(tokens, name, sentence, head):
            return None
        end = tokens[0].start + len(name)
        title, role, start = _read_head(head, sentence, tokens[0].start)
        singular_title = _singular_of_title(title)
        mention = Mention(
            start,
            end,
            name,
            self._identifying_words(tokens),
            singular_title,
            role.removesuffix("s"),
        )
        kind = self._classify(mention, [token.key for token in tokens], sentence)
        is_plural = singular_title != title or (not title and role in v.PLURAL_ROLES)
        return replace(mention, kind=kind, is_plural=is_plural)

    def _identifying_words(self, tokens: Sequence[_Token]) -> tuple[str, ...]:
        """The identifying words of a name, or all its words but links if none identifies."""
        identifying_words = [token.key for token in tokens if self._identifies(token)]
        if identifying_words:
            return tuple(identifying_words)
        return tuple(token.key for token in tokens if token.key not in v.LINKING_WORDS)

    def _identifies(self, token: _Token) -> bool:
        if token.key in v.LINKING_WORDS | _LEGAL_FORMS:
            return False
        if token.is_initials:
            return len(token.key) > 1
        return token.key in self.naming_words or not self.lexicon.is_common(token.text)

    def _trim_tokens(
        self, tokens: Sequence[_Token], sentence: str, *, has_title: bool
    ) -> list[_Token]:
        """Remove links at both ends, and the words at the start that belong to the sentence."""
        trimmed_tokens = list(tokens)
        while trimmed_tokens and self._belongs_to_sentence(
            trimmed_tokens, sentence, has_title=has_title
        ):
            if v.is_name_of_common_words([token.key for token in trimmed_tokens]):
                break
            trimmed_tokens.pop(0)
        keys = [token.key for token in trimmed_tokens]
        if keys[:3] == ["district", "court", "of"]:
            trimmed_tokens = trimmed_tokens[3:]
        while trimmed_tokens and _ends_outside_name(trimmed_tokens):
            trimmed_tokens.pop()
        return trimmed_tokens

    def _belongs_to_sentence(
        self, tokens: Sequence[_Token], sentence: str, *, has_title: bool
    ) -> bool:
        """Whether the first token of a stretch is a link or an ordinary word of the sentence."""
        token = tokens[0]
        if token.is_link or token.key in _NOT_PART_OF_NAME - set(self.naming_words):
            return True
        if has_title or not token.starts_sentence or token.is_initials:
            return False
        if token.key in self.naming_words or self._opens_organisation(tokens):
            return False
        is_alone = len(tokens) == 1 or not self.lexicon.is_distinctive(tokens[1].text)
        if is_alone and self.lexicon.opens_sentences_only(token.text):
            return not _FOLLOWS_PERSON.match(sentence, token.end)
        return self.lexicon.is_ordinary(token.text) and not self.lexicon.can_be_name(token.text)

    def _opens_organisation(self, tokens: Sequence[_Token]) -> bool:
        """Whether the first token opens an organisation: "Harbor Division" is all name."""
        if len(tokens) < 2 or tokens[0].key in v.ROLE_WORDS:
            return False
        if tokens[0].key in v.list_opening_words():
            return tokens[0].key == "first" and tokens[1].key in ("bank", "national", "state")
        return v.find_kind([tokens[-1].key]) in v.ORGANISATION_KINDS

    def _is_name(
        self, tokens: Sequence[_Token], name: str, sentence: str, head: Sequence[_Token]
    ) -> bool:
        """Whether a stretch is a name.

        A stretch is a name by a word that is neither customary nor ordinary, by personal initials,
        by its title, or because it has no article. A law or a document whose words all are English
        ("the Age Discrimination Act") is not.
        """
        preceding_text = sentence[: tokens[0].start]
        words = [token for token in tokens if not token.is_initials]
        uncommon_words = [token for token in words if not self.lexicon.is_common(token.text)]
        has_naming_word = any(token.key in self.naming_words for token in tokens)
        if v.is_name_of_common_words([token.key for token in tokens]):
            return True
        if not has_naming_word and self._is_law_or_document(words, sentence):
            return False
        has_surname = any(not self.lexicon.is_ordinary(token.text) for token in uncommon_words)
        if any(
            self.lexicon.is_distinctive(token.text) for token in words
        ) or _has_personal_initials(tokens, preceding_text, has_surname=has_surname):
            return True
        return self._is_name_by_context(tokens, name, sentence, head, words, uncommon_words)

    def _is_name_by_context(
        self,
        tokens: Sequence[_Token],
        name: str,
        sentence: str,
        head: Sequence[_Token],
        words: Sequence[_Token],
        uncommon_words: Sequence[_Token],
    ) -> bool:
        """Whether a title, a missing article or a company's form tells a name."""
        preceding_text = sentence[: tokens[0].start]
        has_naming_word = any(token.key in self.naming_words for token in tokens)
        has_article = bool(_ARTICLE.search(preceding_text))
        has_title = any(token.key in v.TITLES for token in head)
        is_titled_name = has_title and uncommon_words and not tokens[0].starts_sentence
        if is_titled_name or has_naming_word:
            # "alleging that Land left" has no article.
            return has_title or not has_article or preceding_text.rstrip().endswith("that")
        is_company = _is_company_name(name, words, tokens, has_article=has_article)
        if is_company and (uncommon_words or _ENDS_COMPANY.search(name)):
            return True
        can_be_name = any(self.lexicon.can_be_name(token.text) for token in uncommon_words)
        return can_be_name and not has_article and len(uncommon_words) == len(tokens)

    def _is_law_or_document(self, words: Sequence[_Token], sentence: str) -> bool:
        """Whether a law or a document is called by English words only."""
        keys = [word.key for word in words if word.key not in v.LINKING_WORDS]
        if words and (rest := _REST_OF_TITLE.match(sentence, words[-1].end)):
            keys += rest[0].lower().split()
        if words and (beginning := _START_OF_TITLE.search(sentence[: words[0].start])):
            keys.insert(0, beginning[1].lower())
        if len(keys) < 2 or not any(v.DOCUMENT_NOUN.fullmatch(keys[end]) for end in (0, -1)):
            return False
        return all(self.lexicon.is_plain(key) for key in keys)

    def _classify(self, mention: Mention, keys: Sequence[str], sentence: str) -> str:
        """Return the kind of a name by its title, its own nouns and its neighbours."""
        if mention.title:
            return v.KINDS_BY_TITLE.get(mention.title, "person")
        preceding_text = sentence[: mention.start]
        noun_kind = v.find_kind(keys) if len(keys) > 1 else ""
        if noun_kind or keys[0] in v.COMPANY_STARTS:
            return noun_kind or "company"
        if _FOLLOWS_PERSON.match(sentence, mention.end) or _PRECEDES_PERSON.search(preceding_text):
            return "person"
        if _FOLLOWS_PLACE.match(sentence, mention.end) or _PRECEDES_PLACE.search(preceding_text):
            return "place"
        return "person" if self._has_form_of_person(mention, preceding_text) else "name"

    def _has_form_of_person(self, mention: Mention, preceding_text: str) -> bool:
        """Whether a name consists of a given name and a surname or of personal initials."""
        words = [word for word in mention.name.split() if len(word) > 1]
        if not 1 < len(words) <= _MAX_PERSON_WORDS or _PRECEDES_THING.search(preceding_text):
            return False
        surname = normalise_word(words[-1])
        is_english = self.lexicon.is_ordinary(surname) or v.is_english(surname)
        is_surname = surname in v.ALSO_NAMES or not is_english
        return is_surname and not any(self.lexicon.is_common(word) for word in words[1:-1])


_LOWER_CASE_HEAD = re.compile(
    r"\b(?:(?:the|his|her|a) )?"
    rf"({'|'.join(sorted(v.ROLE_WORDS | v.TITLES, key=len, reverse=True))})\.?\s+$",
    re.IGNORECASE,
)


def _shares_title(previous: Mention, mention: Mention, text: str) -> bool:
    """Whether a mention continues a list behind a plural title ("Officers Hale and Moss")."""
    if not previous.is_plural or mention.title or mention.role:
        return False
    return _LIST_SEPARATOR.fullmatch(text[previous.end : mention.start]) is not None


def _split_head(tokens: list[_Token]) -> tuple[list[_Token], list[_Token]]:
    """Split the roles and titles off the start of a stretch; the last token always stays.

    A possessive and what precedes it are dropped: in "Plaintiff's Hale", Hale is not a party.
    """
    head: list[_Token] = []
    while len(tokens) > 1 and tokens[0].is_head:
        is_possessive = re.search(r"['’]s?$", tokens[0].text)
        head = [] if is_possessive else [*head, tokens[0]]
        tokens = tokens[1:]
    return head, tokens


def _ends_outside_name(tokens: Sequence[_Token]) -> bool:
    """Whether a stretch ends with a link or with the court behind a county's name."""
    keys = [token.key for token in tokens]
    return (
        tokens[-1].is_link
        or keys[-2:] == ["district", "court"]
        or keys[-2:] == ["county", "district"]
    )


def _is_lone_title(tokens: Sequence[_Token]) -> bool:
    return len(tokens) == 1 and (tokens[0].is_head or tokens[0].key in v.LINKING_WORDS)


def _extract_name(tokens: Sequence[_Token], sentence: str) -> str:
    """The name as the sentence writes it, without possessive and closing quotation mark."""
    start = tokens[0].start
    name = re.sub(r"['’]s?$|[\"“”()]+$", "", sentence[start : tokens[-1].end]).rstrip(" ,")
    if _POINT_OF_SUFFIX.match(sentence, start + len(name)) and _ENDS_WITH_SUFFIX.search(name):
        return f"{name}."
    return name


def _read_head(head: Sequence[_Token], sentence: str, name_start: int) -> tuple[str, str, int]:
    """The title and the role before a name, and where the mention starts.

    A comma separates a title and a role from the name.
    """
    if head:
        if re.search(r"[,;]", sentence[head[0].start : name_start]):
            return "", "", name_start
        titles = [token.key for token in head if token.key not in v.ROLE_WORDS]
        roles = [token.key for token in head if token.key in v.ROLE_WORDS]
        return titles[-1] if titles else "", roles[-1] if roles else "", head[0].start
    match = _LOWER_CASE_HEAD.search(sentence[:name_start])
    if match is None:
        return "", "", name_start
    key = normalise_word(match[1])
    return ("", key, match.start()) if key in v.ROLE_WORDS else (key, "", match.start())


def _singular_of_title(title: str) -> str:
    """The singular of a plural title ("officers"); any other title as it is."""
    singular_title = "deputy" if title == "deputies" else title.removesuffix("s")
    is_plural = title not in v.KINDS_BY_TITLE and singular_title in v.KINDS_BY_TITLE
    return singular_title if is_plural else title


def _has_personal_initials(
    tokens: Sequence[_Token], preceding_text: str, *, has_surname: bool
) -> bool:
    """Whether a stretch has a person's initials: several of them, or one with a surname.

    "U.S.", "p.m." and the letter of an enumeration are none.
    """
    for token in tokens:
        if not token.is_initials or _NO_INITIALS.fullmatch(token.text.strip()):
            continue
        if not _PRECEDES_ENUMERATION.search(preceding_text):
            return has_surname or len(token.key) > 1
    return False


def _is_company_name(
    name: str, words: Sequence[_Token], tokens: Sequence[_Token], *, has_article: bool
) -> bool:
    """Whether several words name a company, by its legal form or without an article."""
    word_kind = v.find_kind([words[-1].key]) if words else ""
    ends_like_company = _ENDS_COMPANY.search(name) or word_kind in v.ORGANISATION_KINDS
    if len(tokens) < 2 or not ends_like_company:
        return False
    return not has_article or _INCORPORATED.search(name) is not None


def _tokenise_run(run: re.Match[str], sentence: str) -> list[_Token]:
    tokens = []
    for piece in _PIECE.finditer(run[0]):
        start = run.start() + piece.start()
        starts_sentence = is_sentence_start(sentence[:start])
        tokens.append(_Token(piece[0], start, starts_sentence, normalise_word(piece[0])))
    return tokens


def _split_stretches(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Split a run at pronouns and before a role or title behind a name; a title begins a part."""
    stretch: list[_Token] = []
    for position, token in enumerate(tokens):
        if _separates_names(tokens, position, stretch):
            yield stretch
            stretch = []
        elif _starts_stretch(token, stretch):
            yield stretch
            stretch = [token]
        else:
            stretch.append(token)
    yield stretch


def _separates_names(tokens: Sequence[_Token], position: int, stretch: Sequence[_Token]) -> bool:
    """Whether a token stands between two names and is part of neither."""
    token = tokens[position]
    if token.key in ("and", "for"):
        return not _is_inside_name(tokens, position)
    if token.key == "of" and stretch:
        # "Officer Hale of the Police"
        return stretch[0].key in v.PERSONAL_TITLES
    return token.key in _SPLITTING_WORDS


def _starts_stretch(token: _Token, stretch: Sequence[_Token]) -> bool:
    """Whether a role, or a title that no other title precedes, follows a name."""
    if not any(previous.key not in v.ROLE_WORDS | v.LINKING_WORDS for previous in stretch):
        return False
    if token.key.removesuffix("s") in v.PARTY_ROLES:
        return True
    return token.key in v.TITLES and stretch[-1].key not in v.TITLES | v.LINKING_WORDS


def _is_inside_name(tokens: Sequence[_Token], position: int) -> bool:
    """Whether "and" or "for" is inside one name ("Game and Fish Department").

    Neither neighbour is a role or a title, and what follows ends with a word of an organisation.
    """
    following_keys = []
    for token in tokens[position + 1 :]:
        if token.key in ("and", "for"):
            break
        following_keys.append(token.key)
    if not following_keys:
        return False
    if tokens[position].key == "for" and tokens[position - 1].key in v.NAMED_WITH_FOR:
        return True
    neighbours = {tokens[position - 1].key, following_keys[0]}
    if neighbours & (v.ROLE_WORDS | v.TITLES):
        return False
    return v.find_kind(following_keys[-1:]) in v.ORGANISATION_KINDS


def lower_ordinary_words(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> str:
    """Write the capitalised ordinary words within sentences in lower case.

    "the Lease" becomes "the lease". Words of a mention and customary words stay.
    """
    pieces = list(text)
    for sentence in split_sentences(text):
        for match in re.finditer(CAPITALISED, sentence.text):
            start = sentence.start + match.start()
            is_in_mention = any(mention.start <= start < mention.end for mention in mentions)
            if is_in_mention or lexicon.is_common(match[0]):
                continue
            if not is_sentence_start(sentence.text[: match.start()]):
                pieces[start : start + len(match[0])] = match[0].lower()
    return "".join(pieces)
