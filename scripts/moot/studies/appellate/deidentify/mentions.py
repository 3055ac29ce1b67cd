"""Where a text names somebody or something: every run of capitalised words that is neither customary nor ordinary.

The rule is by exclusion. A capital within a sentence that law does not demand is taken for a name, unless the word is
an ordinary one behind an article ("the Lease"), which is then written small.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from moot.studies.appellate.deidentify.lexicon import CAPITALISED, INITIALS, Lexicon, opens_sentence, plain
from moot.studies.appellate.deidentify.vocabulary import (
    COMPANY_ENDS,
    COMPANY_STARTS,
    HONORIFICS,
    INSTITUTIONS,
    KINDS,
    NAMED_BY_OF,
    OF_INSTITUTIONS,
    ORGANISATIONS,
    PARTY_ROLES,
    PUBLIC_ROADS,
    ROLES,
    SHORT_COMPANIES,
    STATES,
    STREETS,
    TITLED,
)
from moot.studies.appellate.legal.sentences import split_sentences

_LINK = r"(?:of|of the|de|de la|de los|la|del|van|von|y|&|and|for)"
_SUFFIX = r",? (?:Inc|Incorporated|Jr|Sr|Ltd|LLC|L\.L\.C|Co|Corp|II|III|P\.?C|P\.?A|N\.A|L\.?P|LLP)\b\.?"
_POINTED = r"(?:Mr|Mrs|Ms|Messrs|Dr|Drs|Sgt|Lt|Capt|Hon|Prof|Rev|Gov|Sen|Det|Dep|Cpl)\."
_WORD = rf"(?:{_POINTED}|{INITIALS}|{CAPITALISED}(?:(?<=s)['’](?=\s+[A-Z]))?)"
_RUN = re.compile(
    rf"(?<![\wÀ-ÿ'’]){_WORD}(?:{_SUFFIX}|\s+[\"“(][A-Z][\w]+[\"”)](?=\s+{_WORD})|\s+(?:{_LINK}\s+)?{_WORD})*"
)
_PIECE = re.compile(rf"[\"“(]?{_WORD}[\"”)]?|[&\w]+")
_STATE = re.compile(rf"\b(?:{STATES})(?:['’]s)?\b")
_SPLITS = frozenset(
    [
        "he",
        "she",
        "they",
        "it",
        "we",
        "i",
        "but",
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
        "his",
        "her",
        "this",
        "that",
        "id",
    ]
)
_TITLES = frozenset(HONORIFICS)
_PERSONAL_TITLES = frozenset((*TITLED, "mr", "mrs", "ms", "miss"))
_ROLES = frozenset(ROLES) | {role + "s" for role in ROLES}
_SUFFIXED = re.compile(rf"(?:{_SUFFIX})$")
_POINT_OF_SUFFIX = re.compile(r"\.(?=\s+[a-z(]|[,;:'’])")
_LINKS = frozenset(["of", "the", "de", "la", "los", "del", "van", "von", "y", "and", "for", "&"])
_ENDS_COMPANY = re.compile(
    r"\b(?:Inc|Incorporated|Corp|Corporation|LLC|L\.L\.C|Ltd|Company|Co|Companies|Partners|Bank|Enterprises)\b\.?$"
)
_NAMED_BY_THEIR_WORDS = frozenset(("hospital", "bank", "insurer", "university", "church", "union", "company"))
_ARTICLE = re.compile(r"\b(?:the|a|an|this|that|such|any|each|every|no|its|their|his|her|our|said|all|both)\s+$", re.I)
_ARTICLE_OF_NAMES = re.compile(r"\b(?:the|a|an|such|any|each|every|no|its|their|his|her|our|said|all|both)\s+$", re.I)
_PERSON_BEHIND = re.compile(
    r"\s*(?:testified|said|told|stated|asked|admitted|denied|lived|married|died|drove|shot|left|went|argues|appeals|"
    r"contends|claims|asserts)\b"
)
_ACTS = re.compile(
    r"\s+(?:had|has|was|is|did|does|[a-z]{3,}ed|sought|paid|sold|bought|told|argues|contends|claims|asserts|appeals)\b"
)
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to|outside|through|between)\s+$")
_GRADED = re.compile(
    r"\s+(?:offen[sc]e|felony|misdemeanor|violation|crime|charge|position|level|licen[sc]e|employee)s?\b"
)
_LETTER = re.compile(r"(?:[B-HJ-Z]|[IVX]{2,4})(?:['’]s)?")
_COLOURS = "red|blue|white|black|green|gold|silver|gr[ae]y|brown|tan|yellow|maroon|dark|light|new|used|old"
_MOST_WORDS_OF_A_PERSON = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and its place in a text.

    Attributes:
        start, end: with its title or role, if any, before it.
        name: the name alone.
        words: the words that identify, compared by `lexicon.plain`.
        title: the title before it, small, or "".
        role: the role before it, small and singular, or "".
        kind: person, officer, doctor, judge, name, place, state, or a kind of `vocabulary.KINDS`.
    """

    start: int
    end: int
    name: str
    words: tuple[str, ...]
    title: str
    role: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    opens: bool

    @property
    def key(self) -> str:
        return plain(self.text)

    @property
    def is_initials(self) -> bool:
        return bool(re.fullmatch(INITIALS, self.text))


