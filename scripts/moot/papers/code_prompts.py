"""The prompts of AgenticSimLaw's published code, read from its syntax tree.

The authors published the courtroom's program under the MIT licence. moot neither ships nor runs it:
each text of the program gets the digest of its words, by which `data/published/prompts_code.csv`
names the prompts. Each replacement field of an f-string becomes a slot.
"""

import ast
from collections.abc import Mapping

from moot.core.errors import UserError
from moot.papers.wording import words_digest

SLOTS: Mapping[str, str] = {
    "agent.role": "role",
    "agent.persona": "persona",
    "self.judge.persona": "persona",
    "COURTROOM_RULES": "rules",
    "self.selected_case['ntop_text_summary']": "summary",
    "self.selected_case[NTOP_SUMMARY_COL]": "summary",
    "self.selected_case['all_text_summary']": "background",
    "self.selected_case['age']": "age",
    "self.selected_case['numberofarrestsby2002']": "arrests",
    "chr(10).join(self.debate_history)": "history",
    "chr(10).join(agent.strategy_points)": "strategy",
    "speaker": "speaker",
    "latest_argument": "argument",
}
"""The slot for each expression in the program's f-strings."""
TASK_SLOT = "task"
"""The slot for the choice between the tasks of the first turn and of later turns."""


def read_code_texts(source: str, where: str) -> dict[str, str]:
    """Return the texts of a program with slots, by the digest of their words.

    A list of texts is one text, with a line for each.

    Args:
        source: the program.
        where: its path or address, for messages.

    Raises:
        UserError: The program is not Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{where}: not a Python program ({error}).") from None
    texts = filter(None, map(_text_of, ast.walk(tree)))
    return {words_digest(text): text for text in texts}


def _text_of(node: ast.AST) -> str:
    """Return the text of a syntax node; "" if it is neither a string nor an f-string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text_of, parts))
        case ast.FormattedValue(value=ast.IfExp()):
            return f"{{{TASK_SLOT}}}"
        case ast.FormattedValue(value=expression):
            name = ast.unparse(expression)
            return f"{{{SLOTS.get(name, name)}}}"
        case ast.List(elts=elements):
            return "\n".join(map(_text_of, elements))
    return ""
