"""Results of single prompts about people with a planted bias, made by moot's own jobs."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from courtroom_runs import PROJECT, configuration
from in_process import RESULTS, build_experiments, load_results
from moot.core.artifacts import read_cases
from moot.core.cases import Case, stable_fraction
from moot.core.model_config import ModelConfig
from moot.jobs import debates
from moot.jobs.baselines import train_baselines
from moot.llm.prompts import enclose
from moot.llm.request import Request
from moot.llm.stand_in import StandIn
from moot.plan.plan import Plan
from moot.report.study_results import StudyResults

NORMAL = NormalDist()
COMPETENCE, LIKED, DEVIATION = 0.7, 0.8, 1.2
"""The share of true answers without a liking, and a liking for YES where a text says "man", in the
log-odds of YES, whose standard deviation is `DEVIATION`."""


def answer(
    seed: int, judged_case: Case, competence: float = COMPETENCE, liked: float = LIKED
) -> str:
    """Return YES or NO to a case, right in the share `competence` where there is no liking."""
    draw = NORMAL.inv_cdf(stable_fraction("answer", seed, judged_case.case_id))
    skill = DEVIATION * NORMAL.inv_cdf(competence)
    log_odds = DEVIATION * draw + (skill if judged_case.target == "yes" else -skill)
    has_word = re.search(r"\bman\b", judged_case.text)
    return "yes" if log_odds + (liked if has_word else 0.0) > 0 else "no"


def probability_of_yes(target: str, liked: float) -> float:
    """Return the probability of YES about a case, from its truth and the liking for YES."""
    skill = NORMAL.inv_cdf(COMPETENCE)
    return NORMAL.cdf((skill if target == "yes" else -skill) + liked / DEVIATION)


def choose_as_planted(
    cases: Sequence[Case], seed: int, **parameters: float
) -> Callable[[Request, Sequence[Any]], Any]:
    """Return how a stand-in chooses among YES and NO, by the case whose text a prompt holds."""
    by_text = {enclose(item.text, "t"): item for item in cases}

    def choose(request: Request, labels: Sequence[Any]) -> Any:
        prompt = "\n".join(message.content for message in request.messages)
        texts = re.findall(r"<\w+>\n(.*?)\n</\w+>", prompt, re.DOTALL)
        keys = [f"<t>\n{text}\n</t>" for text in texts]
        told = [by_text[key] for key in keys if key in by_text]
        if not told or {str(label).casefold() for label in labels} != {"yes", "no"}:
            return labels[0]
        planted = answer(seed, told[-1], **parameters)
        return next(label for label in labels if str(label).casefold() == planted)

    return choose


def results_about_people(folder: Path, changed_people: dict[str, str]) -> StudyResults:
    """Results with and without a liking for YES where a text says "man".

    They lie below the working directory, and are of models that were asked about 80 people twice
    and of a trained model.

    Args:
        folder: the working directory.
        changed_people: options of a further data set of the same people; empty for none.
    """
    plan = Plan.from_yaml(_configuration(folder, changed_people), PROJECT)
    with patch.object(debates, "stand_in_endpoints", lambda _: _open_planted):
        files = list(build_experiments(plan))
    for name in plan.datasets:
        if plan.datasets[name].baselines:
            cases, features = (RESULTS / kind / f"{name}.parquet" for kind in ("cases", "features"))
            board = RESULTS / "baselines" / f"{name}.parquet"
            predicted = board.with_name(f"{name}_predictions.parquet")
            outputs = (board, predicted, RESULTS / "models" / name)
            train_baselines(plan, name, (cases, features), outputs, 1)
            files += [board, predicted]
    files += (RESULTS / "scores").glob("*.parquet")
    return load_results(plan, files, "courtroom")


def _open_planted(model: ModelConfig, _threads: int) -> StandIn:
    """Return the stand-in for a model, which knows the cases of all data sets."""
    cases: list[Case] = []
    for path in (RESULTS / "cases").glob("*.parquet"):
        cases += read_cases(path)[0]
    liked = LIKED if model.model == "partial" else 0.0
    return StandIn(1, choose=choose_as_planted(cases, 1, liked=liked))


def predictions_by_sex(study: StudyResults) -> pd.DataFrame:
    """Return the predictions about people as recorded, each with the person's sex."""
    cases, _ = read_cases(RESULTS / "cases" / "told.parquet")
    sexes = [(case.case_id, case.attributes["sex"]) for case in cases]
    frame = pd.DataFrame(sexes, columns=["case_id", "sex"])
    return study.experiments["asked"].predictions.merge(frame)


def row(frame: pd.DataFrame, **values: str) -> "pd.Series[Any]":
    """Return the one row of a table with these values; underscores in names stand for spaces."""
    mask = np.logical_and.reduce(
        [frame[name.replace("_", " ")] == value for name, value in values.items()]
    )
    [(_, match)] = frame[mask].iterrows()
    return match


def _configuration(folder: Path, changed_people: dict[str, str]) -> dict[str, Any]:
    raw = configuration("http://nowhere.invalid", folder, rehearsal=True)
    model = raw["models"]["test"]
    raw["models"] = {name: {**model, "model": name} for name in ("even", "partial")}
    base = {"loader": "nlsy97", "source": "synthetic", "rows": 400, "baselines": ["nb"]}
    entry = {"protocol": "zero_shot", "models": ["even", "partial"], "cases": 80, "repeats": 2}
    raw["datasets"] = {"told": base, "other": {**base, "narrative": "list", "baselines": []}}
    raw["experiments"] = {
        "other": {**entry, "dataset": "other", "cases": 10},
        "asked": {**entry, "dataset": "told"},
    }
    if changed_people:
        raw["datasets"]["exchanged"] = {**base, **changed_people}
        raw["experiments"]["asked-exchanged"] = {**entry, "dataset": "exchanged"}
    return raw
