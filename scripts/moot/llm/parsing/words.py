"""Labels read from one phrase, if the phrase is unambiguous.

A label counts if the phrase is the label ("**Yes.**") or opens with it and explains it ("Yes,
because ..."). In capitals, as in prompts, it also counts after a copula ("The text is CON."), next
to denied labels ("PRO, not CON") and after words of another script ("反对 (CON)"), since prose does
not contain such words by chance.

A label of one letter is found in capitals only: "a witness" names no label A. The same holds for
"no" before a noun: "Yes, there is no doubt" does not name the label NO.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from moot.llm.parsing.articles import read_article, read_crime
from moot.llm.parsing.normaliser import drop_struck
from moot.llm.parsing.plain_text import (
    WRAPPING,
    EchoError,
    UnreadableError,
    fold_text,
    normalize_width,
    shorten,
)

Label = str | int | bool

PERSONS = (
    "he", "she", "they", "tenant", "landlord", "plaintiff", "defendant", "claimant", "accused",
    "prosecution", "defence", "lawyer", "witness",
)  # fmt: skip
"""Persons in a case, whose answers and confidence are not the answer of a reply."""

_NOUN = (
    r"(?:answer|verdict|prediction|decision|judge?ment|conclusion|label|stance|ruling|"
    r"classification"
    r"|outcome|choice|vote|disposition|category|class|position|result)"
)
_HAN_NOUN = (
    r"(?:(?:答案|回答|预测|預測|结论|結論|判断|判斷|判决|判決|立场|立場|类别|類別|分类|分類|类型|類型"
    r"|选项|選項|选择|選擇|结果|結果){1,2})"
)
ANNOUNCEMENT = rf"(?:{_NOUN}|{_HAN_NOUN})"
_SUBJECT = (
    r"(?:text|case|question|document|passage|statement|article|post|tweet|comment|debate|dispute"
    r"|author|writer|matter|claim|appeal|paragraph|speech|problem)"
)
_ABOUT = (  # "The stance of the text is", "My answer to this question is"
    rf"(?:\s+(?:of|for|in|on|to)\s+(?:the|this)\s+(?:given\s+)?{_SUBJECT}|\s+here)?"
)
_HAN_SUBJECT = r"(?:(?:该|本|此)?(?:案件|案|题|纠纷|争议|文本|文章|文)?)"
_HAN_CONCLUSION = (
    r"(?:(?:综上所述|综上|因此|所以|故|最终|最終|我的|正确|正確|最佳|我们?认为)[，,]?\s*)*"
)
COPULA_OR_COLON = (
    r"(?:\s*(?:->|=>|→|[:=：＝])\s*|\s+(?:is|would be|should be|must be)\s*:?\s+(?:that\s+)?"
    r"|\s*(?:应该|应当|应|就)?(?:是|为|為|选择|選擇|选|選|属于|屬於)\s*[:：]?\s*)"
)
_INTERJECTIONS = (
    "sure", "sure thing", "certainly", "of course", "absolutely", "ok", "okay", "all right",
    "alright", "understood", "got it",
)  # fmt: skip
_INTERJECTION = rf"(?:(?:{'|'.join(_INTERJECTIONS)})[!.,]+\s+)?"
_CONNECTIVE = (
    r"(?:(?:so|thus|therefore|hence|overall|in conclusion|in summary|in sum|to conclude"
    r"|consequently|accordingly|finally|ultimately|on balance),?\s+)?"
)
_DEGREE = (
    r"(?:(?:(?:very|most|quite|highly|almost)\s+)?(?:probably|likely|certainly|clearly|definitely"
    r"|presumably|surely)[:,]?\s+)"
)
_DEGREES_OF_SURETY = (
    "fairly", "quite", "very", "reasonably", "pretty", "absolutely", "completely", "almost",
    "highly",
)  # fmt: skip
_I_AM_SURE = (  # "I am 70% confident that the answer is"
    r"i(?:['’]m|\s+am)\s+(?:(?:about|around)\s+)?"
    rf"(?:(?:[5-9]\d|100)\s?%\s+|(?:{'|'.join(_DEGREES_OF_SURETY)})\s+)?"
    r"(?:confident|sure|certain|convinced)\s+that\s+"
)
_AUTHORS = (
    "text", "author", "writer", "speaker", "post", "tweet", "comment", "passage", "article",
    "document", "speech",
)  # fmt: skip
SPEAKER = (
    rf"{_CONNECTIVE}(?:(?:i|we)\s+(?:think|believe|conclude|say)\s+(?:that\s+)?|{_I_AM_SURE})?"
    r"(?:(?:my|the|our|final|overall|correct|right|best|proper|appropriate|likely|likeliest|most"
    r"|predicted|chosen)\s+)*"
    rf"(?:(?:{'|'.join(_AUTHORS)})['’]s\s+(?:overall\s+)?)?"
)
I_SAY = (  # "I predict YES", "I would classify this as PRO", "we predict that the outcome is NO"
    r"(?:i|we)\s+(?:(?:would|will|therefore|thus)\s+){0,2}"
    r"(?:(?:predict|vote|answer|conclude|choose|select)(?:\s+(?:that|for))?(?:\s*:)?"
    rf"|(?:classify|label|rate)\s+(?:it|this|(?:this|the)\s\w{{1,20}})\s+as)\s+{_DEGREE}?"
)
_FOR = (  # "Judgment for the DEFENDANT", "I find in favor of the PLAINTIFF"
    r"(?:(?:judge?ment|verdict|decision|ruling)\s*:?|(?:i|we)\s+(?:(?:would|will)\s+)?"
    r"(?:find|rule|decide|side|vote))\s+(?:for|with|in\s+favou?r\s+of)\s+(?:the\s+)?"
)
_HAN_CHOOSES = (
    rf"{_HAN_CONCLUSION}{_HAN_SUBJECT}(?:应该|应当|应)?"
    r"(?:选择|選擇|选|選|属于|屬於|认定为|定性为)[:：]?\s*"
)
_HAN_BRACKETED = rf"[\[【(（](?:正确|正確|最终|最終)?{_HAN_NOUN}[\]】)）]\s*[:：]?\s*"
_HAN_ANSWER_LETTER = r"(?:正确|正確)?答案\s*(?=[A-Z](?![A-Za-z]))"
_STATING_NOUN = rf"(?:{_NOUN}|grade|option|pick|selection|winner)"
_MEASURES = (
    "sentiment", "emotion", "tone", "polarity", "attitude", "risk", "relevance", "severity",
    "toxicity", "leaning", "finding", "topic", "intent", "relation", "relationship", "response",
    "winner", "type",
)  # fmt: skip
_MEASURED = (  # "Sentiment: negative", "Risk level: high"
    rf"(?:{'|'.join(_MEASURES)})(?:\s+(?:label|level|class))?[*_\"'`]*\s*[:：]\s*"
)
_CONCLUDES = (  # "Overall: PRO"
    r"(?:overall|in conclusion|in summary|in sum|so|thus|therefore|hence|finally|on balance"
    r"|all in all)\s*[:：]\s*"
)
OPTION_NOUN = (  # "Option B", "Output (a)"
    r"(?:(?:the\s+)?(?:option|choice|output|response|assistant|candidate)\s+[(\[]?"
    r"(?=(?-i:[A-Z])[\W]|(?-i:[A-Z])$))?"
)
ANSWER_INTRODUCTION = (
    rf"(?:{SPEAKER}{_STATING_NOUN}{_ABOUT}[*_\"'`]*{COPULA_OR_COLON}{_DEGREE}?"
    rf"|{_HAN_CONCLUSION}{_HAN_SUBJECT}(?:的)?(?:正确|正確)?{_HAN_NOUN}[*_\"'`]*{COPULA_OR_COLON}"
    rf"|{_HAN_BRACKETED}|{_HAN_ANSWER_LETTER}|{_HAN_CHOOSES}"
    rf"|{_CONNECTIVE}{_FOR}|{_CONCLUDES}|{SPEAKER}{_MEASURED}"
    rf"|{_CONNECTIVE}{I_SAY}(?:{SPEAKER}{_NOUN}{COPULA_OR_COLON})?)"
)
_LETTERED = re.compile(rf"^({ANSWER_INTRODUCTION}[*_]*(?-i:[A-Z]))[)）]\s+(?=\w)", re.IGNORECASE)
"""The letter of an option that is answered with its text: "Answer: C) arson"."""
_SYMBOL = re.compile(r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
"""Emojis and their like."""
_CHOICE_HEADING = re.compile(r"^\s*([^:：\n]{3,60})[:：]\s*(?=\S)")
LEAD_IN = re.compile(
    rf"^{_INTERJECTION}(?:{ANSWER_INTRODUCTION}|{_CONNECTIVE}{_DEGREE})?{OPTION_NOUN}",
    re.IGNORECASE,
)
EXPLANATION = re.compile(
    r"[\s\"'`*_)\]”’」】]*(?:$|\.(?!\s*\d)|[,;:!。，；：！、—(（\n]"
    r"|\s[-–]\s|\s(?:because|since|with|due to|given|based on)\s|因为|因為"
    r"|\s*[\[【]?(?:解析|分析|理由|解释|说明|原因))",
    re.IGNORECASE,
)
COPULA = re.compile(  # "It's PRO", "The text is CON", "I would say PRO"
    r"^(?:(?:(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+)?"
    r"(?:(?:it|this|that)(?:['’]s|\s+is|\s+would\s+be)|(?:the|this)\s+\w{1,20}\s+is)\s+"
    rf"|(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+){_DEGREE}?",
    re.IGNORECASE,
)
# "Plaintiff wins the case", "AGREEMENT has been reached", "MORE DEBATE is needed", "选项" behind A
PREDICATE = re.compile(
    r"\s+(?:(?:wins|prevails|(?:should|will|would|must)\s+(?:win|prevail))(?:\s+(?:the|this)\s\w+)?"
    r"|(?<=agreement )(?:has|have)\s+(?:now\s+)?been\s+reached"
    r"|(?<=debate )is\s+(?:needed|required|necessary))(?!\w)"
    r"|(?<=guilty)\s+(?:beyond\s+(?:a|any|all)?\s*(?:reasonable\s+)?doubt|by\s+reason\s+of\s+\w+"
    r"|as\s+charged|on\s+all\s+counts|of\s+all\s+charges)"
    r"|\s?(?:选项|項|项|类别|類別|类型|類型|类案件|一类|类)",
    re.IGNORECASE,
)
THE_WINNER = re.compile(
    r"^the\s+(?=\w+\s+(?:wins|prevails|should|will|would|must)\b)", re.IGNORECASE
)
OTHER_SCRIPT = re.compile(r"^[^\W\d_a-zA-Z不非没無无未否]{1,12}\s?(?=[(（])")
TAGGED = re.compile(
    r"^<(answer|prediction|label|stance|verdict|decision|vote)>([^<>]*)</\1>$", re.IGNORECASE
)
CHOICE_WORDS = re.compile(
    r"\b(?:or|and|either|one|of|the|following|choose|from|between|exactly|label|labels|text|string|"
    r"value)\b|[或和]"
)
_CHOICE_IN_BRACKETS = re.compile(r"\s{0,3}[(（]([^()（）\n]{3,200})[)）]")
_OF_A_FACT = r"(?!\s+(?:whether|if|why|how|who|what|when|where|that)\b)"
_DOUBT_WORD = (
    r"(?:(?:unable|impossible|unknown|unclear|undetermined|undecided|uncertain|unsure"
    r"|not\s+(?:sure|certain|clear|possible|enough|(?:yet\s+)?(?:been\s+)?reached)"
    rf"|hard\s+to\s+(?:say|tell)|n/a|just\s+kidding|or\s+not|probably\s+not)\b{_OF_A_FACT}"
    r"|(?:maybe|perhaps|possibly)(?=\s*(?:[.,;!?)]|$|not\b|so\b|but\b|also\b))"
    r"|neither(?=\s*(?:[.,;!?)]|$|of\b|is\b|one\b)))"
)
_OWN_DOUBT = (
    r"\b(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)?\s+(?:\w+\s+){0,2}?(?:(?:not|n['’]t)\s+(?:\w+\s+){0,"
    r"2}?(?:sure"
    r"|certain|clear|confident)|unsure|uncertain|undecided|unable)\b"
    r"|\b(?:i|we)\s+(?:\w+\s+){0,2}?(?:cannot|can['’]?t|could\s+not|couldn['’]?t|do\s+not|"
    r"don['’]?t)"
    r"\s+(?:\w+\s+){0,2}?(?:be\s+(?:sure|certain)|say|tell|know|decide|determine|answer|choose|"
    r"judge)\b"
    r"|\bjust\s+kidding\b|\b(?:may|might|could)\s+(?:just\s+)?as\s+well\s+be\b"
    r"|我(?:也)?(?:不确定|不確定|无法|無法|不知道|不清楚)"
)
_SPEAKS_TO_USER = (  # "No, I won't make a prediction", "Yes, I can help with that"
    r"|^[\s\"'`*_]*[,!]\s*(?:i\s+(?:won['’]?t|will\s+not|cannot|can['’]?t)\s+(?:make|give)\s+an?\s+"
    r"(?:prediction|answer|verdict)|i\s+can\s+(?:help\s+with|do)\s+that"
    r"|please\s+(?:provide|share)\s+the)\b"
)
_CONDITION = re.compile(  # "YES, but only if he paid", "8 if it were shorter"
    r"^[\s\"'`*_)\]]*[,;—–(-]?\s*(?:but\s+)?only\s+if\b|^\s+(?-i:if)\b", re.IGNORECASE
)
_ASKS = re.compile(  # "PRO (?)", "YES, I guess?"
    r"^[\s\"'`*_,)\]]*\(?\s*(?:(?:i\s+(?:guess|think|suppose|believe)|probably|right)[\s,]*)?\?",
    re.IGNORECASE,
)
_FIELD_WITH_NO = re.compile(  # "Won: no", "Plaintiff: loses"
    r"^[\s\"'`*_)]*(?:[:=：]|\s[-–—])\s*(?:no|loses)\W*$", re.IGNORECASE
)
_NEXT_CLAUSE = (
    r"^[\s\"'`*_)\]”’」】.,;:!。，；：！、—–(（-]*(?:(?:but|though|although|and|yet|or)\s+)?"
)
_UNDETERMINED = (
    r"(?:(?:it|this|that|which)\s+)?(?:cannot|can['’]?t|could\s+not)\s+be\s+(?:determined|known|"
    r"decided"
    r"|said|told|predicted|answered|inferred)\b"
)
_IS_UNCLEAR = (
    r"(?:it|this|that)(?:['’]s|\s+is|\s+may|\s+might|\s+could)\s+(?:\w+\s+){0,2}?(?:unclear"
    r"|uncertain|hard\s+to\s+(?:say|tell)|not\s+(?:sure|certain|clear)"
    rf"|impossible\s+to\s+(?:say|tell|know|decide)|be\b){_OF_A_FACT}"
)
_HAN_DOUBT = (
    r"(?:但|不过|也许|可能)?(?:不确定|不確定|无法确定|無法確定|无法判断|無法判斷|不知道|不清楚"
    r"|难以判断|難以判斷)"
)
_DOUBT = re.compile(
    rf"{_NEXT_CLAUSE}(?:{_UNDETERMINED}|{_DOUBT_WORD}|{_IS_UNCLEAR}|{_HAN_DOUBT})|{_OWN_DOUBT}"
    rf"{_SPEAKS_TO_USER}",
    re.IGNORECASE,
)
_MARKS_WITHOUT_SIGNS = re.sub("[<>$]", "", WRAPPING)
_SIGNED = re.compile(
    r"-\.?\d|[<>≤≥](?!\s)[^<>]*$|\$(?!\s)[^$]*$|[€£¥]\d|\d{1,3}(?:,\d{3})+(?!\d)"
    r"|\w[-+](?:\s*$|[,.;:])"
)
_WORD_CHARACTERS = "a-zA-Z0-9_"
_NO_AS_ANSWER = r"no(?=[\s*_]*(?:[.,;:!?)\]\"'”’。，；：！…]|$|or\b|and\b|but\b))"


def label_regex(label: Label) -> str:
    """Return a pattern of one label as a whole word, in any case where the word allows it.

    Scripts without spaces have no word boundaries.
    """
    word = normalize_width(str(label)).strip()
    body = _label_body(word)
    if not word.isascii():
        return body
    if len(word) == 1:
        body = rf"(?-i:{re.escape(word.upper())})"
    elif word.casefold() == "no":
        body = rf"(?:(?-i:NO)|{_NO_AS_ANSWER})"
    if word[0].isdigit():
        body = rf"(?<!\d[.,])(?<![<>+-]){body}(?![.,]?\d)"
    start = rf"(?<![{_WORD_CHARACTERS}])" if word[0].isalnum() else ""
    return rf"{start}{body}(?![{_WORD_CHARACTERS}])"


def _label_body(word: str) -> str:
    """Return a pattern of the words of a label, also with marks of bold or italic face between."""
    parts = re.split(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", word)
    return r"[\s_*-]+".join(map(re.escape, parts))


@lru_cache(maxsize=512)
def _mention_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of any mention of a label, the longest label first."""
    words = sorted({str(label) for label in labels}, key=lambda word: (-len(word), word))
    return re.compile("|".join(label_regex(word) for word in words), re.IGNORECASE)