def find_mentions(text: str, lexicon: Lexicon, named: Collection[str] = ()) -> Iterator[Mention]:
    """The names of a text, in order and without overlap.

    Args:
        text: the text.
        lexicon: the words of the opinion that it comes from.
        named: words known to name somebody (`plain`), although ordinary words too.
    """
    for sentence in split_sentences(text):
        states = list(_states(sentence.text, lexicon))
        spans = [(match.start(), match.end()) for match in states]
        for match in states:
            name = re.sub(r"['’]s$", "", match[0])
            start = sentence.start + match.start()
            yield Mention(start, start + len(name), name, tuple(plain(name).split()), "", "", "state")
        visible = list(sentence.text)
        for start, end in spans:
            visible[start:end] = "·" * (end - start)
        for run in _RUN.finditer("".join(visible)):
            for stretch in _stretches(_tokens(run, sentence.text)):
                mention = _mention(stretch, sentence.text, sentence.start, lexicon, named)
                if mention:
                    yield mention


def _states(sentence: str, lexicon: Lexicon) -> Iterator[re.Match[str]]:
    """The states named; "Virginia Hale" is a person."""
    for match in _STATE.finditer(sentence):
        following = re.match(rf"\s+({CAPITALISED})", sentence[match.end() :])
        single = " " not in match[0]
        if not (single and following and lexicon.names(following[1])):
            yield match


def _tokens(run: re.Match[str], sentence: str) -> list[_Token]:
    return [
        _Token(piece[0], run.start() + piece.start(), opens_sentence(sentence[: run.start() + piece.start()]))
        for piece in _PIECE.finditer(run[0])
    ]


