"""Find the names of a text: runs of capitalised words that are neither customary nor ordinary.

The rule is by exclusion. A capital within a sentence that legal style does not demand marks a name,
together with all capitalised words next to it. The title, the own nouns or the neighbours of a name
tell its kind.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    INITIALS,
    Lexicon,
    is_sentence_start,
    normalise_word,
)
from moot.studies.appellate.legal.sentences import split_sentences

_SUFFIX = (
    r",? (?:Inc|Incorporated|Jr|Sr|Ltd|LLC|L\.L\.C|Co|Corp|II|III|P\.?C|P\.?A|N\.A|L\.?P|LLP)\b\.?"
)
_ABBREVIATED_TITLE = r"(?:Mr|Mrs|Ms|Messrs|Dr|Drs|Sgt|Lt|Capt|Hon|Prof|Rev|Gov|Sen|Det|Dep|Cpl)\."
_WORD = rf"(?:{_ABBREVIATED_TITLE}|{INITIALS}|{CAPITALISED}(?:(?<=s)['’](?=\s+[A-Z]))?)"
_LINK = r"(?:of|of the|de|de la|de los|la|del|van|von|y|&|and|for)"
_RUN = re.compile(
    rf"(?<![\wÀ-ÿ'’]){_WORD}(?:\s+[\"“(][A-Z][\w]+[\"”)](?=\s+{_WORD})|"
    rf"\s+(?:{_LINK}\s+)?{_WORD})*(?:{_SUFFIX})?"
)
_PIECE = re.compile(rf"[\"“(]?{_WORD}[\"”)]?|[&\w]+")
_STATE = rf"\b(?:{w.STATES})\b(?=\s+(?P<surname>{CAPITALISED})|)"
_POINT_OF_SUFFIX = re.compile(r"\.(?=\s+[a-z(]|[,;:'’])")
_LEGAL_FORM = re.compile(rf"\b(?:{w.join_words('legal_forms')})\b\.?$")
_ARTICLE = re.compile(rf"(?i)\b(?:{w.join_words('articles')})\s+$")
_HEAD_WORDS = frozenset(word.casefold() for word in w.ROLE_WORDS | w.KIND_BY_TITLE.keys())
_TAIL_CHARS = 32
"""More characters than a title or a role has."""
_HEAD_WORD = rf"(?i:{w.match_any(w.ROLE_WORDS | w.KIND_BY_TITLE.keys())})\.?"
_HEAD = re.compile(
    rf"\b(?:(?i:the|his|her|a) )?({_HEAD_WORD}(?:(?: (?:and |of )?|-){_HEAD_WORD})*)\s+$"
)
"""The titles and roles before a name, with the article."""
_REST_OF_TITLE = re.compile(
    rf"(?: (?i:in|to|from|with|on|by|against) {CAPITALISED}(?: {CAPITALISED})*)+"
)
_START_OF_TITLE = re.compile(r"\b([A-Z]\w+) (?:for|to|of|in|on|by) (?:the )?$")
_PATTERNS = w.read_patterns("names.yaml")
FOLLOWS_PERSON = _PATTERNS["behind_person"]
_THING = re.compile(r"\b(?:an?|the|red|blue|white|black|green|new|used|old|\d{4})\s+$", re.I)
_MAX_PERSON_WORDS = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and its place in a text.

    Attributes:
        start: the offset of the name, or of the title or role before it.
        end: the offset just behind the name.
        name: the name without title and role.
        words: the identifying words, as `lexicon.normalise_word` writes them.
        title: the title before the name in lower case, or "".
        role: the role before the name in lower case, or "".
        kind: what the title, the nouns of the name or its neighbours tell; "name" if nothing does.
    """

    start: int
    end: int
    name: str
    words: tuple[str, ...]
    title: str = ""
    role: str = ""
    kind: str = "name"


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    key: str
    starts_sentence: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_initials(self) -> bool:
        """Whether the token is a person's initials; "U.S." and "p.m." are not."""
        is_other = _PATTERNS["no_initials"].fullmatch(self.text) is not None
        return not is_other and re.fullmatch(INITIALS, self.text) is not None

    @property
    def is_link(self) -> bool:
        """Whether the token links words. "Los" and "De" with a capital begin a name."""
        is_english = self.key in ("of", "the", "and", "for")
        return self.key in w.LINKING_WORDS and (self.text.islower() or is_english)

    @property
    def is_head(self) -> bool:
        """Whether the token is a role or a title."""
        return self.key in w.ROLE_WORDS or self.key in w.KIND_BY_TITLE


