"""Plant random single mutations, and print those that no quick test of their room detects.

python benchmarks/mutants.py [COUNT] [SEED]

A mutation flips a comparison, drops a `not`, exchanges `and` with `or` or the first two arguments
of a call, or removes a returned value. Modules are drawn by their lines.
"""

import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE, TESTS = Path("scripts/moot"), Path("tests")
PAIRS = ((ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.In, ast.NotIn))
FLIPPED = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, **dict(PAIRS)}
FLIPPED |= {second: first for first, second in PAIRS}


def find_mutation(node: ast.AST) -> Callable[[], object] | None:
    """Return a function that mutates a node in place; None for nodes of other kinds."""
    match node:
        case ast.Compare(ops=[operator]):
            return lambda: setattr(node, "ops", [FLIPPED[type(operator)]()])
        case ast.UnaryOp(op=ast.Not()):
            return lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
        case ast.BoolOp(op=operator):
            exchanged = ast.Or() if isinstance(operator, ast.And) else ast.And()
            return lambda: setattr(node, "op", exchanged)
        case ast.Call(args=[first, second, *_]) if ast.dump(first) != ast.dump(second):
            return lambda: node.args.__setitem__(slice(0, 2), [second, first])
        case ast.Return(value=ast.expr()):
            return lambda: setattr(node, "value", ast.Constant(None))
    return None


def is_detected(project: Path, module: Path) -> bool:
    """Return whether a quick test of a module's room fails, or takes too long."""
    rooms = [TESTS / folder for folder in module.relative_to(PACKAGE).parents]
    room = next(path for path in rooms if (project / path).is_dir())
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-m", "not slow", str(room)]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(count: int = 200, seed: int = 1) -> None:
    """Plant the mutations in a copy of the project."""
    drawn, detected = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "moot"
        shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns(".*", "results"))
        paths = sorted(project.joinpath(PACKAGE).rglob("*.py"))
        lines = [path.read_text("utf-8").count("\n") for path in paths]
        for path in drawn.choices(paths, lines, k=count):
            text, module = path.read_text("utf-8"), path.relative_to(project)
            tree = ast.parse(text)
            node = drawn.choice([node for node in ast.walk(tree) if find_mutation(node)] or [tree])
            before = ast.unparse(node)
            (find_mutation(node) or (lambda: None))()
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
            if is_detected(project, module):
                detected += 1
            else:
                print(
                    f"{module}:{getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}",
                    flush=True,
                )
            path.write_text(text, "utf-8")
    print(f"{detected} of {count} are detected")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
