"""Escaping: text of models, data and users is made harmless for each output format."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import escape

PAGE = Path(__file__).parent / "page"
"""The folder of page templates and of the reader's files."""
_JOINER_CONTEXT = "[\u0590-\u1fff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]"
"""Characters around a joiner in Persian, Indian scripts and emoji, where it is part of a word."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
    f"|(?<!{_JOINER_CONTEXT})[\u200c\u200d]|[\u200c\u200d](?!{_JOINER_CONTEXT})"
)
"""Control characters (except line breaks and tabs), invisible characters, and those that change the
writing direction.
"""

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\symbol{34}",
        "`": r"\textasciigrave{}",
        "−": "$-$",
        "–": "{--}",
        "\n": " ",
        "\t": " ",
    }
)

_MARKDOWN = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_[](){}#|~!^$="}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "\t": " "}
)
_CODE = re.compile("`([^`]+)`")
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
_STARTS_A_BLOCK = re.compile(r"^(\d+)([.)])|^([-+:])")
_STARTS_A_LINK = re.compile(r"(?i)(www)\.|:(?=//)")


def markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    headings = list(headings)
    return "\n".join(_table_line(cells) for cells in (headings, ["---"] * len(headings), *rows))


def _table_line(cells: Iterable[str]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def visible(text: object) -> str:
    """Return text without control and invisible characters and changes of writing direction.

    >>> visible("a\u061cb\u200bc\u2066d\u200ce")
    'abcde'
    """
    return _INVISIBLE.sub("", str(text).replace("\r\n", "\n").replace("\r", "\n"))


def capitalised(text: str) -> str:
    """Return text whose first letter is a capital; names in it keep theirs.

    >>> capitalised("judge McBride")
    'Judge McBride'
    """
    return text[:1].upper() + text[1:]


def html(text: object) -> str:
    """Return text for HTML, elements and attributes alike.

    >>> html('<b onclick="x">')
    '&lt;b onclick=&#34;x&#34;&gt;'
    """
    return str(escape(visible(text)))


def html_note(text: object) -> str:
    """Return text as `html` does, with text between backticks as code.

    >>> html_note("`n` < 3")
    '<code>n</code> &lt; 3'
    """
    return _CODE.sub(r"<code>\1</code>", html(text))


def latex_note(text: object) -> str:
    r"""Return text as `latex` does, with text between backticks in typewriter.

    >>> latex_note("`n_1` of 3")
    '\\texttt{n\\_1} of 3'
    """
    pieces = _CODE.split(str(text))
    return "".join(
        rf"\texttt{{{latex(piece)}}}" if place % 2 else latex(piece)
        for place, piece in enumerate(pieces)
    )


def latex(text: object) -> str:
    r"""Return text for LaTeX's text mode.

    Line breaks become spaces, and dashes do not join to ligatures.

    >>> latex("50% of \\input{x}")
    '50\\% of \\textbackslash{}input\\{x\\}'
    """
    return re.sub("-(?=-)", "-{}", visible(text).translate(_LATEX)).replace("{-{}-}", "{--}")


def csv_text(text: object) -> str:
    """Return text for a CSV cell that a spreadsheet does not run as a formula.

    A quote precedes the first character (OWASP, "CSV Injection").

    >>> csv_text("=1+1")
    "'=1+1"
    """
    plain = visible(text)
    return f"'{plain}" if plain.lstrip(" ").startswith(_STARTS_A_FORMULA) else plain


def csv_cell(value: object) -> object:
    """Return a cell for CSV: text as `csv_text` returns it, but numbers in text stay.

    >>> csv_cell("-0.5")
    '-0.5'
    """
    if not isinstance(value, str):
        return value
    try:
        float(value)
    except ValueError:
        return csv_text(value)
    return value


def markdown(text: object) -> str:
    """Return text that Markdown shows literally; line breaks are kept.

    The text cannot create headings, links, images, lists or HTML.

    >>> markdown("# [a](http://b) <script>")
    '\\\\# \\\\[a\\\\]\\\\(http&#58;//b\\\\) &lt;script&gt;'
    """
    return "\n".join(_markdown_line(line) for line in visible(text).split("\n"))


def _markdown_line(line: str) -> str:
    plain = line.strip().translate(_MARKDOWN)
    plain = _STARTS_A_LINK.sub(lambda match: f"{match[1]}&#46;" if match[1] else "&#58;", plain)
    return _STARTS_A_BLOCK.sub(
        lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", plain
    )


@cache
def page_template(
    name: str, folder: Path = PAGE, undefined: type[jinja2.Undefined] = jinja2.Undefined
) -> jinja2.Template:
    """Return a template in a folder.

    Templates of HTML escape texts by the filters `text` and `note`, templates of YAML by `tojson`.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, PAGE]),
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=undefined,
    )
    # As pairs of escapes, YAML would read some characters as two halves.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    environment.filters.update(text=html, note=html_note, capitalised=capitalised)
    return environment.get_template(name)