def find_mentions(text: str, labels: tuple[Label, ...]) -> set[str]:
    """Return the labels, folded, that `text` names anywhere."""
    plain = normalize_width(text)
    return {fold_text(mention) for mention in _mention_pattern(labels).findall(plain)}


def find_spelled_mentions(text: str, labels: tuple[Label, ...]) -> set[str]:
    """Return the labels, folded, that `text` names as prompts spell them or in capitals."""
    plain = normalize_width(text)
    spellings = {str(label) for label in labels} | {str(label).upper() for label in labels}
    mentions = _mention_pattern(labels).findall(plain)
    return {fold_text(mention) for mention in mentions if mention in spellings}


def is_choice(text: str, labels: tuple[Label, ...]) -> bool:
    """Return whether `text` only repeats the choice: "YES or NO", "<label>", "..."."""
    stripped = text.strip()
    if re.fullmatch(r"<[^<>]*>|\[[^\[\]]*\]|\.{3}|…", stripped) and fold_text(
        stripped.strip("<>[]")
    ) not in {fold_text(str(label)) for label in labels}:
        return True
    return lists_choice(text, labels)


def lists_choice(text: str, labels: tuple[Label, ...]) -> bool:
    """Return whether `text` lists two labels or more, with only words such as "or" and "one of"."""
    folded = fold_text(text)
    mentions = _any_case_pattern(labels).findall(folded)
    rest = CHOICE_WORDS.sub(" ", _any_case_pattern(labels).sub(" ", folded))
    return len(set(mentions)) > 1 and not re.search(r"[^\W_]", rest)


