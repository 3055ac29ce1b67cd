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
from functools import cache, partial
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
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            return lambda: setattr(node, "value", ast.Constant(None))
    return None


def passes(project: Path, room: Path) -> bool:
    """Return whether the quick tests of a room pass in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-m", "not slow", str(room)]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main(count: int = 200, seed: int = 1) -> None:
    """Plant the mutations in a copy of the project."""
    drawn, detected = random.Random(seed), list[bool]()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "moot"
        shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns(".*", "results"))
        is_sound = cache(partial(passes, project))
        paths = sorted(project.joinpath(PACKAGE).rglob("*.py"))
        lines = [path.read_text("utf-8").count("\n") for path in paths]
        for path in drawn.choices(paths, lines, k=count):
            text, module = path.read_text("utf-8"), path.relative_to(project)
            rooms = [TESTS / parent for parent in module.relative_to(PACKAGE).parents]
            room = next(path for path in rooms if (project / path).is_dir())
            tree = ast.parse(text)
            nodes = [node for node in ast.walk(tree) if find_mutation(node)]
            if not nodes or not is_sound(room):
                print(f"{module}: nothing to mutate, or {room} fails already")
                continue
            node = drawn.choice(nodes)
            before = ast.unparse(node)
            find_mutation(node)()
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
            detected.append(not passes(project, room))
            if not detected[-1]:
                print(f"{module}:{node.lineno}: {before} -> {ast.unparse(node)}", flush=True)
            path.write_text(text, "utf-8")
    print(f"{sum(detected)} of {len(detected)} are detected")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
