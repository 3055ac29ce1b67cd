"""Labels and numbers read from words, and only where the words leave no choice.

A label counts where the phrase is the label ("**Yes.**") or opens with it and explains itself
("Yes, because ..."). In capitals, as prompts spell it, it also counts behind a copula ("The text is
CON."), beside labels that are denied ("PRO, not CON") and behind words of another script ("反对
(CON)"): prose holds no such words by chance.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

Label = str | int | bool

WRAPPING = " \t\r\n\"'`´*_~“”‘’„«»「」『』【】《》()[]{}<>（）|$.,;:!。，；：！、"
ANNOUNCEMENT = (
    r"(?:answer|verdict|prediction|decision|judge?ment|conclusion|label|stance|ruling|"
    r"classification|outcome|choice|vote"
    r"|答案|回答|预测|預測|结论|結論|判断|判斷|判决|判決|立场|立場)"
)
COPULA_OR_COLON = (
    r"(?:\s*(?:[:=：＝]|->|=>|→)\s*|\s+(?:is|would be)\s*:?\s+"
    r"|\s*(?:是|为|為)\s*[:：]?\s*)"
)
SPEAKER = (
    r"(?:(?:so|thus|therefore|hence|overall|in conclusion),?\s+)?"
    r"(?:(?:i|we)\s+(?:think|believe|conclude|say)\s+(?:that\s+)?)?"
    r"(?:(?:my|the|our|final|overall|最终|最終|我的|因此|所以)\s*)*"
)
I_SAY = (  # "I predict YES", "I would classify this as PRO", "we predict that the outcome is NO"
    r"(?:i|we)\s+(?:(?:would|will|therefore|thus)\s+){0,2}"
    r"(?:(?:predict|vote|answer|conclude|choose|select)(?:\s+that)?(?:\s*:)?"
    r"|(?:classify|label|rate)\s+(?:it|this|(?:this|the)\s\w{1,20})\s+as)\s+"
)
ANSWER_INTRODUCTION = (
    rf"(?:{SPEAKER}{ANNOUNCEMENT}[*_\"'`]*{COPULA_OR_COLON}|(?:(?:so|thus|therefore|hence|overall),"
    rf"?\s+)?{I_SAY}"
    rf"(?:{SPEAKER}{ANNOUNCEMENT}{COPULA_OR_COLON})?)"
)
LEAD_IN = re.compile(r"^" + ANSWER_INTRODUCTION, re.IGNORECASE)
STATED_ANSWER = re.compile(
    r"(?:^|[.;:!?,。；，！？])[\s*#>_-]*" + ANSWER_INTRODUCTION + r"(?=(?P<value>[^\n]{1,400}))",
    re.IGNORECASE,
)
EXPLANATION = re.compile(
    r"[\s\"'`*_)\]”’」】]*(?:$|\.(?!\s*\d)|[,;:!。，；：！、—(（\n]"
    r"|\s[-–]\s|\s(?:because|since|with|due to|given|based on)\s|因为|因為)",
    re.IGNORECASE,
)
COPULA = re.compile(  # "It's PRO", "The text is CON", "I would say PRO"
    r"^(?:(?:(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+)?"
    r"(?:(?:it|this|that)(?:['’]s|\s+is|\s+would\s+be)|(?:the|this)\s+\w{1,20}\s+is)\s+"
    r"|(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+)",
    re.IGNORECASE,
)
# "Plaintiff wins the case", "AGREEMENT has been reached", "MORE DEBATE is needed"
PREDICATE = re.compile(
    r"\s+(?:(?:wins|prevails|(?:should|will|would|must)\s+(?:win|prevail))(?:\s+(?:the|this)\s\w+)?"
    r"|(?<=agreement )(?:has|have)\s+(?:now\s+)?been\s+reached|(?<=debate"
    r" )is\s+(?:needed|required|necessary))(?!\w)",
    re.IGNORECASE,
)
THE_WINNER = re.compile(
    r"^the\s+(?=\w+\s+(?:wins|prevails|should|will|would|must)\b)", re.IGNORECASE
)
OTHER_SCRIPT = re.compile(r"^[^\W\d_a-zA-Z不非没無无未否]{1,12}\s?(?=[(（])")
TAGGED = re.compile(
    r"^<(answer|prediction|label|stance|verdict|decision|vote)>([^<>]*)</\1>$", re.IGNORECASE
)
UNDECIDED = re.compile(
    r"\b(?:cannot|can['’]?t|could"
    r" not|couldn['’]?t|unable|impossible|unknown|unclear|undetermined|undecided"
    r"|uncertain|unsure"
    r"|not (?:sure|certain|clear|possible|enough|(?:yet )?(?:been )?reached)|hard to (?:say|tell)"
    r"|don['’]?t know|maybe|perhaps|or not|n/a"
    r"|neither|just kidding)\b"
    r"|不确定|不確定|无法|無法|不知道|不清楚|难以|難以|不明",
    re.IGNORECASE,
)
CHOICE_WORDS = re.compile(
    r"\b(?:or|and|either|one|of|the|following|choose|from|between|exactly|label|labels|text|string|"
    r"value)\b|[或和]"
)
NUMBER = re.compile(r"(?P<digits>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)")
UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
UNITS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
REMARK = (  # behind a dash: words, and no other number
    rf"\s(?!(?:{'|'.join(UNITS + TENS)}|hundred)\b)[^\W\d]"
)
SECOND_NUMBER = re.compile(
    rf"\s*(?:[-–—](?!{REMARK})|[~+±/*^]|,?\s?\d|\.\d|…"
    r"|\bto\b|\b(?:out )?of\b|\bor\b|\band\b|至|到|或)|[^\W\d_]",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"^(?:about|around|approximately|approx\.?|roughly|circa|ca\.|~|≈|约|大约|約|大約)\s*",
    re.IGNORECASE,
)

HAN_DIGITS = "〇一二三四五六七八九"
HAN_NUMBER = re.compile(rf"一百|[{HAN_DIGITS[2:]}]?十[{HAN_DIGITS[1:]}]?|[零{HAN_DIGITS[1:]}]")


class UnreadableError(ValueError):
    """The words do not state one value."""


class EchoError(UnreadableError):
    """The words repeat the choice that was put to the model, and choose nothing."""


def fold_text(text: str) -> str:
    """`text` as labels are compared: one width, one case, one separator.

    >>> fold_text("Not_Guilty") == fold_text("not guilty")
    True
    """
    return (_cached_fold if len(text) <= _LABEL else _fold_text)(text)


def _fold_text(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()


_cached_fold = lru_cache(maxsize=4096)(_fold_text)
_LABEL = 100
"""Characters; what is longer is no label, and is not remembered."""


@lru_cache(maxsize=512)
def _mention_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Any label as a whole word; scripts without spaces have no word boundaries."""
    words = sorted({fold_text(str(label)) for label in labels}, key=lambda word: (-len(word), word))
    alternatives = (
        rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z0-9_])" if word.isascii() else re.escape(word)
        for word in words
    )
    return re.compile("|".join(alternatives))