@lru_cache(maxsize=512)
def _any_case_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    words = sorted({fold_text(str(label)) for label in labels}, key=lambda word: (-len(word), word))
    alternatives = (
        rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z0-9_])" if word.isascii() else re.escape(word)
        for word in words
    )
    return re.compile("|".join(alternatives))


def drop_bracketed_choices(text: str, labels: tuple[Label, ...]) -> str:
    """Return `text` without choices in brackets or as a heading.

    Examples are "The answer (yes/no): NO" and "YES/NO: NO".
    """
    heading = _CHOICE_HEADING.match(text)
    if heading and lists_choice(heading[1], labels):
        text = text[heading.end() :]
    return _CHOICE_IN_BRACKETS.sub(
        lambda match: "" if lists_choice(match[1], labels) else match[0], text
    )


def drop_symbols(text: str, labels: tuple[Label, ...]) -> str:
    """Return `text` without emojis and arrows, unless a label holds one."""
    if any(_SYMBOL.search(str(label)) for label in labels):
        return text
    return _SYMBOL.sub(lambda match: "->" if match[0] in "→⇒" else " ", text)


def has_sign(text: str, labels: tuple[Label, ...]) -> bool:
    """Return whether a sign makes another value of a number or letter that is a label.

    Examples are "-1", "<1", "$1", "1,000" and the grade "B-".
    """
    if not any(re.fullmatch(r"\d+|[^\W\d_]", str(label)) for label in labels):
        return False
    phrase = LEAD_IN.sub("", text.strip()).lstrip(" *_\"'`(").rstrip(" *_\"'`)")
    plain = normalize_width(phrase)
    opening = match_opening(plain, labels)
    has_label_with_sign = opening is not None and not str(opening[0]).isalnum()
    return _SIGNED.match(plain) is not None and not has_label_with_sign


