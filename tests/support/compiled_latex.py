"""Compile tables with LaTeX, and find tables that do not fit on a page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DOCUMENT = r"""\documentclass%s{article}
\usepackage[T1]{fontenc}\usepackage{lmodern}
\usepackage{booktabs,array,graphicx,rotating}
\begin{document}
%s
\end{document}
"""
POINT_OF_GRACE = 1.0  # points: an invisible excess


def compile_tables(tables: dict[str, str], folder: Path, options: str = "") -> str:
    """Compile a document with all tables, named in the log, and return the log."""
    if shutil.which("pdflatex") is None:
        pytest.skip(
            "no TeX here: install texlive-latex-recommended and lmodern to compile the tables"
        )
    inputs = []
    for number, (name, source) in enumerate(tables.items()):
        (folder / f"{number}.tex").write_text(source, encoding="utf-8")
        inputs.append(rf"\typeout{{TABLE {name}}}\input{{{number}}}\clearpage")
    (folder / "all.tex").write_text(DOCUMENT % (options, "\n".join(inputs)), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"]
    process = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "all.log").read_text("utf-8", errors="replace")
    assert process.returncode == 0, re.findall(r"TABLE .*|^!.*(?:\n.*){2}", log, re.MULTILINE)[-3:]
    return log


def overfull_boxes(log: str) -> list[str]:
    """Return the tables that extend beyond the page, with the excess in points."""
    problems, table = [], ""
    for line in log.splitlines():
        if line.startswith("TABLE "):
            table = line
        match = re.match(r"(Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high))", line)
        if match and float(match[2]) > POINT_OF_GRACE:
            problems.append(f"{table}: {match[1]})")
        if "Float too large" in line:
            problems.append(f"{table}: {line}")
    return problems
