"""Discussions of groups: answers before and after, and what was heard before a change."""

import re
from pathlib import Path

import pytest
import yaml

from moot.report.study_results import StudyResults
from moot.scores.dynamics import EVERYBODY, dynamics
from moot.studies.recorded.tables_agreement import ASKED_AGAIN, JUDGE, PERSONA, RUN, agreement
from moot.studies.recorded.tables_discussions import changed_answers, discussions
from recorded_runs import PROJECT, recorded_study

SHARED = PROJECT.parent / "shared" / "data" / "recorded"
needs_records = pytest.mark.skipif(not SHARED.is_dir(), reason="the published records do not ship")
README = (PROJECT / "scripts/moot/studies/recorded/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
PAGE_CONFIGS = [yaml.safe_load(block) for block in BLOCKS]
[GROUPS] = [config for config in PAGE_CONFIGS if "wason" in config["datasets"]]
[JURORS] = [config for config in PAGE_CONFIGS if "personas" in config["datasets"]]

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
    assert frame["method"].tolist() == ["debate"], "a run of first answers has no discussion"
    row = frame.iloc[0]
    assert row[["members", "groups", "groups with one right"]].tolist() == [7, 3, 2]
    assert (row["right before"], row["right after"]) == pytest.approx((2 / 7, 2 / 7))
    assert (row["wrong who end right"], row["right who end wrong"]) == pytest.approx((1 / 5, 1 / 2))
    assert (row["most end right, one was right"], row["most end right, none was"]) == (1 / 2, 0)
    for experiment in talks.experiments.values():
        assert (experiment.predictions["prediction"] == "right").sum() == 2


def test_a_change_is_counted_after_the_last_message_of_another_member(talks: StudyResults) -> None:
    """In g1 Bob takes Ann's answer after hearing her; in g2 Ann takes Dan's; the others stay."""
    frame = changed_answers(talks).frame.set_index(["held before", "heard before"])
    counts = {key: (row["changed"], row["occasions"]) for key, row in frame.iterrows()}
    # Bob changes after hearing Ann; Cat keeps her answer after hearing Bob.
    assert counts["wrong", "its speaker: right"] == (1, 2)
    # Bob hears Eve in g3.
    assert counts["wrong", "its speaker: wrong"] == (0, 1)
    # Ann hears Cat, Bob hears Cat, Ann hears Dan.
    assert counts["right", "its speaker: wrong"] == (1, 3)
    assert counts["right", "anything"] == (1, 3) and counts["wrong", "anything"] == (1, 3)


SIDED = """debate,who,says,side,a,truth
d{n},Pro,"{pro}",yes,,yes
d{n},Con,"{con}",no,,yes
d{n},Jo,,,0.5,yes
d{n},Pro,"{pro}",yes,,yes
d{n},Con,"{con}",no,,yes
d{n},Jo,,,{after},yes
"""


def test_beliefs_of_a_judge_are_compared_by_the_preceding_statements(tmp_path: Path) -> None:
    """The judge ends on the right answer if the right side says more, and else on the wrong one."""
    long_speech, short_speech = "five words that say much", "two words"
    debates = [
        (long_speech, short_speech, 0.9) if n % 2 else (short_speech, f'one "{short_speech}"', 0.2)
        for n in range(12)
    ]
    header, *lines = SIDED.splitlines(keepends=True)
    body = "".join(lines)
    rows = [
        body.format(n=n, pro=pro, con=con.replace('"', '""'), after=belief)
        for n, (pro, con, belief) in enumerate(debates)
    ]
    (tmp_path / "sided.csv").write_text(header + "".join(rows))
    columns = {
        "debate": "debate",
        "speaker": "who",
        "text": "says",
        "side": "side",
        "belief": "a",
        "truth": "truth",
    }
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "sided.csv"),
        "columns": columns,
        "labels": {"yes": "yes", "no": "no"},
        "positive": "yes",
    }
    study = recorded_study(tmp_path, dataset, {"debate": "debate"}, {"all": "recorded"})
    frame = changed_answers(study).frame.set_index(["held before", "changes to", "heard before"])
    row = frame.loc[("undecided", "right", "more words: the right side")]
    assert (row["changes"], row["before a change"], row["before none"]) == (1, 1, 0)
    assert (row["difference"], row["occasions"], row["changed"], row["debates"]) == (1, 6, 6, 6)
    assert row["belief moved"] == pytest.approx(0.4)
    row_of_wrong = frame.loc[("undecided", "wrong", "more words quoted: the wrong side")]
    assert (
        row_of_wrong["before a change"],
        row_of_wrong["before none"],
        row_of_wrong["belief moved"],
    ) == (
        1,
        0,
        pytest.approx(-0.3),
    )
    assert frame.loc[("undecided", "wrong", "anything"), "changes"] == 0.5


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


def test_entries_for_transcripts_have_at_most_fifteen_lines() -> None:
    assert all(len(block.splitlines()) <= 15 for block in BLOCKS if "loader: transcripts" in block)


@needs_records
def test_the_configuration_of_the_page_suffices_for_groups_of_people(tmp_path: Path) -> None:
    """The published shares of right answers in all 500 groups are 0.0911 of 1,943 before the
    discussion and 0.2761 of 1,970 after it.
    """
    results = study(tmp_path, "wason", GROUPS, path=str(SHARED / "delidata" / "*-*"))
    counts = {
        name: experiment.predictions["prediction"].value_counts().to_dict()
        for name, experiment in results.experiments.items()
    }
    assert counts == {"talk": {"wrong": 698, "right": 264}, "alone": {"wrong": 864, "right": 96}}
    row = discussions(results).frame.iloc[0]
    assert row["groups"] == 249
    assert row["before low"] < 0.0911 < row["before high"]
    assert row["after low"] < 0.2761 < row["after high"]
    changes = changed_answers(results).frame.set_index(["held before", "heard before"])["changes"]
    assert changes["wrong", "its speaker: right"] > 3 * changes["wrong", "its speaker: wrong"]


@needs_records
@pytest.mark.parametrize(("name", "answers", "cases"), [("models", 675, 9), ("personas", 2040, 8)])
def test_the_configuration_of_the_page_suffices_for_jurors(
    tmp_path: Path, name: str, answers: int, cases: int
) -> None:
    path = SHARED / "juror_replays" / Path(str(JURORS["datasets"][name]["path"])).name
    results = study(tmp_path, name, JURORS, path=str(path))
    predictions = results.experiments[name].predictions
    assert (len(predictions), predictions["case_id"].nunique()) == (answers, cases)
    agreements = agreement(results).frame
    agreements = agreements[agreements["judges"] == ""].set_index("what differs")["same answer"]
    assert set(agreements.index) == (
        {ASKED_AGAIN, JUDGE, RUN} if name == "models" else {ASKED_AGAIN, PERSONA, RUN}
    )
    assert agreements[ASKED_AGAIN] > agreements[RUN]
    if name == "models":
        assert agreements[ASKED_AGAIN] > agreements[JUDGE], "another model changes more verdicts"
    else:
        # Another persona changes no more verdicts than asking again.
        assert agreements[PERSONA] == pytest.approx(agreements[ASKED_AGAIN], abs=0.01)
