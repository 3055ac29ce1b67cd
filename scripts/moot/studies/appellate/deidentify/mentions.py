"""Where a text names somebody or something: every run of capitalised words that is neither
customary nor ordinary.

The rule is by exclusion. A capital within a sentence that law does not demand is taken for a name,
with all capitalised words next to it, unless the word is an ordinary one behind an article ("the
Lease"), which is then written small.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    INITIALS,
    Lexicon,
    opens_sentence,
    plain,
)
from moot.studies.appellate.legal.sentences import split_sentences

_LINK = r"(?:of|of the|de|de la|de los|la|del|van|von|y|&|and|for)"
_SUFFIX = (
    r",? (?:Inc|Incorporated|Jr|Sr|Ltd|LLC|L\.L\.C|Co|Corp|II|III|P\.?C|P\.?A|N\.A|L\.?P|LLP)\b\.?"
)
_POINTED = r"(?:Mr|Mrs|Ms|Messrs|Dr|Drs|Sgt|Lt|Capt|Hon|Prof|Rev|Gov|Sen|Det|Dep|Cpl)\."
_WORD = rf"(?:{_POINTED}|{INITIALS}|{CAPITALISED}(?:(?<=s)['’](?=\s+[A-Z]))?)"
_RUN = re.compile(
    rf"(?<![\wÀ-ÿ'’]){_WORD}(?:{_SUFFIX}|\s+[\"“(][A-Z][\w]+[\"”)](?=\s+{_WORD})|\s+(?:{_LINK}\s+)?{_WORD})*"
)
_PIECE = re.compile(rf"[\"“(]?{_WORD}[\"”)]?|[&\w]+")
_STATE = re.compile(rf"\b(?:{v.STATES})(?:['’]s)?\b")
_SPLITS = frozenset(
    "he she they it we i but however when after before on in at as the a an his her this that id".split()
)
_TITLES = frozenset(v.HONORIFICS) | {f"{title}s" for title in v.TITLED} | {"deputies"}
_NO_PART = frozenset(
    "count counts exhibit exhibits section sections article title chapter paragraph part phase"
    " monday tuesday wednesday thursday friday saturday sunday estate estates office clerk id".split()
) | frozenset(v.MONTHS.lower().split("|"))
"""Customary words in front of a name that are no part of it: "Exhibit Hale", "Estate of Hale"."""
_LEGAL_FORMS = frozenset("inc corp co llc ltd jr sr company corporation".split())
_SUFFIXED = re.compile(rf"(?:{_SUFFIX})$")
_POINT_OF_SUFFIX = re.compile(r"\.(?=\s+[a-z(]|[,;:'’])")
_ENDS_COMPANY = re.compile(
    r"\b(?:Inc|Incorporated|Corp|Corporation|LLC|L\.L\.C|Ltd|Company|Co|Companies|Partners|Bank|Enterprises)\b\.?$"
)
_INCORPORATED = re.compile(r"\b(?:Inc|Corp|LLC|L\.L\.C|Ltd|Co)\b")
_NAMED_BY_THEIR_WORDS = frozenset(("company", "church", "university", "hospital", "insurer"))
_ARTICLE = re.compile(
    r"\b(?:the|a|an|this|that|such|its|his|her|their|our|any|each|every|no|said)\s+$", re.IGNORECASE
)
_ARTICLE_OF_NAMES = re.compile(
    r"\b(?:the|a|an|its|his|her|their|our|any|each|every|no)\s+$", re.IGNORECASE
)
_PERSON_BEHIND = re.compile(
    r"\s+(?:testified|told|said|drove|walked|shot|pleaded|pled|lived|married|died|saw|heard|was"
    r" (?:born|arrested|"
    r"driving|convicted|charged|sentenced|injured|killed|shot|a passenger))\b|['’]s"
    r" (?:car|truck|home|wife|husband|"
    r"mother|father|testimony|death|injur\w+|brother|sister|son|daughter)\b"
)
_PLACE_BEFORE = re.compile(
    r"\b(?:in|at|near|outside|toward|onto|along|down|(?:driv\w+|drove|travel\w+|walk\w+|park\w+|"
    r"northbound|southbound|eastbound|westbound|accident|lanes?|turn\w*|street|located|house|home)"
    r" (?:on|to|off))\s+$"
)
_COLOURS = (
    "red|blue|white|black|green|gold|silver|gr[ae]y|brown|tan|yellow|maroon|dark|light|new|used|old"
)
_PERSON_BEFORE = re.compile(
    r"\b(?:brother|sister|wife|husband|son|daughter|mother|father|friend|victim|named|driver|passenger|neighbor|cousin|"
    r"uncle|aunt|nephew|niece|boyfriend|girlfriend|man|woman|employee|manager|attorney|lawyer|children),?\s+$"
)
_THING_BEFORE = re.compile(
    rf"\b(?:a|an|the|{_COLOURS})\s+(?:{_COLOURS}\s+|year\S+\s+)?$", re.IGNORECASE
)
_NO_INITIALS = re.compile(
    r"(?:U\.?\s?S\.?(?:A\.?)?|[PA]\.\s?M\.?|D\.\s?C\.?|P\.?\s?[AC]\.?|I\.\s?D\.?|D\.?A\.?)",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(
    r"\b(?:[Ee]xhibit|[Pp]art|[Cc]ount|[Ss]ection|[Pp]aragraph|[Tt]ract|[Ll]ot)s?\s+$"
)
_LISTED = re.compile(r",? and |, |,? & ")
_MOST_WORDS_OF_A_PERSON = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and its place in a text.

    Attributes:
        start, end: with its title or role, if any, before it.
        name: the name alone.
        words: the words that identify, compared by `lexicon.plain`.
        title: the title before it, small and singular, or "".
        role: the role before it, small and singular, or "".
        kind: person, officer, doctor, judge, name, place, state, or a kind of `vocabulary.KINDS`;
            guess: a person, if nothing says otherwise.
        plural: the title is that of several ("Officers Hale and Moss").
    """

    start: int
    end: int
    name: str
    words: tuple[str, ...]
    title: str = ""
    role: str = ""
    kind: str = "name"
    plural: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    opens: bool
    key: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_initials(self) -> bool:
        return bool(re.fullmatch(INITIALS, self.text))

    @property
    def is_link(self) -> bool:
        """Whether it links words; "Los" and "De" with a capital begin a name."""
        return self.key in v.LINKS and (
            self.text.islower() or self.key in ("of", "the", "and", "for")
        )