def _stretches(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """The parts of a run between pronouns, and behind each role; titles begin a part."""
    stretch: list[_Token] = []
    for position, token in enumerate(tokens):
        if token.key in ("and", "for") and not _joins(tokens, position):
            yield stretch
            stretch = []
            continue
        if token.key == "of" and stretch and stretch[0].key in _PERSONAL_TITLES:  # "Officer Hale of the City Police"
            yield stretch
            stretch = []
            continue
        titled = token.key in _TITLES and bool(stretch) and stretch[-1].key not in _TITLES | _LINKS
        if (token.key in _SPLITS and token.key not in _LINKS) or (titled and any(t.key not in _ROLES for t in stretch)):
            yield stretch
            stretch = [token] if titled else []
        elif token.key in PARTY_ROLES and any(t.key not in _ROLES | _LINKS for t in stretch):
            yield stretch
            stretch = [token]
        else:
            stretch.append(token)
    yield stretch


def _joins(tokens: Sequence[_Token], position: int) -> bool:
    """Whether "and" or "for" is inside one name ("Game and Fish Department"): no person precedes it, and a word of
    an organisation ends what follows it.
    """
    following = list(takewhile(lambda token: token.key not in ("and", "for"), tokens[position + 1 :]))
    if not following or tokens[position - 1].key in _ROLES | _TITLES or following[0].key in _TITLES | _ROLES:
        return False
    ends = next((kind for kind, pattern in KINDS if pattern.fullmatch(following[-1].key)), "")
    return ends in ORGANISATIONS


def _mention(
    tokens: list[_Token], sentence: str, offset: int, lexicon: Lexicon, named: Collection[str]
) -> Mention | None:
    roles: list[_Token] = []
    titles: list[_Token] = []
    while tokens and (tokens[0].key in _ROLES or tokens[0].key in _TITLES) and len(tokens) > 1:
        (titles if tokens[0].key in _TITLES else roles).append(tokens[0])
        tokens = tokens[1:]
    head = [*roles, *titles]
    before = sentence[: (head[0] if head else tokens[0]).start] if tokens else ""
    addressed = bool(titles) and titles[-1].key in ("mr", "mrs", "ms", "miss", "dr")
    tokens = (
        tokens[:1] + _trimmed(tokens[1:], sentence, lexicon, named, titled=True)
        if addressed
        else _trimmed(tokens, sentence, lexicon, named, titled=bool(titles))
    )
    if not tokens or (tokens[0].key in _TITLES | _ROLES | _LINKS and len(tokens) == 1):
        return None
    start, end = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
    name = re.sub(r"['’]s?$|[\"“”()]+$", "", sentence[start:end]).rstrip(" ,")
    if _POINT_OF_SUFFIX.match(sentence, start + len(name)) and _SUFFIXED.search(name):
        name += "."
    if not addressed and not _is_name(tokens, name, sentence, lexicon, named, titled=bool(titles or roles)):
        return None
    joined = (
        not head
        or sentence[head[0].start : start].strip(" .")
        == " ".join(sentence[t.start : t.start + len(t.text)] for t in head).strip(" .")
        or not re.search(r"[,;]", sentence[head[0].start : start])
    )
    small_before = re.search(
        rf"\b(?:the |his |her |a )?((?:{'|'.join(sorted(_ROLES | _TITLES))})\.?)\s+$", before, re.I
    )
    role = roles[-1].key.removesuffix("s") if roles and joined else ""
    title = titles[-1].key if titles and joined else ""
    begin = head[0].start if head and joined else start
    if not head and small_before and tokens[0].start == len(before):
        key = plain(small_before[1])
        role, title = (key.removesuffix("s"), "") if key in _ROLES else ("", key)
        begin = small_before.start()
    words = tuple(t.key for t in tokens if _identifies(t, lexicon, named)) or tuple(
        t.key for t in tokens if t.key not in _LINKS
    )
    kind = _kind(name, title, sentence[:begin], sentence[start + len(name) :])
    return Mention(offset + begin, offset + start + len(name), name, words, title, role, kind)


def _identifies(token: _Token, lexicon: Lexicon, named: Collection[str]) -> bool:
    if token.key in _LINKS or token.key in ("inc", "corp", "co", "llc", "ltd", "jr", "sr", "company", "corporation"):
        return False
    if token.is_initials:
        return len(token.key) > 1
    return token.key in named or not lexicon.is_common(token.text)


def _is_link(token: _Token) -> bool:
    """Whether a token links words; "Los" and "De" with a capital begin a name."""
    return token.key in _LINKS and (token.text.islower() or token.key in ("of", "the", "and", "for"))


def _named_by_customary_words(tokens: Sequence[_Token]) -> bool:
    """Whether customary words alone name a company ("National General"), an institution or a street ("School Road")."""
    keys = [token.key for token in tokens]
    if len(keys) < 2:  # one such word is no name
        return False
    company = keys[0] in COMPANY_STARTS and all(key in COMPANY_STARTS | COMPANY_ENDS for key in keys)
    institution = keys[-1] in INSTITUTIONS and not all(key in OF_INSTITUTIONS | _LINKS for key in keys[:-1])
    street = keys[-1] in STREETS and not all(key in PUBLIC_ROADS | _LINKS for key in keys[:-1])
    by_of = len(keys) > 2 and keys[0] in NAMED_BY_OF and keys[1] == "of"  # "Bank of America"
    return company or institution or street or by_of


def _trimmed(
    tokens: list[_Token], sentence: str, lexicon: Lexicon, named: Collection[str], *, titled: bool
) -> list[_Token]:
    """Without the words at both ends that belong to the sentence and not to the name."""
    if _named_by_customary_words(tokens) or _acts_alone(tokens, sentence):
        return tokens
    lettered: Collection[int] = ()

    def of_sentence(token: _Token) -> bool:
        if _is_link(token):
            return True
        if token.key in named or token.is_initials:
            return False
        return token.opens and not titled and lexicon.is_ordinary(token.text) and not lexicon.may_name(token.text)

    def is_customary(token: _Token) -> bool:
        of_name = token.is_initials or token.key in named or token.start in lettered
        return _is_link(token) or (lexicon.is_common(token.text) and not of_name)

    while tokens and of_sentence(tokens[0]):
        tokens = tokens[1:]
    lettered = _parts_of_names(tokens, sentence, is_customary)
    organisation = any(pattern.fullmatch(t.key) for t in tokens for kind, pattern in KINDS)
    while tokens and is_customary(tokens[0]) and (not organisation or _is_link(tokens[0]) or tokens[0].opens):
        tokens = tokens[1:]
    while tokens and is_customary(tokens[-1]) and not any(p.fullmatch(tokens[-1].key) for _, p in KINDS):
        tokens = tokens[:-1]
    return tokens


def _acts_alone(tokens: Sequence[_Token], sentence: str) -> bool:
    """Whether a customary word names a company, which it acts like: "National had failed", "United's list"."""
    return (
        len(tokens) == 1
        and tokens[0].key in SHORT_COMPANIES
        and bool(_ACTS.match(sentence, tokens[0].start + len(tokens[0].text)) or re.search("['’]s$", tokens[0].text))
        and not _ARTICLE.search(sentence[: tokens[0].start])
    )


def _parts_of_names(tokens: Sequence[_Token], sentence: str, is_customary: Callable[[_Token], bool]) -> Collection[int]:
    """Places of letters and customary words that belong to the name next to them: "Corner K", "U S Hale".

    A letter that says a grade does not ("a Class B offense").
    """
    leading = list(takewhile(is_customary, tokens))
    if not all(_LETTER.fullmatch(token.text) for token in leading):
        bare = {"state"} if leading and not _ARTICLE.search(sentence[: leading[-1].start]) else set()
        leading = [token for token in leading[-1:] if token.key in COMPANY_STARTS | bare]
    if len(leading) == len(tokens):
        leading = []
    last = tokens[-1:] if len(tokens) > 1 and not is_customary(tokens[-2]) else ()
    trailing = [t for t in last if _LETTER.fullmatch(t.text) and not _GRADED.match(sentence, t.start + len(t.text))]
    return {token.start for token in (*leading, *trailing)}


def _is_name(
    tokens: list[_Token], name: str, sentence: str, lexicon: Lexicon, named: Collection[str], *, titled: bool
) -> bool:
    """Whether a run names: by a word that is neither customary nor ordinary, by its title, or by having no article."""
    before = sentence[: tokens[0].start]
    proper = [t for t in tokens if not t.is_initials and lexicon.names(t.text)]
    initials = [t for t in tokens if t.is_initials and _personal(t.text, before)]
    others = [t for t in tokens if not t.is_initials and not lexicon.is_common(t.text)]
    if _named_by_customary_words(tokens) or _acts_alone(tokens, sentence):
        return True
    if proper or (initials and (others or len(initials[0].key) > 1)):
        return True
    if any(t.key in named for t in tokens) or (titled and others and not tokens[0].opens):
        return not _ARTICLE_OF_NAMES.search(before) or titled  # "alleging that Land left"
    ends = next((kind for kind, pattern in KINDS if pattern.fullmatch(tokens[-1].key)), "")
    if len(tokens) > 1 and (_ENDS_COMPANY.search(name) or ends in _NAMED_BY_THEIR_WORDS):
        return bool(re.search(r"\b(?:Inc|Corp|LLC|L\.L\.C|Ltd|Co)\b", name)) or not _ARTICLE.search(before)
    return any(lexicon.may_name(t.text) for t in others) and not _ARTICLE.search(before) and len(others) == len(tokens)


def _personal(initials: str, before: str) -> bool:
    """Whether points mark a person's initials and no abbreviation ("U.S.", "p.m.")."""
    known = r"(?:U\.?\s?S\.?(?:A\.?)?|[PA]\.\s?M\.?|D\.\s?C\.?|P\.\s?[AC]\.?|I\.\s?D\.?|D\.?A\.?)"
    enumerated = re.search(r"\b(?:[Ee]xhibit|[Pp]art|[Cc]ount|[Ss]ection|[Pp]aragraph|[Tt]ract|[Ll]ot)s?\s+$", before)
    return not re.fullmatch(known, initials.strip()) and not enumerated


def _kind(name: str, title: str, before: str, behind: str) -> str:
    """What a name names, by its title, its own words and its neighbours."""
    street = plain(name.rpartition(" ")[2]) in STREETS
    by_words = "place" if street else next((kind for kind, pattern in KINDS if pattern.search(name)), "")
    if title:
        return TITLED.get(title, "person")
    if by_words or plain(name.partition(" ")[0]) in COMPANY_STARTS:
        return by_words or "company"
    if re.match(r"\s+(?:County|Parish)\b", behind):
        return "county"
    words = sum(len(word) > 1 for word in name.split())
    acts = bool(_PERSON_BEHIND.match(behind))
    if _PLACE_BEFORE.search(before) and words == 1 and not acts:
        return "place"
    acronym = re.fullmatch(r"[A-Z&]{2,6}", name)
    thing = re.search(rf"\b(?:a|an|the|{_COLOURS})\s+(?:{_COLOURS}\s+|year\S+\s+)?$", before, re.IGNORECASE)
    if thing and not acts:
        return "name"
    return "person" if acts or (1 < words <= _MOST_WORDS_OF_A_PERSON and not acronym) else "name"


def written_small(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> str:
    """The text with each ordinary word that no mention holds, and that has a capital within a sentence, written small:
    "the Lease" is "the lease".
    """
    taken = [(mention.start, mention.end) for mention in mentions]
    pieces = list(text)
    for sentence in split_sentences(text):
        for match in re.finditer(CAPITALISED, sentence.text):
            start = sentence.start + match.start()
            inside = any(begin <= start < end for begin, end in taken)
            if inside or lexicon.is_common(match[0]) or opens_sentence(sentence.text[: match.start()]):
                continue
            pieces[start : start + len(match[0])] = match[0].lower()
    return "".join(pieces)