def unwrap_label(text: str, marks: str = WRAPPING) -> str:
    """Return `text` without `marks` around it: quotes, brackets, bold, a box, a tag."""
    boxed = re.fullmatch(r"\s*\$*\\boxed\{(?:\\text(?:bf)?\{)?([^{}]*)\}+\$*\s*\.?", text)
    tagged = TAGGED.match(text.strip())
    return (boxed.group(1) if boxed else tagged.group(2) if tagged else text).strip(marks)


def label_spellings(labels: tuple[Label, ...]) -> dict[str, Label]:
    """Return the labels by their folded form, with and without marks around them.

    A form that two labels share names neither.
    """
    positions = _spelling_positions(tuple(map(str, labels)))
    return {form: labels[position] for form, position in positions.items()}


@lru_cache(maxsize=512)
def _spelling_positions(words: tuple[str, ...]) -> Mapping[str, int]:
    """Return the positions of labels by their folded form."""
    forms = [fold_text(_unwrap_spelling(word)) for word in words]
    positions = {form: number for number, form in enumerate(forms) if forms.count(form) == 1}
    return positions | {fold_text(word): number for number, word in enumerate(words)}


def _unwrap_spelling(label: str) -> str:
    """Return a label without marks around it; the sign of "<50K" is no mark."""
    is_bracketed = label.startswith("<") and label.endswith(">")
    return unwrap_label(label, WRAPPING if is_bracketed else _MARKS_WITHOUT_SIGNS)