@dataclass(frozen=True)
class Finder:
    """Finds the names of a text.

    Attributes:
        lexicon: the words of the opinion that it comes from.
        named: words known to name somebody (`plain`), although ordinary words too.
        aliases: short forms that the opinion defines, as they are written, to the words of the name
            that they mean.
    """

    lexicon: Lexicon
    named: Collection[str] = ()
    aliases: Mapping[str, tuple[str, ...]] | None = None

    def find(self, text: str) -> list[Mention]:
        """The names of a text, in order and without overlap."""
        found: list[Mention] = []
        for mention in sorted(self._mentions(text), key=lambda mention: mention.start):
            before = found[-1] if found else None
            if (
                before
                and before.plural
                and not mention.title
                and _LISTED.fullmatch(text[before.end : mention.start])
            ):
                found.append(replace(mention, title=before.title, kind=before.kind, plural=True))
            else:
                found.append(mention)
        return found

    def _mentions(self, text: str) -> Iterator[Mention]:
        for sentence in split_sentences(text):
            visible = sentence.text
            for mention in [*self._defined(visible), *self._states(visible)]:
                start, end = mention.start, mention.end
                if "·" not in visible[start:end]:
                    visible = f"{visible[:start]}{'·' * (end - start)}{visible[end:]}"
                    yield replace(mention, start=start + sentence.start, end=end + sentence.start)
            for run in _RUN.finditer(visible):
                for stretch in _stretches(_tokens(run, sentence.text)):
                    if named := self._mention(stretch, sentence.text):
                        yield replace(
                            named,
                            start=named.start + sentence.start,
                            end=named.end + sentence.start,
                        )

    def _defined(self, sentence: str) -> Iterator[Mention]:
        """The aliases that the opinion defines; no capitalised word next to one belongs to it."""
        for alias, words in (self.aliases or {}).items():
            for match in re.finditer(
                rf"(?<![\w'’-]){re.escape(alias)}(?![\w-])(?!{_SUFFIX}| [A-Z])", sentence
            ):
                yield Mention(match.start(), match.end(), alias, words)

    def _states(self, sentence: str) -> Iterator[Mention]:
        """The states named; "Virginia Hale" is a person."""
        for match in _STATE.finditer(sentence):
            following = re.match(rf"\s+({CAPITALISED})", sentence[match.end() :])
            if " " in match[0] or not (following and self.lexicon.names(following[1])):
                name = re.sub(r"['’]s$", "", match[0])
                words = tuple(plain(name).split())
                yield Mention(match.start(), match.start() + len(name), name, words, kind="state")

    def _mention(self, tokens: list[_Token], sentence: str) -> Mention | None:
        head: list[_Token] = []
        while len(tokens) > 1 and tokens[0].key in v.ROLE_WORDS | _TITLES:
            possessive = re.search(
                r"['’]s?$", tokens[0].text
            )  # "Plaintiff's Hale" is none of the parties
            head = [] if possessive else [*head, tokens[0]]
            tokens = tokens[1:]
        roles = [token.key for token in head if token.key in v.ROLE_WORDS]
        titles = [token.key for token in head if token.key not in v.ROLE_WORDS]
        addressed = bool(titles) and titles[-1] in (*v.FORMS_OF_ADDRESS, "dr")
        tokens = self._trimmed(tokens, titled=bool(titles))
        if not tokens or (len(tokens) == 1 and tokens[0].key in _TITLES | v.ROLE_WORDS | v.LINKS):
            return None
        start = tokens[0].start
        name = re.sub(r"['’]s?$|[\"“”()]+$", "", sentence[start : tokens[-1].end]).rstrip(" ,")
        if _POINT_OF_SUFFIX.match(sentence, start + len(name)) and _SUFFIXED.search(name):
            name += "."
        end = start + len(name)
        if not addressed and not self._is_name(tokens, name, sentence, titled=bool(head)):
            return None
        title, role, begin = titles[-1] if titles else "", roles[-1] if roles else "", start
        if head and not re.search(r"[,;]", sentence[head[0].start : start]):
            begin = head[0].start
        elif head:
            title = role = ""
        elif small := re.search(
            rf"\b(?:(?:the|his|her|a) )?({_SPOKEN_OF})\.?\s+$", sentence[:start], re.I
        ):
            key = plain(small[1])
            title, role, begin = (
                ("", key, small.start()) if key in v.ROLE_WORDS else (key, "", small.start())
            )
        identifying = [t for t in tokens if self._identifies(t)]
        words = tuple(t.key for t in identifying or tokens if identifying or t.key not in v.LINKS)
        singular = "deputy" if title == "deputies" else title.removesuffix("s")
        plural = title not in v.TITLED and singular in v.TITLED
        title = singular if plural else title
        kind = _kind(name, title, sentence[:begin], sentence[end:])
        return Mention(begin, end, name, words, title, role.removesuffix("s"), kind, plural)

    def _identifies(self, token: _Token) -> bool:
        if token.key in v.LINKS | _LEGAL_FORMS:
            return False
        if token.is_initials:
            return len(token.key) > 1
        return token.key in self.named or not self.lexicon.is_common(token.text)

    def _trimmed(self, tokens: Sequence[_Token], *, titled: bool) -> list[_Token]:
        """Without links and the words that belong to the sentence: its opening word, a customary
        one with a number.
        """

        def of_sentence(token: _Token) -> bool:
            if token.is_link or token.key in _NO_PART - set(self.named):
                return True
            ordinary = self.lexicon.is_ordinary(token.text) and not self.lexicon.may_name(
                token.text
            )
            of_body = (
                len(tokens) > 1 and token.key not in v.openers() and token.key not in v.ROLE_WORDS
            )
            if (
                of_body and v.kind_by_words(tokens[-1].key) in v.ORGANISATIONS
            ):  # "Harbor Division": all is a name
                return False
            return (
                token.opens
                and not titled
                and ordinary
                and token.key not in self.named
                and not token.is_initials
            )

        kept = list(tokens)
        while kept and of_sentence(kept[0]) and not v.name_by_words([token.key for token in kept]):
            kept.pop(0)
        while kept and kept[-1].is_link:
            kept.pop()
        return kept

    def _is_name(self, tokens: Sequence[_Token], name: str, sentence: str, *, titled: bool) -> bool:
        """Whether a run names: by a word that is neither customary nor ordinary, by its title, or
        without article.
        """
        before = sentence[: tokens[0].start]
        article = bool(_ARTICLE.search(before))
        if v.name_by_words([token.key for token in tokens]):
            return True
        whole = [token for token in tokens if not token.is_initials]
        initials = [t for t in tokens if t.is_initials and _personal(t.text, before)]
        others = [token for token in whole if not self.lexicon.is_common(token.text)]
        if any(self.lexicon.names(token.text) for token in whole):
            return True
        if initials and (others or len(initials[0].key) > 1):
            return True
        if any(token.key in self.named for token in tokens) or (
            titled and others and not tokens[0].opens
        ):
            return titled or not _ARTICLE_OF_NAMES.search(before)  # "alleging that Land left"
        ends = (
            _ENDS_COMPANY.search(name)
            or v.kind_by_words(whole[-1].key if whole else "") in _NAMED_BY_THEIR_WORDS
        )
        if len(tokens) > 1 and ends and (_INCORPORATED.search(name) or not article):
            return True
        return (
            any(self.lexicon.may_name(t.text) for t in others)
            and not article
            and len(others) == len(tokens)
        )


