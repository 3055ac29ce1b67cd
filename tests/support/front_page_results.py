"""A folder of results small enough to read, with questions of every kind, for the front page."""

from pathlib import Path

import pandas as pd

from moot.report.front_page import STRICT

HOSTILE = '<img src=x onerror="alert(1)">'
CONTRAST = {
    "study": "recorded",
    "contrast": "a-above-b",
    "question": "Is A better than B?",
    "published": "",
    "first": "debates, 3 models where sex=x",
    "second": "votes, smollm",
    "threshold": "",
    "metric": "accuracy",
    "expected": "first higher",
    "first value": 0.6,
    "second value": 0.62,
    "difference": -0.02,
    "difference low": -0.08,
    "difference high": 0.02,
    "p (Holm)": 0.8,
    "tests in family": 4,
    "cases": 100,
    "answer": "cannot tell",
    "not tested because": "",
    "in words": f"About 400 cases are needed {HOSTILE}.",
}
CLAIM = CONTRAST | {
    "contrast": "shorter",
    "question": "Is a debate shorter?",
    "published": f"Yes (a paper {HOSTILE}).",
    "first": f"debates, {HOSTILE}",
    "second": "1",
    "threshold": 1,
    "metric": "tokens",
    "first value": 0.67,
    "second value": 1.0,
    "difference": -0.33,
    "difference low": -0.5,
    "difference high": -0.12,
    "p (Holm)": 0.0004,
    "cases": 124,
    "answer": "supported",
    "in words": "",
}
UNTESTED = CONTRAST | {
    "contrast": "untested",
    "question": "Is C better than D?",
    "not tested because": "one case",
    "difference low": "",
    "difference high": "",
    "p (Holm)": "",
    "answer": "",
}
METHOD = {
    "data": "mine",
    "method": "debate",
    "model": HOSTILE,
    STRICT: 0.5,
    "95 % low": 0.18,
    "95 % high": 0.82,
    "n": 9,
    "n invalid": 1,
    "cases": 10,
}
ARM = {
    "debate": "mine",
    "model": "a model",
    "data": "mine",
    "arm": "alone",
    "what is changed": HOSTILE,
    "debate right": 0.5,
    "arm right": 0.6,
    "difference": -0.1,
    "difference low": -0.4,
    "difference high": 0.2,
    "cases": 10,
}


def results_with_questions(root: Path, questions: int = 2) -> Path:
    """Return a folder of results: two tables, a figure, a reader, a file of an earlier run.

    `questions` counts those with an interval.
    """
    tables = root / "tables" / "comparison"
    tables.mkdir(parents=True)
    further = [
        CONTRAST | {"contrast": f"further-{number}", "question": f"Is it {number}?"}
        for number in range(2, questions)
    ]
    pd.DataFrame([UNTESTED, CONTRAST, CLAIM, *further]).to_csv(tables / "contrasts.csv")
    pd.DataFrame([METHOD]).to_csv(tables / "methods.csv", index=False)
    without_interval = ARM | {"difference low": "", "difference high": ""}
    pd.DataFrame([ARM, without_interval, dict.fromkeys(ARM, "")]).to_csv(
        tables / "what_debate_adds.csv", index=False
    )
    pd.DataFrame(columns=["judge"]).to_csv(tables / "deferral.csv", index=False)
    for name in (
        "tables/comparison/deferral.html",
        "configuration.json",
        "tables/comparison/contrasts.html",
        "tables/recorded/methods.html",
        "figures/recorded/nyu_beliefs.svg",
        "tables/recorded/groups.html",
        "reader/recorded.html",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


STUDIES = {"debates": "recorded", "votes": "recorded", "elsewhere": "courtroom"}


def built_files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*.*") if path.name != "groups.html"]
