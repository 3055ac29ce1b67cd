"""Test tournaments of debaters: the plan of pairs, sides and judges, and the ratings."""

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fault_server import FaultServer
from in_process import RESULTS, build_experiments
from moot.commands.preview import preview_rows
from moot.core.errors import UserError
from moot.jobs.job_results import load_study_results
from moot.jobs.load import load_dataset
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from project_copy import PROJECT


class Inputs(list[Path]):
    """The inputs of a job that builds tables, with the names of the rule."""

    scores: Sequence[Path]
    baselines: Sequence[Path]
    published: Path


DEBATERS = ["ann", "bob", "cy", "dee"]


def plan_of(
    folder: Path, urls: dict[str, str], tournament: dict[str, Any], **experiment: Any
) -> Plan:
    models = {}
    for name, url in urls.items():
        models[name] = {"endpoint": "openai", "model": name, "base_url": url, "max_tokens": 60}
    duel = {
        "protocol": "courtroom",
        "dataset": "people",
        "models": ["judge", "other"],
        "cases": 6,
        **experiment,
    }
    config = {
        "seed": 3,
        "ledger": str(folder / "ledger"),
        "min_debates": 1,
        "models": models,
        "datasets": {"people": {"loader": "nlsy97", "source": "synthetic", "rows": 60}},
        "experiments": {"duel": {**duel, "tournament": tournament}},
    }
    return Plan.from_yaml(config, PROJECT)


def urls(server: str) -> dict[str, str]:
    return dict.fromkeys([*DEBATERS, "judge", "other"], server)


def test_each_pair_debates_with_both_assignments_of_sides(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, urls("http://127.0.0.1:9/v1"), {"debaters": DEBATERS})
    assert set(plan.experiments) == {
        f"duel-{debater}-against-{opponent}"
        for debater, opponent in itertools.permutations(DEBATERS, 2)
    }
    assert plan.experiments["duel-cy-against-ann"].params.seats == {
        "prosecutor": "cy",
        "defense": "ann",
    }
    assert plan.experiments["duel-cy-against-ann"].config.models == ("judge", "other")


@pytest.mark.parametrize(("debaters", "opponents"), [(4, 2), (4, 3), (5, 2), (6, 3), (7, 4)])
def test_every_debater_has_the_same_number_of_opponents(
    tmp_path: Path, debaters: int, opponents: int
) -> None:
    names = [f"m{number}" for number in range(debaters)]
    endpoints = dict.fromkeys([*names, "judge", "other"], "http://127.0.0.1:9/v1")
    plan = plan_of(tmp_path, endpoints, {"debaters": names, "opponents": opponents})
    pairs = [tuple(experiment.params.seats.values()) for experiment in plan.experiments.values()]
    assert len(pairs) == len(set(pairs)) == debaters * opponents
    first_debaters, second_debaters = zip(*pairs, strict=True)
    assert set(Counter(first_debaters).values()) == {opponents}
    assert set(Counter(second_debaters).values()) == {opponents}


@pytest.mark.parametrize(
    ("tournament", "experiment", "message"),
    [
        ({"debaters": ["ann", "ann"]}, {}, "names a model twice"),
        ({"debaters": ["ann"]}, {}, "debaters"),
        ({"debaters": DEBATERS, "opponents": 4}, {}, "from 1 to 3"),
        ({"debaters": DEBATERS[:3], "opponents": 1}, {}, "an even number"),
        ({"debaters": ["ann", "eve"]}, {}, "unknown model 'eve'"),
        ({"debaters": DEBATERS}, {"params": {"roles": "cooperative"}}, "has 0 such seats"),
        ({"debaters": DEBATERS}, {"protocol": "zero_shot"}, "has 0 such seats"),
        (
            {"debaters": DEBATERS},
            {"protocol": "feedback", "params": {"sides": "opposed"}},
            "has 3 such seats",
        ),
    ],
)
def test_a_tournament_that_cannot_be_held_is_one_message(
    tmp_path: Path, tournament: dict[str, Any], experiment: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message) as raised:
        plan_of(tmp_path, urls("http://127.0.0.1:9/v1"), tournament, **experiment)
    assert "experiments.duel" in str(raised.value)


def test_debates_are_rated_and_each_speech_is_generated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second judge hears the speeches that the first one heard."""
    monkeypatch.chdir(tmp_path)
    with FaultServer() as server:
        plan = plan_of(tmp_path, urls(server.url), {"debaters": DEBATERS[:3]})
        options, context = plan.dataset_options("people"), plan.load_context("people")
        load_dataset(
            options,
            context,
            RESULTS / "cases/people.parquet",
            RESULTS / "features/people.parquet",
            RESULTS / "cleaning/people.csv",
        )
        previewed = sum(row["calls_to_make"] for row in preview_rows(plan, RESULTS))
        files = list(build_experiments(plan))
        openings, later, judged = 3 * 6 * 2, 6 * 6 * 10, 6 * 6 * 4
        assert server.count() == openings + later + 2 * judged, (
            "openings do not depend on the opponent"
        )
        assert server.count() == previewed
    inputs = Inputs(files)
    inputs.scores = [RESULTS / f"scores/{name}.parquet" for name in plan.experiments]
    inputs.baselines = []
    inputs.published = PROJECT / "data/published/published_results.csv"
    inputs.findings = PROJECT / "data/published/findings.csv"
    results = load_study_results(plan, SimpleNamespace(input=inputs), "courtroom")
    rated = TABLES["courtroom/ratings"].build(results).frame
    assert sorted(rated["debater"]) == DEBATERS[:3] and list(rated["rank"]) == [1, 2, 3]
    assert set(rated["verdicts"]) == {4 * 6 * 2}, "four pairings of each, six cases, two judges"
    terms = set(TABLES["courtroom/rating_terms"].build(results).frame["what favours a side"])
    assert {"side: yes", "side: yes, before judge", "side: yes, before other"} <= terms
    assert plan.can_fill(FIGURES["courtroom/ratings"])
    names = [
        text.get_text()
        for text in FIGURES["courtroom/ratings"].build(results).axes[0].get_yticklabels()
    ]
    assert names[0].startswith(f"{rated['debater'].iloc[0]} (1; ")