@dataclass(frozen=True)
class MentionFinder:
    """Finds the names of a text.

    Attributes:
        lexicon: the words of the opinion that the text comes from.
        naming_words: ordinary words that are names in this opinion.
        aliases: the short forms that the opinion defines.
    """

    lexicon: Lexicon
    naming_words: frozenset[str] = frozenset()
    aliases: Collection[str] = ()

    def find_mentions(self, text: str) -> list[Mention]:
        """Return the mentions of a text in order and without overlap."""
        mentions: list[Mention] = []
        for sentence in split_sentences(text):
            offset = sentence.start
            for mention in sorted(self._find_in_sentence(sentence.text), key=lambda m: m.start):
                moved = replace(mention, start=mention.start + offset, end=mention.end + offset)
                if mentions and _continues_list(mentions[-1], moved, text):
                    title, kind = mentions[-1].title, mentions[-1].kind
                    moved = replace(moved, title=title, role=mentions[-1].role, kind=kind)
                mentions.append(moved)
        return mentions

    def _find_in_sentence(self, sentence: str) -> Iterator[Mention]:
        """Find aliases and states first; hide them, then read the runs of capitalised words."""
        visible = sentence
        aliases = "|".join(map(re.escape, self.aliases)) or "(?!)"
        fixed_names = rf"(?<![\w'’-])(?:{aliases})(?![\w-])(?!{_SUFFIX}| [A-Z&])|{_STATE}"
        for match in re.finditer(fixed_names, sentence):
            surname = match["surname"] or "the"
            if " " in match[0] or not self.lexicon.is_distinctive(surname):
                mask = "·" * len(match[0])
                visible = f"{visible[: match.start()]}{mask}{visible[match.end() :]}"
                kind = "name" if match[0] in self.aliases else "state"
                words = tuple(match[0].lower().split())
                yield Mention(*match.span(), match[0], words, kind=kind)
        for run in _RUN.finditer(visible):
            for tokens in filter(None, _split_run(_tokenise(run, sentence))):
                if run_mention := self._build_mention(tokens, sentence):
                    yield run_mention

    def _build_mention(self, tokens: list[_Token], sentence: str) -> Mention | None:
        """Build the mention of a stretch. Return None if the stretch is not a name."""
        while len(tokens) > 1 and tokens[0].is_head:
            tokens = tokens[1:]
        title, role, start = _read_head(sentence, tokens[0].start)
        name_tokens = self._trim_tokens(tokens, sentence, has_title=bool(title))
        if not name_tokens or (len(name_tokens) == 1 and name_tokens[0].is_head):
            return None
        if name_tokens[0] is not tokens[0]:
            title, role, start = "", "", name_tokens[0].start
        if not self._is_name(name_tokens, sentence, title):
            return None
        name = _extract_name(name_tokens, sentence)
        end = name_tokens[0].start + len(name)
        words = self._list_identifying_words(name_tokens)
        mention = Mention(start, end, name, words, title, role)
        keys = [token.key for token in name_tokens]
        return replace(mention, kind=self._find_kind(mention, keys, sentence))

    def _find_kind(self, mention: Mention, keys: Sequence[str], sentence: str) -> str:
        """Return the kind of a name by its title, its own nouns and its neighbours."""
        if mention.title:
            return w.KIND_BY_TITLE[mention.title]
        if len(keys) > 1 and (kind := w.find_kind(keys)):
            return kind
        if keys[0] in w.COMPANY_STARTS:
            return "company"
        preceding_text = sentence[: mention.start]
        for kind in ("person", "place"):
            is_behind = _PATTERNS[f"behind_{kind}"].match(sentence, mention.end)
            if is_behind or _PATTERNS[f"before_{kind}"].search(preceding_text):
                return kind
        return "person" if self._has_form_of_person(mention, preceding_text) else "name"

    def _has_form_of_person(self, mention: Mention, preceding_text: str) -> bool:
        """Return whether a name consists of two to four words and ends with a surname."""
        words = [word for word in mention.name.split() if len(word) > 1]
        if not 1 < len(words) <= _MAX_PERSON_WORDS or _THING.search(preceding_text):
            return False
        surname = normalise_word(words[-1])
        is_english = self.lexicon.is_ordinary(surname) or w.is_english(surname)
        has_common_word = any(self.lexicon.is_common(word) for word in words[:-1])
        return (surname in w.ALSO_NAMES or not is_english) and not has_common_word

    def _list_identifying_words(self, tokens: Sequence[_Token]) -> tuple[str, ...]:
        """Return the identifying words of a name, or all its words but links if none identifies."""
        words = [token.key for token in tokens if token.key not in w.LINKING_WORDS]
        identifying_words = []
        for token in tokens:
            is_rare = token.key in self.naming_words or not self.lexicon.is_common(token.text)
            is_letter = token.is_initials and len(token.key) == 1
            if token.key in words and is_rare and not is_letter:
                identifying_words.append(token.key)
        return tuple(identifying_words or words)

    def _trim_tokens(
        self, tokens: Sequence[_Token], sentence: str, *, has_title: bool
    ) -> list[_Token]:
        """Remove links at both ends, and the words at the start that belong to the sentence."""
        trimmed = list(tokens)
        while trimmed and not w.is_name_of_common_words([token.key for token in trimmed]):
            if not self._belongs_to_sentence(trimmed, sentence, has_title=has_title):
                break
            trimmed.pop(0)
        if [token.key for token in trimmed[-2:]] == ["district", "court"]:
            trimmed = trimmed[:-2]
        while trimmed and trimmed[-1].is_link:
            trimmed.pop()
        return trimmed

    def _belongs_to_sentence(
        self, tokens: Sequence[_Token], sentence: str, *, has_title: bool
    ) -> bool:
        """Return whether a stretch begins with a link or an ordinary word of the sentence."""
        token = tokens[0]
        if token.key in self.naming_words or (has_title and not token.is_link):
            return False
        if token.is_link or token.key in w.BEFORE_NAMES:
            return True
        if not token.starts_sentence or token.is_initials:
            return False
        if [token.key for token in tokens[:2]] in (["first", "bank"], ["first", "state"]):
            return False
        is_alone = len(tokens) == 1 or not self.lexicon.is_distinctive(tokens[1].text)
        if is_alone and self.lexicon.opens_sentences_only(token.text):
            return not FOLLOWS_PERSON.match(sentence, token.end)
        return self.lexicon.is_ordinary(token.text) and token.key not in w.ALSO_NAMES

    def _is_name(self, tokens: Sequence[_Token], sentence: str, title: str) -> bool:
        """Return whether a stretch is a name: by its words, its initials or its title.

        A law or a document whose words all are English ("the Age Discrimination Act") is not.
        """
        keys = [token.key for token in tokens]
        if w.is_name_of_common_words(keys) or title in w.ADDRESSES:
            return True
        has_naming_word = not self.naming_words.isdisjoint(keys)
        words = [token for token in tokens if not token.is_initials]
        if not has_naming_word and self._is_law_or_document(words, sentence):
            return False
        has_initials = any(token.is_initials and len(token.key) > 1 for token in tokens)
        if has_initials or any(self.lexicon.is_distinctive(token.text) for token in words):
            return True
        is_personal = title in w.PERSONAL_TITLES
        if _ARTICLE.search(sentence[: tokens[0].start]) and not is_personal:
            return has_naming_word and bool(title)
        return has_naming_word or self._ends_like_name(tokens, is_personal=is_personal)

    def _ends_like_name(self, tokens: Sequence[_Token], *, is_personal: bool) -> bool:
        """Return whether ordinary words, with a personal title or not, end like a name."""
        is_surname = tokens[-1].key in w.ALSO_NAMES
        if all(token.is_initials or self.lexicon.is_common(token.text) for token in tokens):
            return is_personal and is_surname
        is_organisation = w.find_kind([tokens[-1].key]) in w.ORGANISATION_KINDS
        return is_personal or is_surname or (is_organisation and len(tokens) > 1)

    def _is_law_or_document(self, words: Sequence[_Token], sentence: str) -> bool:
        """Return whether a law or a document is called by English words only."""
        keys = [word.key for word in words if word.key not in w.LINKING_WORDS]
        if words and (rest := _REST_OF_TITLE.match(sentence, words[-1].end)):
            keys += rest[0].lower().split()
        if words and (beginning := _START_OF_TITLE.search(sentence[: words[0].start])):
            keys.insert(0, beginning[1].lower())
        if len(keys) < 2 or not any(w.DOCUMENT_NOUN.fullmatch(keys[end]) for end in (0, -1)):
            return False
        return all(self.lexicon.is_plain(key) for key in keys)


