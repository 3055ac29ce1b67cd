"""A plan frozen before the run: never overwritten, chained, compared in words, and dated at the
freeze alone.
"""

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.commands.freezing import freeze
from moot.core.artifacts import read_cases
from moot.core.errors import UserError
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.frozen_plans import NOT_FROZEN, compare_with_frozen, digest_of
from moot.jobs.predictions import write_predictions
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import CALLS
from moot.plan.plan import Plan
from moot.workflow.user_files import frozen_files

BEFORE, LATER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2026, 2, 3, tzinfo=UTC)
EXPERIMENT = {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}
OTHER = {"protocol": "cot", "dataset": "people", "models": ["m"], "cases": 10}
RESULTS = Path("results")
CONTRAST = {"first": "planned", "second": "other"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "results" / "cases" / "people.parquet", 40)
    return tmp_path


def plan_of(change: dict[str, Any] | None = None, **keys: Any) -> Plan:
    raw = configuration("http://nowhere.invalid", Path(), {})
    raw["models"] = {
        "m": {"model": "m", "base_url": "http://nowhere.invalid", **keys.pop("model", {})}
    }
    raw["experiments"] = {"planned": EXPERIMENT | (change or {}), "other": OTHER}
    return Plan.from_yaml({**raw, "contrasts": {"main": CONTRAST}, "run": [], **keys}, PROJECT)


def test_a_freeze_is_never_overwritten_and_a_second_goes_beside_it(folder: Path) -> None:
    said = freeze(plan_of(), RESULTS, BEFORE)
    assert "Frozen at 2026-01-02T03:04:05+00:00: data/frozen/plan-1.yaml" in said
    assert "main: planned against other, accuracy, differ" in said and "planned: 10 cases" in said
    first = Path("data/frozen/plan-1.yaml").read_bytes()
    assert "frozen already, since 2026-01-02" in freeze(plan_of(), RESULTS, LATER)
    assert len(frozen_files()) == 1
    again = freeze(plan_of({"cases": 12}), RESULTS, LATER)
    assert "It differs from the plan frozen at 2026-01-02T03:04:05+00:00" in again
    assert "  experiment planned, cases: before 10, now 12" in again
    assert [path.name for path in frozen_files()] == ["plan-1.yaml", "plan-2.yaml"]
    assert Path("data/frozen/plan-1.yaml").read_bytes() == first


def said_of(plan: Plan, study: str | None = None) -> str:
    return "\n".join(compare_with_frozen(plan, RESULTS, study))


def test_the_report_says_whether_the_run_is_the_plan_and_what_differs(folder: Path) -> None:
    assert compare_with_frozen(plan_of(), RESULTS) == (NOT_FROZEN,)
    freeze(plan_of(), RESULTS, BEFORE)
    assert compare_with_frozen(plan_of(), RESULTS, "courtroom") == (
        (
            "This run is the plan that was frozen last, at 2026-01-02T03:04:05+00:00"
            " (data/frozen/plan-1.yaml), when the ledger held 0 replies."
        ),
    )
    changes = [
        (plan_of({"repeats": 3}), "experiment planned, repeats: frozen 1, now 3"),
        (
            plan_of({"params": {"temperature": 0.1}}),
            "experiment planned, params.temperature: frozen",
        ),
        (plan_of(seed=8), "seed: frozen"),
        (plan_of(seed=8), "experiment planned, digest of cases: frozen"),
        (plan_of(model={"temperature": 0.4}), "model m, temperature: frozen none, now 0.4"),
        (
            plan_of(contrasts={"main": {**CONTRAST, "metric": "f1"}}),
            "contrast main, metric: frozen accuracy, now f1",
        ),
        (
            plan_of(contrasts={"main": CONTRAST, "new": {**CONTRAST, "metric": "f1"}}),
            "contrast new: added",
        ),
        (plan_of(contrasts={"new": CONTRAST}), "contrast main: left out"),
    ]
    for plan, words in changes:
        said = said_of(plan)
        assert said.startswith("This run is not the plan") and words in said, (words, said)
    assert compare_with_frozen(plan_of(rehearsal=True), RESULTS) == ()


def run(plan: Plan) -> None:
    """Hold the debates of both experiments, and write their predictions."""
    cases = RESULTS / "cases" / "people.parquet"
    for name in ("planned", "other"):
        shard = Path(f"results/transcripts/{name}/m/0.parquet")
        write_transcripts(plan, Job(name, "m", *read_cases(cases), shard=0), [cases], shard)
        outputs = (Path(f"results/{kind}/{name}/m.parquet") for kind in ("predictions", "calls"))
        write_predictions(plan, name, cases, [shard], *outputs)


