"""Recorded experiments in this process, from a data set's options to the study's results."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from in_process import hold_experiments
from moot.plan.plan import Plan
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from paper_items import PUBLISHED
from results_on_disk import study_of

PROJECT = Path(__file__).resolve().parents[2]
VERDICT_COLUMNS = {
    "debate": "",
    "case": "id",
    "repeat": "run",
    "judge": "who",
    "persona": "as",
    "judge_repeat": "nth",
    "answer": "said",
    "truth": "truth",
}


def recorded_study(
    folder: Path, dataset: Mapping[str, Any], methods: Mapping[str, str], models: Mapping[str, str]
) -> StudyResults:
    """Return the results of recorded experiments.

    Args:
        folder: the folder of all files, also the data root.
        dataset: the options of the data set.
        methods: the experiments, by name, with their methods in the records.
        models: the models, by name, with their names in the records.
    """
    config = {
        "seed": 1,
        "ledger": str(folder / "ledger"),
        "data_root": str(folder),
        "models": {
            name: {"endpoint": "recorded", "model": recorded} for name, recorded in models.items()
        },
        "datasets": {"records": dict(dataset)},
        "experiments": {
            name: {
                "source": "recorded",
                "dataset": "records",
                "models": list(models),
                "params": {"method": method},
            }
            for name, method in methods.items()
        },
    }
    plan, results = Plan.from_yaml(config, PROJECT), folder / "results"
    list(hold_experiments(plan, results))
    experiments = [
        ExperimentResults(results, name, plan.view(name), plan.config.seed) for name in methods
    ]
    published = PUBLISHED[PUBLISHED["study"] == "recorded"]
    return study_of(*experiments, study="recorded", published=published)


def study_of_turns(
    folder: Path,
    rows: Sequence[Mapping[str, object]],
    columns: Mapping[str, Any],
    labels: Sequence[str] = ("no", "yes"),
) -> StudyResults:
    """Return the results of the debates of a table of turns; the last label is the positive one."""
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows, dtype=object).fillna("").to_csv(folder / "turns.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(folder / "turns.csv"),
        "columns": dict(columns),
        "labels": {label: label for label in labels},
        "positive": labels[-1],
    }
    return recorded_study(folder, dataset, {"talk": "debate"}, {"all": "recorded"})


def study_of_answers(folder: Path, lines: Iterable[str]) -> StudyResults:
    """Return the results of own answers about people, `case,model,answer,truth,sex,race` a line."""
    path = folder / "answers.csv"
    path.write_text("\n".join(["case,model,answer,truth,sex,race", *lines]) + "\n")
    columns = {name: name for name in ("case", "model", "answer", "truth")}
    dataset = {
        "loader": "transcripts",
        "path": str(path),
        "columns": {"debate": "", **columns, "attributes": ["sex", "race"]},
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }
    return recorded_study(folder, dataset, {"answers": "answer"}, {"mine": "m"})


def study_of_verdicts(folder: Path, lines: list[str], **columns: str) -> StudyResults:
    """Return the results of verdicts, `id,run,who,as,nth,said,truth` a line."""
    (folder / "verdicts.csv").write_text("\n".join(["id,run,who,as,nth,said,truth", *lines]) + "\n")
    dataset = {
        "loader": "transcripts",
        "path": str(folder / "verdicts.csv"),
        "columns": VERDICT_COLUMNS | columns,
        "labels": {"N": "no", "Y": "yes"},
        "positive": "yes",
    }
    return recorded_study(folder, dataset, {"jury": "answer"}, {"jurors": "judges"})