def find_mentions(text: str, labels: tuple[Label, ...]) -> set[str]:
    """The labels (in their plain form) that `text` names anywhere."""
    return set(_mention_pattern(labels).findall(fold_text(text)))


def is_choice(text: str, labels: tuple[Label, ...]) -> bool:
    """Whether `text` only repeats the choice: "YES or NO", "<label>", "..."."""
    stripped = text.strip()
    if re.fullmatch(r"<[^<>]*>|\[[^\[\]]*\]|\.{3}|…", stripped) and fold_text(
        stripped.strip("<>[]")
    ) not in {fold_text(str(label)) for label in labels}:
        return True
    rest = CHOICE_WORDS.sub(" ", _mention_pattern(labels).sub(" ", fold_text(text)))
    return len(find_mentions(text, labels)) > 1 and not re.search(r"[^\W_]", rest)


def _unwrap(text: str) -> str:
    boxed = re.fullmatch(r"\s*\$*\\boxed\{(?:\\text(?:bf)?\{)?([^{}]*)\}+\$*\s*\.?", text)
    tagged = TAGGED.match(text.strip())
    return (boxed.group(1) if boxed else tagged.group(2) if tagged else text).strip(WRAPPING)


def read_label(text: str, labels: tuple[Label, ...]) -> tuple[Label, bool]:
    """The one label that `text` states, and whether `text` is nothing but that label (case and
    wrapping aside).

    Raises EchoError where the text repeats the choice, UnreadableError where it states no label
    or more than one.
    """
    spelling = {fold_text(str(label)): label for label in labels}
    bare = fold_text(_unwrap(text))
    if bare in spelling:
        return spelling[bare], True
    if is_choice(text, labels):
        raise EchoError(f"'{shorten(text)}' repeats the choice")
    if text.endswith("…"):
        raise UnreadableError(f"'{shorten(text)}' is cut off")
    stripped = _unwrap(text)
    readings = (
        _opening_label(THE_WINNER.sub("", LEAD_IN.sub("", stripped).lstrip(WRAPPING)), spelling),
        _opening_label(_strip_frame(stripped, labels), spelling, capitals=True),
        _read_article(bare, spelling),
    )
    for label in readings:
        if label is not None:
            return label, False
    raise UnreadableError(f"'{shorten(text)}' is not one of {', '.join(map(str, labels))}")