def test_a_plan_changed_after_the_replies_were_seen_is_told_although_predictions_are_gone(
    folder: Path,
) -> None:
    """Frozen, run, its predictions deleted, a contrast reversed and another dropped, frozen
    again.
    """
    with FaultServer() as server:
        stated = {"first": "planned", "second": "other", "direction": "first_higher"}
        further = {"f1": {"first": "planned", "second": "other", "metric": "f1"}}
        keys: dict[str, Any] = {"model": {"base_url": server.url}, "shards": 1}
        freeze(plan_of(contrasts={"main": stated, **further}, **keys), RESULTS, BEFORE)
        run(plan_of(contrasts={"main": stated, **further}, **keys))
        shutil.rmtree("results/predictions")
        shutil.rmtree("results/transcripts")
        reverse = plan_of(
            contrasts={"main": {**stated, "first": "other", "second": "planned"}}, **keys
        )
        told = freeze(reverse, RESULTS, LATER)
    held = (
        "when the ledger held 20 replies, 20 of them to calls of this plan's runs (10 of planned/m,"
        " 10 of other/m)"
    )
    assert f"Frozen at 2026-02-03T00:00:00+00:00: data/frozen/plan-2.yaml, {held}" in told
    run_, several, first = compare_with_frozen(reverse, RESULTS, "courtroom")
    assert (
        run_ == "This run is the plan that was frozen last, at 2026-02-03T00:00:00+00:00"
        f" (data/frozen/plan-2.yaml), {held}."
    )
    assert several.startswith("2 plans were frozen.")
    assert (
        first == "plan-1.yaml, frozen at 2026-01-02T03:04:05+00:00, when the ledger held 0 replies."
        " plan-2.yaml changed contrast f1: left out; contrast main: its sides were exchanged."
        " Unexplained: `deviation` gives no reason."
    )
    warmer = freeze(plan_of({"params": {"temperature": 0.9}}, **keys), RESULTS, LATER)
    assert "held 20 replies, 10 of them to calls of this plan's runs (10 of other/m)" in warmer, (
        "other calls: not asked yet"
    )
    chained = [yaml.safe_load(path.read_text()) for path in frozen_files()]
    assert chained[1]["previous"] == hashlib.sha256(frozen_files()[0].read_bytes()).hexdigest()
    assert [one["ledger"]["replies"] for one in chained] == [0, 20, 20]
    assert chained[0]["ledger"]["digest"] == "" != chained[1]["ledger"]["digest"]


def test_a_ledger_whose_replies_were_changed_since_a_plan_was_frozen_is_said(folder: Path) -> None:
    with FaultServer() as server:
        keys: dict[str, Any] = {"model": {"base_url": server.url}, "shards": 1}
        run(plan_of(**keys))
        freeze(plan_of(**keys), RESULTS, BEFORE)
        freeze(plan_of({"cases": 9}, **keys), RESULTS, LATER)
    ledger = Ledger(plan_of().config.ledger)
    with ledger.transaction() as connection:
        first, other = connection.execute(sa.select(CALLS.c.reply).distinct().limit(2)).scalars()
        connection.execute(sa.update(CALLS).where(CALLS.c.reply == first).values(reply=other))
    ledger.close()
    said = freeze(plan_of({"cases": 8}, **keys), RESULTS, LATER)
    for number in (1, 2):
        assert (
            f"The ledger is not the one that data/frozen/plan-{number}.yaml was frozen with: of its"
            " 20 replies" in said
        )


def test_a_plan_that_was_edited_replaced_or_deleted_is_said(folder: Path) -> None:
    for number, cases in enumerate((10, 12, 14), start=1):
        freeze(plan_of({"cases": cases}), RESULTS, BEFORE)
        assert len(frozen_files()) == number
    whole = [path.read_text() for path in frozen_files()]
    first, second, _ = frozen_files()
    assert len(compare_with_frozen(plan_of({"cases": 14}), RESULTS)) == 4

    first.write_text(whole[0].replace("2026-01-02", "2025-01-02"))
    assert "data/frozen/plan-1.yaml was changed by hand after it was frozen." in said_of(
        plan_of({"cases": 14})
    )
    assert "changed by hand" in freeze(plan_of({"cases": 14}), RESULTS, LATER)
    forged = {**yaml.safe_load(whole[0]), "frozen_at": "2025-01-02T03:04:05+00:00"}
    first.write_text(json.dumps({**forged, "digest": digest_of(forged)}))
    assert "data/frozen/plan-1.yaml was replaced after plan-2.yaml was frozen." in said_of(
        plan_of({"cases": 14})
    )
    first.write_text(whole[0])
    second.unlink()
    assert "The plan frozen before data/frozen/plan-3.yaml is missing." in said_of(
        plan_of({"cases": 14})
    )
    freeze(plan_of({"cases": 16}), RESULTS, LATER)
    assert [path.name for path in frozen_files()] == ["plan-1.yaml", "plan-3.yaml", "plan-4.yaml"]


