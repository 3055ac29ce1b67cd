"""Articles of law by number, and lists of articles or of other labels."""

import re
from collections.abc import Iterable, Mapping

HAN_DIGITS = "〇一二三四五六七八九"
_NUMERAL = r"(?:\d{1,3}|[〇零一二三四五六七八九十百]{1,8})"
_STATUTE = r"(?:(?:依照|根据|依据|适用|触犯)?(?:了)?(?:《?(?:中华人民共和国)?刑法》?)?(?:的)?)"
_CLAUSE = r"(?:第?[（(]?[一二三四五六七八九十\d]{1,2}[)）]?[款项])*"
_CRIME = r"(?:(?:的|之)?(?:规定)?[^\W\d第条款之]{0,14}(?:罪|规定))?"
_ARTICLE = re.compile(
    rf"{_STATUTE}(?:第?(?P<han>{_NUMERAL})条(?!之){_CLAUSE}{_CRIME}"
    r"|(?:articles?|arts?\.?)\s*(?P<latin>\d{1,3}))",
    re.IGNORECASE,
)
_SHARED_ARTICLE = re.compile(rf"{_STATUTE}第?(?P<han>{_NUMERAL})", re.IGNORECASE)
_CITED = re.compile(
    r"第(\d{1,3}|[〇零一二三四五六七八九十百]{1,8})条(?!之)|\b(?:article|art\.)\s*(\d{1,3})\b",
    re.IGNORECASE,
)
_LIST_HEADING = re.compile(
    r"\s*(?:[\[【][^\[\]【】\d]{1,12}[\]】]|[^\W\d_]{1,12}[：:])\s*", re.IGNORECASE
)
_SEPARATORS = "、，,;；"
_SPLIT = re.compile(rf"[{_SEPARATORS}\n]|(?<=[条罪款项])(?:和|及|以及|与)(?=\S)|\s(?:and|&)\s")
_TRAILING = " .。[]【】\n\t\"'`*"


def read_article(folded: str, labels: Iterable[str]) -> str | None:
    """Return the number, among `labels`, of the article that `folded` names.

    Examples are "第264条", "刑法第二百六十四条" and "Article 264". 133之一 differs from 133.
    None if `folded` does not name such an article.
    """
    match = _ARTICLE.fullmatch(folded)
    if match is None:
        return None
    number = _arabic(match["latin"] or match["han"])
    return number if number in set(labels) else None


def find_citations(text: str, labels: Iterable[str]) -> set[str]:
    """Return the labels that a text names: articles by their numbers, others by their words.

    Of overlapping labels the longest counts.
    """
    label_set = set(labels)
    if all(label.isdigit() for label in label_set):
        numbers = [arabic or latin for arabic, latin in _CITED.findall(text)]
        return {_arabic(number) for number in numbers} & label_set
    words = "|".join(re.escape(label) for label in sorted(label_set, key=len, reverse=True))
    return (
        set(re.findall(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", text, re.IGNORECASE)) & label_set
    )


def split_list(text: str, *, is_complete: bool) -> list[str]:
    """Return the items of a list in words; none if the list is cut off at a separator.

    A heading before the list is dropped. In "第264、347条" both numbers are articles.

    Args:
        text: The list, such as "第264条、第347条".
        is_complete: Whether the text is known to be whole, so that a last separator ends it.
    """
    body = _LIST_HEADING.sub("", text, count=1) if _LIST_HEADING.match(text) else text
    body = body.strip(_TRAILING)
    if body.endswith(tuple(_SEPARATORS)) and not is_complete:
        return []
    items = [item.strip(_TRAILING) for item in _SPLIT.split(body)]
    return _complete_articles([item for item in items if item])


def _complete_articles(items: list[str]) -> list[str]:
    """Add 条 to numbers that share it with a later item."""
    completed: list[str] = []
    shares_suffix = False
    for item in reversed(items):
        is_number = shares_suffix and _SHARED_ARTICLE.fullmatch(item) is not None
        article = f"{item}条" if is_number else item
        shares_suffix = _ARTICLE.fullmatch(article) is not None and "条" in article
        completed.append(article)
    return completed[::-1]


def from_han(numeral: str) -> int:
    """Return the value of a Chinese numeral up to 999, or of digits one by one ("二六四")."""
    if not set(numeral) & set("十百"):
        return int("".join(str(max(HAN_DIGITS.find(digit), 0)) for digit in numeral))
    value, digit = 0, 0
    for character in numeral:
        if character in "十百":
            value, digit = value + max(digit, 1) * (10 if character == "十" else 100), 0
        else:
            digit = max(HAN_DIGITS.find(character), 0)
    return value + digit


def _arabic(numeral: str) -> str:
    return numeral if numeral.isdigit() else str(from_han(numeral))


def read_crime(folded: str, spelling: Mapping[str, object]) -> str | None:
    """Return the folded label that equals `folded` with the suffix 罪 ("盗窃罪" for "盗窃")."""
    word = folded.removesuffix("罪")
    return word if word != folded and word in spelling else None
