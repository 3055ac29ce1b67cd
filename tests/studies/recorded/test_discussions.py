"""Discussions of groups: answers before and after."""

import re
from pathlib import Path

import pytest
import yaml

from moot.report.study_results import StudyResults
from moot.scores.dynamics import EVERYBODY, dynamics
from moot.studies.recorded.tables_discussions import discussions
from recorded_runs import PROJECT, recorded_study

SHARED = PROJECT.parent / "shared" / "data" / "recorded"
needs_records = pytest.mark.skipif(not SHARED.is_dir(), reason="the published records do not ship")
README = (PROJECT / "scripts/moot/studies/recorded/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
RECIPES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
PAGE_CONFIGS = [yaml.safe_load(block) for block in BLOCKS]
[GROUPS] = [config for config in PAGE_CONFIGS if "wason" in config["datasets"]]

TALKS = """group,who,says,answer
g1,Ann,Mine.,A
g1,Bob,I see it so.,B
g1,Cat,Why?,B
g1,Ann,Because.,A
g1,Bob,Then yours.,A
g1,Cat,No.,B
g1,Bob,Stay.,A
g2,Ann,Mine.,A
g2,Dan,Mine.,B
g2,Ann,You win.,B
g3,Bob,Mine.,B
g3,Eve,Mine.,B
g3,Bob,Good.,B
"""


def study(
    folder: Path, name: str, page_config: dict[str, dict[str, dict[str, str]]], **replaced: str
) -> StudyResults:
    """The results of a data set in a configuration of the study's README, with all its methods."""
    methods = {}
    for key, entry in page_config["experiments"].items():
        if entry["dataset"] == name:
            methods[key] = entry["params"]["method"]  # type: ignore[index]
    dataset = {**page_config["datasets"][name], **replaced}
    return recorded_study(folder, dataset, methods, {"all": "recorded"})


@pytest.fixture
def talks(tmp_path: Path) -> StudyResults:
    (tmp_path / "talks.csv").write_text(TALKS)
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "talks.csv"),
        "columns": {"debate": "group", "speaker": "who", "text": "says", "answer": "answer"},
        "labels": {"A": "right", "B": "wrong"},
        "positive": "right",
        "truth": "right",
    }
    return recorded_study(
        tmp_path, dataset, {"talk": "debate", "alone": "first answers"}, {"people": "recorded"}
    )


def test_members_are_compared_before_and_after_their_group_talks(talks: StudyResults) -> None:
    """Two of seven members are right at first; one changes to right and one to wrong."""
    frame = discussions(talks).frame
    assert frame.columns[:2].tolist() == ["data", "method"]
    assert frame["method"].tolist() == ["debate"], "a run of first answers has no discussion"
    row = frame.iloc[0]
    assert row[["members", "groups", "groups with one right"]].tolist() == [7, 3, 2]
    assert (row["right before"], row["right after"]) == pytest.approx((2 / 7, 2 / 7))
    assert (row["wrong who end right"], row["right who end wrong"]) == pytest.approx((1 / 5, 1 / 2))
    assert (row["most end right, one was right"], row["most end right, none was"]) == (1 / 2, 0)
    for experiment in talks.experiments.values():
        assert (experiment.predictions["prediction"] == "right").sum() == 2


def test_the_members_of_many_groups_are_scored_together(tmp_path: Path) -> None:
    lines = []
    for n in range(4):
        lines += [f"g{n},m{n}-a,So.,A", f"g{n},m{n}-b,So.,B", f"g{n},m{n}-a,So.,B"]
    (tmp_path / "talks.csv").write_text("\n".join(["group,who,says,answer", *lines]) + "\n")
    columns = {"debate": "group", "speaker": "who", "text": "says", "answer": "answer"}
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "talks.csv"),
        "columns": columns,
        "truth": "a",
    }
    study = recorded_study(tmp_path, dataset, {"talk": "debate"}, {"all": "recorded"})
    scores = dynamics(study.experiments["talk"])
    seats = [group for group in set(scores["group"]) if group.startswith("speaker=")]
    assert len([seat for seat in seats if ";" not in seat]) == 8, "few seats have own scores"
    lines += [line.replace("m", "n").replace("g", "h") for line in lines]
    (tmp_path / "talks.csv").write_text("\n".join(["group,who,says,answer", *lines]) + "\n")
    (tmp_path / "more").mkdir()
    study = recorded_study(tmp_path / "more", dataset, {"t": "debate"}, {"all": "recorded"})
    scores_of_many = dynamics(study.experiments["t"])
    assert {group.partition(";")[0] for group in scores_of_many["group"]} == {
        f"speaker={EVERYBODY}"
    }
    first = scores_of_many.set_index(["group", "metric"])["value"]
    assert first[f"speaker={EVERYBODY};opinion=first", "accuracy"] == 0.5
    assert first[f"speaker={EVERYBODY};opinion=last", "accuracy"] == 0


@needs_records
def test_the_configuration_of_the_page_suffices_for_groups_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The intervals of 80 groups hold the published shares of right answers in all 500 groups.

    The shares are 0.0911 of 1,943 before the discussion and 0.2761 of 1,970 after it.
    """
    monkeypatch.chdir(tmp_path)
    Path("delidata").mkdir()
    for file in sorted((SHARED / "delidata").iterdir())[:80]:
        Path("delidata", file.name).symlink_to(file)
    [recipe] = [block for block in RECIPES if "delidata" in block]
    exec(recipe, {})
    results = study(tmp_path, "wason", GROUPS)
    counts = {
        name: experiment.predictions["prediction"].value_counts().to_dict()
        for name, experiment in results.experiments.items()
    }
    assert counts == {"talk": {"wrong": 219, "right": 105}, "alone": {"wrong": 287, "right": 37}}
    row = discussions(results).frame.iloc[0]
    assert row["groups"] == 80
    assert row["before low"] < 0.0911 < row["before high"]
    assert row["after low"] < 0.2761 < row["after high"]