def test_a_departure_has_a_reason_or_is_called_unexplained(folder: Path) -> None:
    freeze(plan_of(), RESULTS, BEFORE)
    assert "unexplained" not in said_of(plan_of()).casefold()
    assert (
        "cases: frozen 10, now 12; experiment planned, debated cases: frozen 10, now 12; experiment"
        " planned, digest of "
        in (said := said_of(plan_of({"cases": 12})))
        and "Unexplained: `deviation`" in said
    )
    why = "The server was closed."
    assert said_of(plan_of({"cases": 12}, deviation=why)).count(f"Reason given: {why}") == 1
    assert why not in said_of(plan_of(deviation=why)), "a run that is the plan departs from nothing"
    freeze(plan_of({"cases": 12}, deviation=why), RESULTS, LATER)
    freeze(plan_of({"cases": 14}), RESULTS, LATER)
    said = said_of(plan_of({"cases": 14}))
    assert (
        "plan-2.yaml changed experiment planned, cases: before 10, then 12; experiment planned,"
        " debated cases: before 10" in said
    )
    assert (
        said.index(f"Reason given: {why}")
        < said.index("cases: before 12, then 14")
        < said.rindex("Unexplained")
    )


def test_a_clock_that_was_set_back_is_said(folder: Path) -> None:
    freeze(plan_of(), RESULTS, LATER)
    message = (
        r"freeze: it is 2026-01-02T03:04:05\+00:00 by this machine's clock; data/frozen/plan-1.yaml"
        r" was frozen at 2026-02-03"
    )
    with pytest.raises(UserError, match=message):
        freeze(plan_of({"cases": 12}), RESULTS, BEFORE)
    assert len(frozen_files()) == 1


def test_a_plan_is_written_as_a_registered_report(folder: Path) -> None:
    stated = {
        **CONTRAST, "direction": "first_higher", "question": "Is <b>planned</b> better | than\nthe"
            " other?",
        "stop": {"cases_per_stage": 4, "difference": 0.05, "usd": 2.5},
        "first_cases": {"sex": "f|m"}, "second_cases": {"sex": "f|m"},
    }  # fmt: skip
    said = freeze(plan_of(contrasts={"main": stated}), RESULTS, BEFORE)
    assert said.splitlines()[-1] == "To read and to register: data/frozen/plan-1.md"
    page = Path("data/frozen/plan-1.md").read_text()
    for heading in (
        "Questions",
        "Hypotheses and comparisons",
        "Cases and debates",
        "Parameters of experiments and models",
        "Stopping",
        "Analysis",
        "Exclusions",
    ):
        assert f"## {heading}" in page
    for text in (
        "the first is higher",
        "after each 4 cases",
        "smaller than 0.05",
        "$2.50",
        "//nowhere.invalid",
        "zero\\_shot",
    ):
        assert text in page.replace("\\.", ".").replace("\\$", "$"), text
    assert "<b>planned" not in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {3, 9}, "no cell breaks its row"
    freeze(
        plan_of(
            {"cases": 12},
            contrasts={"main": stated | {"stop": None}, "same": {**CONTRAST, "margin": 0.1}},
            deviation="Two were lost.",
        ),
        RESULTS,
        LATER,
    )
    second = Path("data/frozen/plan-2.md").read_text().replace("\\.", ".")
    assert "experiment planned, cases: before 10, now 12" in second
    assert "Reason: Two were lost." in second
    assert "main: all planned cases are debated." in second and "| 0.1 |" in second
    assert page == Path("data/frozen/plan-1.md").read_text()


def test_prompts_and_cases_that_change_are_named(folder: Path) -> None:
    freeze(plan_of(), RESULTS, BEFORE)
    own = folder / "config" / "prompts" / "prompting"
    own.mkdir(parents=True)
    template = next((PROJECT / "config" / "prompts" / "prompting").glob("zero_shot*.jinja"))
    (own / template.name).write_text(template.read_text() + "Think.\n")
    people(folder / "results" / "cases" / "people.parquet", 60)
    said = said_of(plan_of())
    assert (
        "experiment planned, digest of prompts: frozen" in said
        and "experiment other, digest of prompts" not in said
    )
    assert "experiment planned, digest of cases: frozen" in said


def test_nothing_to_freeze_and_a_broken_file_are_said(folder: Path) -> None:
    with pytest.raises(
        UserError, match="no contrast of the configuration can be tested in this run"
    ):
        freeze(plan_of(contrasts={}), RESULTS, BEFORE)
    with pytest.raises(UserError, match="main: other is not part of this run"):
        freeze(plan_of(run=["planned"]), RESULTS, BEFORE)
    Path("data/frozen").mkdir(parents=True)
    Path("data/frozen/plan-1.yaml").write_text(json.dumps({"plan": {}}))
    with pytest.raises(UserError, match=r"plan-1.yaml: not a frozen plan \(KeyError: 'digest'\)"):
        compare_with_frozen(plan_of(), RESULTS)
