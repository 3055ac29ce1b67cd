"""Lists and tables of a reply that present the options, of which none is the answer yet."""

import re
from functools import lru_cache

from moot.llm.parsing.label_mentions import Labels, find_mentions
from moot.llm.parsing.plain_text import CUT, WRAPPING, UnreadableError, fold_text

_NUMBERED_ITEM = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(?=[^\W\d])", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|", re.MULTILINE)


def drop_tables(text: str) -> str:
    """Return `text` without the rows of Markdown tables, since their cells are not answers."""
    if not _TABLE_RULE.search(text):
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("|"))


def drop_item_numbers(text: str, labels: Labels) -> str:
    """Return `text` without the numbers of a list's items, if labels are numbers.

    The number 1 may begin such a list if the reply is cut off.
    """
    has_numbers = any(str(label).isdecimal() for label in labels)
    items = _NUMBERED_ITEM.findall(text) if has_numbers else []
    is_list = len(items) > 1 or (items == ["1"] and text.endswith(CUT))
    return _NUMBERED_ITEM.sub("", text) if is_list else text


def lists_options(text: str, labels: Labels) -> bool:
    """Return whether lines of `text` present two labels or more, each once."""
    presented = [
        fold_text(match["label"])
        for line in text.splitlines()
        if (match := _option_pattern(labels).fullmatch(line)) and _presents_option(match)
    ]
    return len(presented) == len(set(presented)) > 1


def _opens_prose(match: re.Match[str]) -> bool:
    """Return whether a line continues after a label in capitals: "PLAINTIFF cites the lease"."""
    return len(match["label"]) > 1 and match["label"].isupper() and bool(match["text"].strip())


def _presents_option(match: re.Match[str]) -> bool:
    return bool(match["mark"] and match["text"].strip())


@lru_cache(maxsize=512)
def _option_pattern(labels: Labels) -> re.Pattern[str]:
    """Return a pattern of a line that presents one label: "- PRO: ...", "(A) ...", "选项B、"."""
    label = "|".join(re.escape(word) for word in sorted(map(str, labels), key=len, reverse=True))
    return re.compile(
        r"[\s>]*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?[*_\"'“]*"
        r"(?:(?:option|choice|label|arguments?\s+(?:for|against)|case\s+for|选项|選項)\s*)?"
        rf"[(（\[]?(?P<label>{label})[*_\"'”]*\s*(?P<mark>[:：.、)\]）—–=|-]*)[*_\s]*"
        rf"(?P<text>.*)",
        re.IGNORECASE | re.DOTALL,
    )


def refuse_open_list(text: str, labels: Labels) -> None:
    """Raise UnreadableError if the text ends at a bare label within a list of the labels.

    "PRO: it praises the tram. / CON:" is such a list. A label that the list has already presented
    is an answer below the list.
    """
    lines = [line for line in text.removesuffix(CUT).splitlines() if line.strip()]
    if len(lines) < 2:
        return
    last = _option_pattern(labels).fullmatch(lines[-1])
    if last is None or last["text"].strip(WRAPPING + CUT):
        return
    presented: set[str] = set()
    for line in lines[:-1]:
        match = _option_pattern(labels).fullmatch(line)
        if match and (_presents_option(match) or _opens_prose(match)):
            presented.add(fold_text(match["label"]))
    is_heading = last["mark"].endswith((":", "：")) and bool(find_mentions(text, labels))
    last_label = fold_text(last["label"])
    if presented - {last_label} and (is_heading or last_label not in presented):
        raise UnreadableError("cut off within a list of the labels")