def _opening_label(
    phrase: str, spelling: dict[str, Label], *, capitals: bool = False
) -> Label | None:
    """The label that `phrase` opens with and names alone; with `capitals` it may deny others, in
    capitals itself.
    """
    folded = unicodedata.normalize("NFKC", phrase).casefold().replace("_", " ")
    for word in sorted(spelling, key=len, reverse=True):
        if not folded.startswith(word) or (capitals and not phrase[: len(word)].isupper()):
            continue
        predicate = PREDICATE.match(folded, len(word))
        rest = folded[predicate.end() if predicate else len(word) :]
        if capitals:
            rest = _denial_pattern(tuple(spelling)).sub("", rest)
        if (
            EXPLANATION.match(rest)
            and find_mentions(rest, tuple(spelling)) <= {word}
            and not UNDECIDED.search(rest)
        ):
            return spelling[word]
    return None


@lru_cache(maxsize=512)
def _denial_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Labels that are denied: ", not CON", "rather than CON or NEUTRAL", "no more debate"."""
    label = "|".join(rf"{re.escape(word)}(?![a-z0-9_])" for word in words)
    return re.compile(
        r"(?:,?\s*(?:and|but)?\s*\b(?:not|rather than|instead"
        rf" of)|\bno)\s+(?:{label})(?:(?:,|\s+or|\s+nor)\s+(?:{label}))*"
    )


def _strip_frame(text: str, labels: tuple[Label, ...]) -> str:
    """`text` without what may precede a label in capitals: "It's", "Neither PRO nor CON, so", "反对
    (", "The".
    """
    words = "|".join(re.escape(str(label)) for label in labels)
    neither = re.match(
        rf"neither\s+({words})\s+nor\s+({words})\b,?\s*(?:so|but|hence|therefore|thus)?:?\s+",
        text,
        re.I,
    )
    if neither:
        phrase = text[neither.end() :]
        excluded = {fold_text(neither[1]), fold_text(neither[2])}
        return "" if find_mentions(phrase, labels) & excluded else phrase
    return OTHER_SCRIPT.sub("", COPULA.sub("", text)).lstrip(WRAPPING)


ARTICLE = re.compile(
    r"(?:(?:依照|根据)?(?:《?(?:中华人民共和国)?刑法》?)?第?(?P<han>\d{1,3}|[〇零一二三四五六七八九十百]{1,8})条"
    r"(?:第?[一二三四五六七八九十\d]{1,2}款)?|(?:article|art\.?)\s*(?P<latin>\d{1,3}))"
)


def _read_article(bare: str, spelling: dict[str, Label]) -> Label | None:
    """The label that is the number of an article: "第264条", "刑法第二百六十四条", "Article 264"."""
    match = ARTICLE.fullmatch(bare) if all(word.isdigit() for word in spelling) else None
    if match is None:
        return None
    number = match["latin"] or match["han"]
    return spelling.get(number if number.isdigit() else str(_from_han(number)))


_CITED = re.compile(
    r"第(\d{1,3}|[〇零一二三四五六七八九十百]{1,8})条|\b(?:article|art\.)\s*(\d{1,3})\b",
    re.IGNORECASE,
)


def find_citations(text: str, labels: Iterable[str]) -> set[str]:
    """The labels that a text names: articles by their numbers, others by their words, the longest
    of several first.
    """
    label_set = set(labels)
    if all(label.isdigit() for label in label_set):
        numbers = [arabic or latin for arabic, latin in _CITED.findall(text)]
        return {
            number if number.isdigit() else str(_from_han(number)) for number in numbers
        } & label_set
    words = "|".join(re.escape(label) for label in sorted(label_set, key=len, reverse=True))
    return (
        set(re.findall(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", text, re.IGNORECASE)) & label_set
    )


def _from_han(numeral: str) -> int:
    """A Chinese numeral up to 999, or digits one by one ("二六四")."""
    if not set(numeral) & set("十百"):
        return int("".join(str(max(HAN_DIGITS.find(digit), 0)) for digit in numeral))
    value, digit = 0, 0
    for character in numeral:
        if character in "十百":
            value, digit = value + max(digit, 1) * (10 if character == "十" else 100), 0
        else:
            digit = max(HAN_DIGITS.find(character), 0)
    return value + digit


@lru_cache(maxsize=1)
def _number_words() -> dict[str, int]:
    words = {word: value for value, word in enumerate(UNITS)}
    for tens, ten in enumerate(TENS, start=2):
        words[ten] = tens * 10
        words |= {f"{ten} {UNITS[unit]}": tens * 10 + unit for unit in range(1, 10)}
    words |= {"hundred": 100, "one hundred": 100, "a hundred": 100}
    return words


@lru_cache(maxsize=64)
def _after_number(scale: float) -> re.Pattern[str]:
    """What may follow a number on a scale of 10: "/10", "out of 10", "%"."""
    return re.compile(
        r"(?:\s*(?P<percent>%|٪|per\s?cent\b|pct\b|percentage points?\b))?"
        rf"(?:\s*(?:/|out of|of)\s*{scale:g}(?![\d.]\d|\d)%?)?",
        re.IGNORECASE,
    )


def read_number(text: str, scale: float) -> tuple[int | float, bool, bool]:
    """The one number that `text` opens with; whether it is a percentage; whether the text is
    nothing else.

    Digits keep their kind: "70" is an int, "70.0" a float. Words reach from zero to one
    hundred, English and Chinese. Raises UnreadableError for no number, a range ("70-80"), a
    list, or a fraction of anything but `scale`.
    """
    bare = re.sub(r"\*\*(?!\s?\d)", "", unicodedata.normalize("NFKC", text))  # bold, no power
    phrase = HEDGE.sub("", bare.strip(WRAPPING.replace(".", "")))
    percent_of = phrase.startswith("百分之")
    phrase = phrase.removeprefix("百分之")
    if digits := NUMBER.match(phrase):
        value, end = _read_digits(digits["digits"]), digits.end()
    else:
        value, end = _read_number_word(phrase)
    unit = _after_number(scale).match(phrase, end)
    percent = percent_of or bool(unit and unit["percent"])
    rest = phrase[unit.end() :] if unit else phrase[end:]
    if SECOND_NUMBER.match(rest):
        raise UnreadableError(f"'{shorten(text)}' is not one number")
    return value, percent, not rest.strip(WRAPPING)


def _read_digits(digits: str) -> int | float:
    if len(digits) > 30:  # no measured quantity is longer, and int() of thousands of digits is slow
        raise UnreadableError("a number of more than 30 digits")
    return float(digits) if re.search(r"[.eE]", digits) else int(digits)


def _read_number_word(phrase: str) -> tuple[int, int]:
    if han := HAN_NUMBER.match(phrase):
        return _from_han(han[0]), han.end()
    folded = phrase.casefold().replace("-", " ")
    for word, value in sorted(_number_words().items(), key=lambda item: -len(item[0])):
        if folded.startswith(word) and not (
            word.isascii() and folded[len(word) : len(word) + 1].isalpha()
        ):
            return value, len(word)
    raise UnreadableError(f"'{shorten(phrase)}' is not a number")


def find_announced(text: str, labels: tuple[Label, ...]) -> Iterator[Label]:
    """Every label that `text` gives as its answer: on a line of its own, or after words such as
    "the answer is".

    Raises UnreadableError at an announcement that names labels without choosing one.
    """
    for line in text.splitlines():
        phrases = (
            [line]
            if fold_text(_unwrap(line)) in {fold_text(str(label)) for label in labels}
            else []
        )
        phrases += [match["value"] for match in STATED_ANSWER.finditer(line)]
        phrases += re.findall(r"\\boxed\{[^{}]*\}", line)
        for phrase in phrases:
            sentence = re.split(r"(?<=[.。!！])\s+(?=[^\W\d])", phrase, maxsplit=1)[0]
            try:
                yield read_label(sentence, labels)[0]
            except EchoError:
                continue
            except UnreadableError:
                if find_mentions(sentence, labels):
                    raise


def shorten(text: str, width: int = 60) -> str:
    """`text` on one line of at most `width` characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
