"""The prompts of AgenticSimLaw's published code, read from its syntax tree.

The authors published the courtroom's program under the MIT licence. moot neither ships nor runs it:
the texts are taken from the assignments that hold them, and each is compared with its sha256 in
`data/published/prompts_code.csv`. Each replacement field of an f-string becomes a slot.
"""

import ast
from collections.abc import Iterator, Mapping

from moot.core.errors import UserError

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
PERSONA_FILES: Mapping[str, str] = {
    "Prosecutor": "persona_prosecutor",
    "Defense Attorney": "persona_defense",
    "Judge": "persona_judge",
}
STRATEGY_FILES: Mapping[str, str] = {
    "self.prosecutor.strategy_points": "strategy_prosecutor",
    "self.defender.strategy_points": "strategy_defense",
}
PROMPT_FILES: Mapping[tuple[str, str], str] = {
    ("_build_prompt", "COURTROOM_RULES"): "rules",
    ("_build_prompt", "template"): "statement",
    ("_get_silent_judge_opinion", "prompt"): "belief",
    ("conduct_debate", "judge_prompt"): "verdict",
}
"""The file of words for each text, by the function and the variable that contain it."""


def read_code_prompts(source: str, where: str) -> dict[str, str]:
    """Return the texts of the program with slots, by file of words.

    Args:
        source: the program.
        where: its path or address, for messages.

    Raises:
        UserError: The program is not Python, or a text has an unknown replacement field.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{where}: not a Python program ({error}).") from None
    texts: dict[str, str] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                texts.update(_texts_of_node(node, function.name, where))
    return texts


def _texts_of_node(node: ast.AST, function: str, where: str) -> Iterator[tuple[str, str]]:
    """Yield the texts that one statement or call of a function holds."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "CourtAgent":
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        name = PERSONA_FILES.get(_constant_text(keywords.get("role")))
        if name and (persona := _constant_text(keywords.get("persona"))):
            yield name, persona
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target = ast.unparse(node.targets[0])
    if target in STRATEGY_FILES and isinstance(node.value, ast.List):
        points = [_constant_text(element) for element in node.value.elts]
        yield STRATEGY_FILES[target], "\n".join(points)
    elif name := PROMPT_FILES.get((function, target)):
        yield from _texts_of_prompt(name, node.value, where)


def _texts_of_prompt(name: str, value: ast.expr, where: str) -> Iterator[tuple[str, str]]:
    """Yield a prompt with its slots, and the alternative tasks within it."""
    if text := _constant_text(value):
        yield name, text
    if not isinstance(value, ast.JoinedStr):
        return
    parts = []
    for part in value.values:
        if not isinstance(part, ast.FormattedValue):
            parts.append(_constant_text(part))
        elif isinstance(part.value, ast.IfExp):
            yield "task_first", _constant_text(part.value.body)
            yield "task_later", _constant_text(part.value.orelse)
            parts.append(f"{{{TASK_SLOT}}}")
        elif slot := SLOTS.get(ast.unparse(part.value)):
            parts.append(f"{{{slot}}}")
        else:
            raise UserError(
                f"{where}, line {part.lineno}: found the expression {ast.unparse(part.value)} in "
                f"the prompt '{name}', expected one of {', '.join(SLOTS)}. The program is not the "
                "pinned version."
            )
    yield name, "".join(parts)


def _constant_text(node: ast.expr | None) -> str:
    """Return the text of a constant, or "" for anything else."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text and isinstance(node, ast.Constant) else ""