def read_label(text: str, labels: tuple[Label, ...]) -> tuple[Label, bool]:
    """Return the one label that `text` states, and whether `text` is nothing but that label.

    Case and wrapping are ignored.

    Raises:
        EchoError: the text repeats the choice.
        UnreadableError: the text states no label, or more than one.
    """
    spelling = label_spellings(labels)
    text = drop_symbols(drop_struck(text), labels)
    item = re.match(r"\W*-\s+(\d+)", text)
    if item and f"-{item[1]}" in map(str, labels):
        raise UnreadableError(f"'{shorten(text)}' may be a list's item or a negative number")
    for marks in (_MARKS_WITHOUT_SIGNS, WRAPPING):
        bare = fold_text(unwrap_label(text, marks))
        if bare in spelling:
            return spelling[bare], True
        if has_sign(text, labels):
            raise UnreadableError(f"'{shorten(text)}' has a sign that no label has")
    if is_choice(text, labels):
        raise EchoError(f"'{shorten(text)}' repeats the choice")
    if text.endswith("…"):
        raise UnreadableError(f"'{shorten(text)}' is cut off")
    phrase = unwrap_label(drop_bracketed_choices(text, labels))
    label = _read_phrase(phrase, labels)
    if label is None:
        label = _read_number_or_crime(bare, spelling)
    if label is None:
        raise UnreadableError(f"'{shorten(text)}' is not one of {', '.join(map(str, labels))}")
    return label, False