def _continues_list(previous: Mention, mention: Mention, text: str) -> bool:
    """Return whether a mention continues a list after a plural title: "Officers Hale and Moss"."""
    head = previous.title or previous.role
    if not head.endswith("s") or head in ("mrs", "ms") or mention.title or mention.role:
        return False
    return text[previous.end : mention.start] in (" and ", ", ", ", and ", ", & ", " & ")


def _extract_name(tokens: Sequence[_Token], sentence: str) -> str:
    """Return the name as the sentence writes it, without possessive and closing quotation mark."""
    start = tokens[0].start
    name = re.sub(r"['’]s?$|[\"“”()]+$", "", sentence[start : tokens[-1].end]).rstrip(" ,")
    if _POINT_OF_SUFFIX.match(sentence, start + len(name)) and _LEGAL_FORM.search(name):
        return f"{name}."
    return name


def _read_head(sentence: str, name_start: int) -> tuple[str, str, int]:
    """Return the last title and the last role before a name, and where the mention starts."""
    preceding_text = sentence[:name_start]
    head = _HEAD.search(preceding_text) if _may_end_with_head(preceding_text) else None
    if head is None:
        return "", "", name_start
    keys = [normalise_word(word) for word in re.split(r"[\s-]+", head[1])]
    titles = [key for key in keys if key in w.KIND_BY_TITLE and key not in w.ROLE_WORDS]
    roles = [key for key in keys if key in w.ROLE_WORDS]
    return titles[-1] if titles else "", roles[-1] if roles else "", head.start()


