"""A folder of results small enough to read, with questions of every kind, for the front page."""

from pathlib import Path

import pandas as pd

HOSTILE = '<img src=x onerror="alert(1)">'
CLAIM = {
    "study": "recorded",
    "question": "Is a debate shorter?",
    "published claim": "Yes.",
    "answer": "supported",
    "this run": 0.67,
    "95 % low": 0.5,
    "95 % high": 0.88,
    "cases": 124,
    "data": "nyu",
    "measured": "ratio of rounds",
    "model": HOSTILE,
    "p (Holm)": 0.0004,
    "tests in family": 2,
    "published value": 0.68,
    "supported where": "below 1",
    "source": "a paper",
    "see": "recorded/methods",
    "first": "debates, a model",
    "second": "elsewhere, a model",
}
ONE_CASE = CLAIM | {
    "question": "Is one case enough?",
    "95 % low": "",
    "95 % high": "",
    "p (Holm)": "",
}
UNJUDGED = {
    **dict.fromkeys(CLAIM, ""),
    "question": "Does smoothing help?",
    "measured": "no run judges it",
    "answer": "cannot tell",
    "see": "feedback/table5_smoothing",
}
CONTRAST = {
    "study": "recorded",
    "question": "Is A better than B?",
    "first": "debates, 3 models where sex=x",
    "second": "votes, smollm",
    "metric": "accuracy",
    "first value": 0.6,
    "second value": 0.62,
    "difference": -0.02,
    "difference low": -0.08,
    "difference high": 0.02,
    "p (Holm)": 0.8,
    "tests in family": 4,
    "cases": 100,
    "expectation met": "not shown",
    "not tested because": "",
    "in words": f"Both always gave the same answer {HOSTILE}.",
}
METHOD = {"method": "debate", "model": HOSTILE, "mine": "0.500 [0.18, 0.82], n = 10"}
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


def results_with_questions(root: Path, verdicts: int = 2) -> Path:
    """Return a folder of results: two tables, a figure, a reader, a file of an earlier run."""
    tables = root / "tables" / "comparison"
    tables.mkdir(parents=True)
    undecided = [
        CLAIM | {"model": f"other-{number}", "answer": "cannot tell"}
        for number in range(1, verdicts)
    ]
    pd.DataFrame([UNJUDGED, ONE_CASE, CLAIM, *undecided]).to_csv(tables / "questions.csv")
    sentences = [{"in words": f"Half lies between cases {HOSTILE}"}, {"in words": ""}]
    pd.DataFrame(sentences).to_csv(tables / "deferral.csv")
    untested = CONTRAST | {
        "question": "Is C better than D?",
        "not tested because": "one case",
        "difference low": "",
    }
    one_case = CONTRAST | {
        "question": "Is E better than F?",
        "difference low": "",
        "difference high": "",
    }
    pd.DataFrame([untested, one_case, CONTRAST]).to_csv(tables / "contrasts.csv")
    pd.DataFrame([METHOD]).to_csv(tables / "methods_by_data.csv", index=False)
    without_interval = ARM | {"difference low": "", "difference high": ""}
    pd.DataFrame([ARM, without_interval, dict.fromkeys(ARM, "")]).to_csv(
        tables / "what_debate_adds.csv", index=False
    )
    pd.DataFrame(columns=["judge"]).to_csv(tables / "group_rates.csv", index=False)
    for name in (
        "tables/comparison/group_rates.html",
        "configuration.json",
        "tables/comparison/deferral.html",
        "tables/recorded/methods.html",
        "figures/recorded/accuracy.svg",
        "tables/recorded/groups.html",
        "reader/recorded.html",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


STUDIES = {"debates": "recorded", "votes": "recorded", "elsewhere": "courtroom"}


def built_files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*.*") if path.name != "groups.html"]