def _read_number_or_crime(bare: str, spelling: dict[str, Label]) -> Label | None:
    if all(word.isdigit() for word in spelling):
        number = read_article(bare, spelling)
        return None if number is None else spelling[number]
    word = read_crime(bare, spelling)
    return None if word is None else spelling[word]


def _read_phrase(phrase: str, labels: tuple[Label, ...]) -> Label | None:
    phrase = _LETTERED.sub(r"\1, ", phrase)
    without_lead_in = LEAD_IN.sub("", phrase).lstrip(WRAPPING)
    label = opening_label(THE_WINNER.sub("", without_lead_in), labels)
    if label is not None:
        return label
    for frame in (_strip_frame(phrase, labels), without_lead_in):
        label = opening_label(frame, labels, capitals=True)
        if label is not None:
            return label
    return None


def match_opening(phrase: str, labels: tuple[Label, ...]) -> tuple[Label, re.Match[str]] | None:
    """Return the label that `phrase` opens with, in any case, and its match; the longest first."""
    plain = normalize_width(phrase)
    for position, pattern in _opening_patterns(tuple(map(str, labels))):
        match = pattern.match(plain)
        if match is not None:
            return labels[position], match
    return None


@lru_cache(maxsize=512)
def _opening_patterns(words: tuple[str, ...]) -> tuple[tuple[int, re.Pattern[str]], ...]:
    """Return the positions of the labels' words, the longest first, each with its pattern."""
    patterns = []
    for position in sorted(range(len(words)), key=lambda position: -len(words[position])):
        body = _label_body(normalize_width(words[position]).strip())
        patterns.append((position, re.compile(body, re.IGNORECASE)))
    return tuple(patterns)