def _may_end_with_head(text: str) -> bool:
    """Return whether the last word of a text is a title or a role; white space follows it."""
    stripped_text = text.rstrip()
    last_word = re.split(r"[\W\d_]+", stripped_text[-_TAIL_CHARS:].removesuffix("."))[-1]
    return len(stripped_text) < len(text) and last_word.casefold() in _HEAD_WORDS


def _tokenise(run: re.Match[str], sentence: str) -> list[_Token]:
    tokens = []
    for piece in _PIECE.finditer(run[0]):
        start = run.start() + piece.start()
        starts_sentence = is_sentence_start(sentence[:start])
        tokens.append(_Token(piece[0], start, normalise_word(piece[0]), starts_sentence))
    return tokens


def _split_run(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Split a run at words between names, and before a role or title behind a name."""
    stretch: list[_Token] = []
    for position, token in enumerate(tokens):
        if _separates_names(tokens, position, stretch):
            yield stretch
            stretch = []
            continue
        has_name = any(not (previous.is_head or previous.is_link) for previous in stretch)
        if has_name and token.is_head and not stretch[-1].is_link:
            yield stretch
            stretch = []
        stretch.append(token)
    yield stretch


def _separates_names(tokens: Sequence[_Token], position: int, stretch: Sequence[_Token]) -> bool:
    """Return whether a token stands between two names and is part of neither.

    "and" and "for" are inside a name whose end tells an organisation ("Game and Fish Department").
    """
    token = tokens[position]
    if token.key == "of" and stretch:
        return stretch[0].key in w.PERSONAL_TITLES or stretch[-1].key == "court"
    if token.key not in ("and", "for"):
        return token.key in w.SEPARATORS
    following = tokens[position + 1 :]
    if not following or not stretch or following[0].is_head or stretch[-1].is_head:
        return True
    is_before_and = token.key == "for" and stretch[-1].key in w.KIND_BY_NOUN
    return not is_before_and and w.find_kind([following[-1].key]) not in w.ORGANISATION_KINDS
