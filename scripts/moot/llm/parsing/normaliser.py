"""Removal of thoughts and of start and end tokens around an answer."""

import re

_NAMES = r"(?:\w{1,20}[:_])?(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection|scratchpad)"
THOUGHT_MARKS = (
    (rf"<{_NAMES}>", rf"</{_NAMES}>"),
    (r"\[(?:think(?:ing)?|thoughts?)\]", r"\[/(?:think(?:ing)?|thoughts?)\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thoughts?\|>", r"<\|end_of_thoughts?\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|think(?:ing)?\|>", r"<\|/think(?:ing)?\|>"),
    (r"<\|channel\|>\s*(?:analysis|commentary)", r"<\|channel\|>\s*final[^{\n]*?<\|message\|>"),
)
"""Marks around a thought: the opening and the closing one, as regular expressions."""

_CLOSING_MARK = re.compile("|".join(close for _, close in THOUGHT_MARKS), re.IGNORECASE)
_FINAL_CHANNEL = re.compile(THOUGHT_MARKS[-1][1], re.IGNORECASE)
_OPENING_MARK = re.compile("|".join(start for start, _ in THOUGHT_MARKS), re.IGNORECASE)
_DECODED_START = re.compile(r"\s*(?:assistant)?analysis(?=[\s\S])")
_DECODED_OPEN = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z0-9\"'“{<\[])")
_DECODED_FINAL = "assistantfinal"
_END_TOKEN = re.compile(
    r"</s>|<eo[ast]>|<eos>|<end_of_turn>|<｜end▁of▁sentence｜>"
    r"|<\|(?:end|return|im_end|eot_id|endoftext|eot|eom_id|end_of_text|endofturn|end_of_solution"
    r"|END_RESPONSE|END_OF_TURN_TOKEN|user|im_start)\|>",
    re.IGNORECASE,
)
_START_TOKEN = re.compile(
    r"^\s*(?:<s>|<bos>|<\|(?:begin_of_text|begin_of_solution|assistant|START_RESPONSE)\|>"
    r"|<\|(?:start|im_start)\|>assistant(?:<\|message\|>)?|<\|start_header_id\|>assistant"
    r"<\|end_header_id\|>)\s*",
    re.IGNORECASE,
)


def strip_thoughts(text: str) -> str:
    """Remove thoughts from a reply; nothing remains after a thought that is cut off."""
    if _DECODED_START.match(text) and _DECODED_FINAL in text:
        return text.rsplit(_DECODED_FINAL, 1)[1]
    if _DECODED_OPEN.match(text):
        return ""
    closing_marks = list(_FINAL_CHANNEL.finditer(text)) or list(_CLOSING_MARK.finditer(text))
    if closing_marks:
        text = text[closing_marks[-1].end() :]
    return "" if _OPENING_MARK.search(text) else text


def strip_tokens(text: str) -> str:
    """Remove a model's start tokens, and everything after its first end token."""
    while match := _START_TOKEN.match(text):
        text = text[match.end() :]
    end = _END_TOKEN.search(text)
    return text[: end.start()] if end else text


_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
_FORMULA_MARK = re.compile(r"\\[\[\]()]|\${1,2}(?=\s*\\)|(?<=\})\s*\${1,2}")
_STYLED = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathbf|mathrm|mathsf|mathit|boldsymbol)\s*\{([^{}]*)\}"
)
_BOX = re.compile(r"\\f?boxed\s*\{\s*([^{}]*?)\s*\}")


_ANSWER_TAG = re.compile(
    r"<(answer|prediction|label|stance|verdict|decision|vote|score|grade|rating)>"
    r"\s*([^<>\n]{1,80}?)\s*</\1>",
    re.IGNORECASE,
)


_STRUCK = re.compile(r"~~[^~\n]+(?:~~|~?\Z)|<(del|strike)>[^<>\n]*</\1>", re.IGNORECASE)
_UNTICKED = re.compile(r"(?<!\w)(?:\[ \]|\( \)|[☐⬜□])[^\n\[\](){}☐⬜□☑☒✅✔✓|/,;.，；。\"]*")
_TICK = re.compile(r"\[[xX✓✔]\]|\([xX✓✔]\)[ \t]")


def drop_struck(text: str) -> str:
    """Remove struck words, boxes that are not ticked with the words after them, and ticks.

    >>> drop_struck("- [ ] YES\\n- [x] NO").split()
    ['-', '-', 'NO']
    """
    return _TICK.sub("", _UNTICKED.sub("", _STRUCK.sub("", text)))


def simplify_marks(text: str) -> str:
    r"""Remove marks of Markdown headings and formulas.

    "\boxed{\text{Yes}}" and "<answer>Yes</answer>" become "[[Yes]]".
    """
    text = _ANSWER_TAG.sub(r"[[\2]] ", _HEADING.sub("", drop_struck(text)))
    if "\\" not in text:
        return text
    for _ in range(3):
        text = _STYLED.sub(r"\1", text)
    return _FORMULA_MARK.sub("", _BOX.sub(r"[[\1]]", text))


def has_end_token(text: str) -> bool:
    """Return whether a model's end token shows that the reply is whole."""
    return _END_TOKEN.search(text) is not None