def opening_label(
    phrase: str, labels: tuple[Label, ...], *, capitals: bool = False
) -> Label | None:
    """Return the label that `phrase` opens with, if it names no other.

    With `capitals` the label must be in capitals or a number. The phrase may then deny other labels
    in capitals, and discuss them in lower case.
    """
    opening = match_opening(phrase, labels)
    if opening is None:
        return None
    label, match = opening
    is_plain_word = not (match[0].isupper() or match[0].lstrip("+-").isdecimal())
    if capitals and is_plain_word:
        return None
    predicate = PREDICATE.match(match.string, match.end())
    rest = match.string[predicate.end() if predicate else match.end() :]
    rest = _han_denial_pattern(labels).sub("", rest)
    if capitals:
        rest = denial_pattern(labels).sub("", rest)
    if not EXPLANATION.match(rest) or has_doubt(rest) or _FIELD_WITH_NO.match(rest):
        return None
    mentions = _find_rivals(rest, labels, capitals=capitals)
    return label if mentions <= {fold_text(str(label))} else None


def _find_rivals(rest: str, labels: tuple[Label, ...], *, capitals: bool) -> set[str]:
    """Return the labels, folded, that the words after an opening label name as possible answers.

    A party in a sentence of reasons is none: "Tenant. The landlord broke the lease."
    """
    if capitals:
        return find_discussed(rest, labels)
    mentions = find_mentions(rest, labels)
    if mentions and re.match(r"[\s\"'`*_)]*[.!:—–]\s", rest):
        return find_mentions(_ACTOR.sub("", rest), labels) | find_discussed(rest, labels)
    return mentions


_ACTOR = re.compile(
    r"\bthe\s+[a-z]{4,}(?:['’]s)?(?=\s+[a-z])|\bThe\s+[a-z]{4,}(?:['’]s)?(?=\s+[a-z])"
)
"""A party in a sentence of reasons, in lower case: "The landlord broke the lease"."""


def find_discussed(text: str, labels: tuple[Label, ...]) -> set[str]:
    """Return the labels, folded, that `text` names in capitals or calls the winner in any case."""
    winners = {fold_text(match["label"]) for match in _winner_pattern(labels).finditer(text)}
    if any(len(str(label)) > 1 and not str(label).isascii() for label in labels):
        return winners | find_mentions(text, labels)
    return winners | find_spelled_mentions(text, tuple(str(label).upper() for label in labels))


@lru_cache(maxsize=512)
def _winner_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of a label that wins, is right or better."""
    label = "|".join(label_regex(word) for word in sorted(map(str, labels), key=len, reverse=True))
    return re.compile(
        rf"(?P<label>{label})(?:['’]s\s\w+)?\s+(?:\w+\s+){{0,2}}?(?:wins|prevails|win|prevail|"
        r"(?:is|are|has|seems|would"
        r" be)\s+(?:\w+\s+){0,2}?(?:stronger|better|right|correct|best|more|also|as|equally|"
        r"the\s+winner))\b",
        re.IGNORECASE,
    )


def has_condition(rest: str) -> bool:
    """Return whether the words after an answer make it conditional: "8, but only if short"."""
    return _CONDITION.search(rest) is not None


def has_doubt(rest: str) -> bool:
    """Return whether the words after a label withdraw it: "Yes, but I am not sure", "Yes, if".

    Doubt about the facts does not count: "No. They cannot be helped."
    """
    patterns = (_DOUBT, _CONDITION, _ASKS)
    return any(pattern.search(rest) is not None for pattern in patterns)


@lru_cache(maxsize=512)
def denial_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of labels that are denied.

    Examples are ", not CON", "rather than CON or NEUTRAL" and "no more debate".
    """
    label = "|".join(label_regex(word) for word in sorted(map(str, labels), key=len, reverse=True))
    return re.compile(
        r"(?:,?\s*(?:and|but)?\s*\b(?:not|rather than|instead"
        rf" of|neither)|\bno)\s+(?:{label})(?:(?:,|\s+or|\s+nor)\s+(?:{label}))*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=512)
def _han_denial_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of labels that are denied in Chinese: "，不属于租赁纠纷"."""
    label = "|".join(label_regex(word) for word in sorted(map(str, labels), key=len, reverse=True))
    denial = r"(?:不属于|不屬於|不是|并非|並非|而非|不应认定为|不选)"
    return re.compile(rf"[，,；;]?\s*而?{denial}(?:{label})(?:[、或和](?:{label}))*")


def _strip_frame(text: str, labels: tuple[Label, ...]) -> str:
    """Return `text` without possible words before a label in capitals.

    Examples are "It's", "Neither PRO nor CON, so" and "反对 (".
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
