"""Find the names of a text: runs of capitalised words that are neither customary nor ordinary.

The rule is by exclusion. A capital within a sentence that legal style does not demand marks a name,
together with all capitalised words next to it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.kinds import FOLLOWS_PERSON, Mention, find_kind_in_sentence
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
_STATE = re.compile(rf"\b(?:{w.STATES})\b(?=\s+(?P<surname>{CAPITALISED})|)")
_POINT_OF_SUFFIX = re.compile(r"\.(?=\s+[a-z(]|[,;:'’])")
_LEGAL_FORM = re.compile(
    r"\b(?:Inc|Incorporated|Corp|Corporation|LLC|L\.L\.C|Ltd|Company|Co|Companies|Partners|Bank|"
    r"Enterprises|Jr|Sr)\b\.?$"
)
_ARTICLE = re.compile(
    r"\b(?:the|a|an|this|such|its|his|her|their|our|any|each|every|no|said)\s+$", re.IGNORECASE
)
_NO_INITIALS = re.compile(
    r"(?:U\.?\s?S\.?(?:A\.?)?|[PA]\.\s?M\.?|D\.\s?C\.?|P\.?\s?[AC]\.?|I\.\s?D\.?|D\.?A\.?)"
)
_LOWER_CASE_HEAD = re.compile(
    rf"\b(?:(?:the|his|her|a) )?({w.match_any(w.ROLE_WORDS | w.KIND_BY_TITLE.keys())})\.?\s+$",
    re.IGNORECASE,
)
_REST_OF_TITLE = re.compile(
    rf"(?: (?i:in|to|from|with|on|by|against) {CAPITALISED}(?: {CAPITALISED})*)+"
)
_START_OF_TITLE = re.compile(r"\b([A-Z]\w+) (?:for|to|of|in|on|by) (?:the )?$")
_LIST_SEPARATOR = re.compile(r",? and |, |,? & ")


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
        return re.fullmatch(INITIALS, self.text) is not None

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
        for match in self._iter_fixed_names(sentence):
            start, end, name = match.start(), match.end(), match[0]
            if "·" not in visible[start:end]:
                visible = f"{visible[:start]}{'·' * len(name)}{visible[end:]}"
                kind = "name" if name in self.aliases else "state"
                yield Mention(start, end, name, tuple(name.lower().split()), kind=kind)
        for run in _RUN.finditer(visible):
            for tokens in _split_run(_tokenise(run, sentence)):
                if run_mention := self._build_mention(tokens, sentence):
                    yield run_mention

    def _iter_fixed_names(self, sentence: str) -> Iterator[re.Match[str]]:
        """Find the aliases and the states of the USA. "Virginia Hale" is a person."""
        for alias in self.aliases:
            pattern = rf"(?<![\w'’-]){re.escape(alias)}(?![\w-])(?!{_SUFFIX}| [A-Z&])"
            yield from re.finditer(pattern, sentence)
        for match in _STATE.finditer(sentence):
            if " " in match[0] or not self.lexicon.is_distinctive(match["surname"] or "the"):
                yield match

    def _build_mention(self, tokens: list[_Token], sentence: str) -> Mention | None:
        """Build the mention of a stretch. Return None if the stretch is not a name."""
        head, tokens = _split_head(tokens)
        has_title = any(token.key in w.KIND_BY_TITLE for token in head)
        tokens = self._trim_tokens(tokens, sentence, has_title=has_title)
        if not tokens or (len(tokens) == 1 and tokens[0].is_head):
            return None
        if not self._is_name(tokens, sentence, head):
            return None
        name = _extract_name(tokens, sentence)
        title, role, start = _read_head(head, sentence, tokens[0].start)
        words = self._list_identifying_words(tokens)
        mention = Mention(start, tokens[0].start + len(name), name, words, title, role)
        return replace(
            mention,
            kind=find_kind_in_sentence(
                mention, [token.key for token in tokens], sentence, self.lexicon
            ),
        )

    def _list_identifying_words(self, tokens: Sequence[_Token]) -> tuple[str, ...]:
        """The identifying words of a name, or all its words but links if none identifies."""
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
        while trimmed and trimmed[-1].is_link:
            trimmed.pop()
        if [token.key for token in trimmed[:3]] == ["district", "court", "of"]:
            trimmed = trimmed[3:]
        if [token.key for token in trimmed[-2:]] == ["district", "court"]:
            trimmed = trimmed[:-2]
        return trimmed

    def _belongs_to_sentence(
        self, tokens: Sequence[_Token], sentence: str, *, has_title: bool
    ) -> bool:
        """Whether the first token of a stretch is a link or an ordinary word of the sentence."""
        token = tokens[0]
        if token.key in self.naming_words:
            return False
        if token.is_link or token.key in w.BEFORE_NAMES:
            return True
        if has_title or not token.starts_sentence or token.is_initials:
            return False
        if self._opens_organisation([token.key for token in tokens]):
            return False
        is_alone = len(tokens) == 1 or not self.lexicon.is_distinctive(tokens[1].text)
        if is_alone and self.lexicon.opens_sentences_only(token.text):
            return not FOLLOWS_PERSON.match(sentence, token.end)
        return self.lexicon.is_ordinary(token.text) and token.key not in w.ALSO_NAMES

    def _opens_organisation(self, keys: Sequence[str]) -> bool:
        """Whether the first word opens an organisation: "First Bank" and "Harbor Division" do."""
        if keys[0] in w.list_opening_words():
            return keys[0] == "first" and keys[1:2] in (["bank"], ["national"], ["state"])
        is_organisation = w.find_kind(keys) in w.ORGANISATION_KINDS
        return len(keys) > 1 and is_organisation and keys[0] not in w.ROLE_WORDS

    def _is_name(self, tokens: Sequence[_Token], sentence: str, head: Sequence[_Token]) -> bool:
        """Whether a stretch is a name.

        A stretch is a name by a word that is neither customary nor ordinary, by initials, by its
        title, or because it has no article. A law or a document whose words all are English ("the
        Age Discrimination Act") is not.
        """
        keys = [token.key for token in tokens]
        title = head[-1].key if head and head[-1].key in w.KIND_BY_TITLE else ""
        if w.is_name_of_common_words(keys) or title in w.ADDRESSES:
            return True
        has_naming_word = not self.naming_words.isdisjoint(keys)
        words = [token for token in tokens if not token.is_initials]
        if not has_naming_word and self._is_law_or_document(words, sentence):
            return False
        if _has_initials(tokens) or any(self.lexicon.is_distinctive(token.text) for token in words):
            return True
        if _ARTICLE.search(sentence[: tokens[0].start]) and title not in w.PERSONAL_TITLES:
            return has_naming_word and bool(title)
        rare_words = [token for token in words if not self.lexicon.is_common(token.text)]
        return has_naming_word or _is_name_of_ordinary_words(tokens, rare_words, title)

    def _is_law_or_document(self, words: Sequence[_Token], sentence: str) -> bool:
        """Whether a law or a document is called by English words only."""
        keys = [word.key for word in words if word.key not in w.LINKING_WORDS]
        if words and (rest := _REST_OF_TITLE.match(sentence, words[-1].end)):
            keys += rest[0].lower().split()
        if words and (beginning := _START_OF_TITLE.search(sentence[: words[0].start])):
            keys.insert(0, beginning[1].lower())
        if len(keys) < 2 or not any(w.DOCUMENT_NOUN.fullmatch(keys[end]) for end in (0, -1)):
            return False
        return all(self.lexicon.is_plain(key) for key in keys)


def _continues_list(previous: Mention, mention: Mention, text: str) -> bool:
    """Whether a mention continues a list behind a plural title ("Officers Hale and Moss")."""
    head = previous.title or previous.role
    if not head.endswith("s") or head in ("mrs", "ms") or mention.title or mention.role:
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


def _extract_name(tokens: Sequence[_Token], sentence: str) -> str:
    """The name as the sentence writes it, without possessive and closing quotation mark."""
    start = tokens[0].start
    name = re.sub(r"['’]s?$|[\"“”()]+$", "", sentence[start : tokens[-1].end]).rstrip(" ,")
    if _POINT_OF_SUFFIX.match(sentence, start + len(name)) and _LEGAL_FORM.search(name):
        return f"{name}."
    return name


def _read_head(head: Sequence[_Token], sentence: str, name_start: int) -> tuple[str, str, int]:
    """The title and the role before a name, and where the mention starts.

    A comma separates a title and a role from the name.
    """
    if head:
        keys, start = [token.key for token in head], head[0].start
        if re.search(r"[,;]", sentence[start:name_start]):
            return "", "", name_start
    else:
        match = _LOWER_CASE_HEAD.search(sentence[:name_start])
        if match is None:
            return "", "", name_start
        keys, start = [normalise_word(match[1])], match.start()
    titles = [key for key in keys if key not in w.ROLE_WORDS]
    roles = [key for key in keys if key in w.ROLE_WORDS]
    return titles[-1] if titles else "", roles[-1] if roles else "", start


def _has_initials(tokens: Sequence[_Token]) -> bool:
    """Whether a stretch has several initials of a person; "U.S." and "p.m." are none."""
    return any(
        token.is_initials and len(token.key) > 1 and not _NO_INITIALS.fullmatch(token.text)
        for token in tokens
    )


def _is_name_of_ordinary_words(
    tokens: Sequence[_Token], rare_words: Sequence[_Token], title: str
) -> bool:
    """Whether ordinary words without an article are a surname or end like an organisation."""
    last = tokens[-1]
    is_surname = last.key in w.ALSO_NAMES
    if title in w.PERSONAL_TITLES:
        return bool(rare_words) or is_surname
    if len(tokens) > 1 and w.find_kind([last.key]) in w.ORGANISATION_KINDS:
        return bool(rare_words) or _LEGAL_FORM.search(last.text) is not None
    return is_surname and len(rare_words) == len(tokens)


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
    """Whether a token stands between two names and is part of neither.

    "and" and "for" are inside a name whose end tells an organisation ("Game and Fish Department").
    """
    token = tokens[position]
    if token.key == "of" and stretch:
        return stretch[0].key in w.PERSONAL_TITLES
    if token.key not in ("and", "for"):
        return token.key in w.SEPARATORS
    following = tokens[position + 1 :]
    if not following or not stretch or following[0].is_head or stretch[-1].is_head:
        return True
    is_before_and = token.key == "for" and stretch[-1].key in w.KIND_BY_NOUN
    return not is_before_and and w.find_kind([following[-1].key]) not in w.ORGANISATION_KINDS