_SPOKEN_OF = "|".join(sorted(v.ROLE_WORDS | _TITLES, key=len, reverse=True))


def _tokens(run: re.Match[str], sentence: str) -> list[_Token]:
    pieces = ((piece[0], run.start() + piece.start()) for piece in _PIECE.finditer(run[0]))
    return [
        _Token(text, start, opens_sentence(sentence[:start]), plain(text)) for text, start in pieces
    ]


def _stretches(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """The parts of a run between pronouns, and behind each role; titles begin a part."""
    stretch: list[_Token] = []
    for position, token in enumerate(tokens):
        named = any(other.key not in v.ROLE_WORDS | v.LINKS for other in stretch)
        titled = token.key in _TITLES and bool(stretch) and stretch[-1].key not in _TITLES | v.LINKS
        apart = token.key in ("and", "for") and not _joins(tokens, position)
        # "Officer Hale of the Police"
        of_a_person = token.key == "of" and stretch and stretch[0].key in v.PERSONAL_TITLES
        if apart or of_a_person or (token.key in _SPLITS - v.LINKS):
            yield stretch
            stretch = []
        elif (titled or token.key in v.PARTY_ROLES) and named:
            yield stretch
            stretch = [token]
        else:
            stretch.append(token)
    yield stretch


def _joins(tokens: Sequence[_Token], position: int) -> bool:
    """Whether "and" or "for" is inside one name ("Game and Fish Department"): no person precedes
    it, and a word of an organisation ends what follows it.
    """
    following = list(
        takewhile(lambda token: token.key not in ("and", "for"), tokens[position + 1 :])
    )
    around = {tokens[position - 1].key, following[0].key} if following else v.ROLE_WORDS
    return (
        not around & (v.ROLE_WORDS | _TITLES)
        and v.kind_by_words(following[-1].key) in v.ORGANISATIONS
    )


def _personal(initials: str, before: str) -> bool:
    """Whether points mark a person's initials and no abbreviation ("U.S.", "p.m.")."""
    return not _NO_INITIALS.fullmatch(initials.strip()) and not _ENUMERATED.search(before)


def _kind(name: str, title: str, before: str, behind: str) -> str:
    """What a name names, by its title, its own words and its neighbours."""
    if title:
        return v.TITLED.get(title, "person")
    by_words = v.kind_by_words(name)
    if by_words or plain(name.partition(" ")[0]) in v.COMPANY_STARTS:
        return by_words or "company"
    if re.match(r"\s+(?:County|Parish)\b", behind):
        return "county"
    if _PERSON_BEHIND.match(behind) or _PERSON_BEFORE.search(before):
        return "person"
    if _PLACE_BEFORE.search(before) or plain(name) in v.COMMON_PLACES:
        return "place"
    words = sum(len(word) > 1 for word in name.split())
    acronym = re.fullmatch(r"[A-Z&]{2,6}", name)
    person = (
        1 < words <= _MOST_WORDS_OF_A_PERSON and not acronym and not _THING_BEFORE.search(before)
    )
    return "guess" if person else "name"


def written_small(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> str:
    """The text with each ordinary word that no mention holds, and that has a capital within a
    sentence, written small: "the Lease" is "the lease".
    """
    pieces = list(text)
    for sentence in split_sentences(text):
        for match in re.finditer(CAPITALISED, sentence.text):
            start = sentence.start + match.start()
            inside = any(mention.start <= start < mention.end for mention in mentions)
            if not (
                inside
                or lexicon.is_common(match[0])
                or opens_sentence(sentence.text[: match.start()])
            ):
                pieces[start : start + len(match[0])] = match[0].lower()
    return "".join(pieces)
