"""Groups that talk, each member with an answer: who is right before and after, and what was heard
before a change.
"""

import re
from pathlib import Path

import pytest
import yaml

from moot.report.content import StudyResults
from moot.scores.dynamics import EVERYBODY, dynamics
from moot.studies.recorded.tables_agreement import ASKED_AGAIN, JUDGE, PERSONA, RUN, agreement
from moot.studies.recorded.tables_discussions import changed_answers, discussions
from recorded_runs import PROJECT, recorded_study

SHARED = PROJECT.parent / "shared" / "data" / "recorded"
needs_records = pytest.mark.skipif(not SHARED.is_dir(), reason="the published records are not here")
README = (PROJECT / "scripts/moot/studies/recorded/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
SHOWN = [yaml.safe_load(block) for block in BLOCKS]
[GROUPS] = [shown for shown in SHOWN if "wason" in shown["datasets"]]
[JURORS] = [shown for shown in SHOWN if "personas" in shown["datasets"]]

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
    folder: Path, name: str, shown: dict[str, dict[str, dict[str, str]]], **replaced: str
) -> StudyResults:
    """A data set of a configuration in the study's README, with one experiment for each of its
    methods.
    """
    methods = {
        key: entry["params"]["method"]  # type: ignore[index]
        for key, entry in shown["experiments"].items() if entry["dataset"] == name
    }  # fmt: skip
    return recorded_study(
        folder, {**shown["datasets"][name], **replaced}, methods, {"all": "recorded"}
    )


@pytest.fixture
def talks(tmp_path: Path) -> StudyResults:
    (tmp_path / "talks.csv").write_text(TALKS)
    columns = {"debate": "group", "speaker": "who", "text": "says", "answer": "answer"}
    dataset = {"loader": "transcripts", "path": str(tmp_path / "talks.csv"), "columns": columns,
               "labels": {"A": "right", "B": "wrong"}, "positive": "right", "truth": "right"}  # fmt: skip
    return recorded_study(
        tmp_path, dataset, {"talk": "debate", "alone": "first answers"}, {"people": "recorded"}
    )


def test_members_are_compared_before_and_after_their_group_talks(talks: StudyResults) -> None:
    """Of seven members two are right at first; one wrong one ends right, one right one ends wrong."""
    frame = discussions(talks).frame
    assert frame["method"].tolist() == ["debate"], "first answers alone are no discussion"
    row = frame.iloc[0]
    assert row[["members", "groups", "groups with one right"]].tolist() == [7, 3, 2]
    assert (row["right before"], row["right after"]) == pytest.approx((2 / 7, 2 / 7))
    assert (row["wrong who end right"], row["right who end wrong"]) == pytest.approx((1 / 5, 1 / 2))
    assert (row["most end right, one was right"], row["most end right, none was"]) == (1 / 2, 0)
    predictions = {
        name: found.predictions["prediction"].tolist() for name, found in talks.experiments.items()
    }
    assert [answers.count("right") for answers in predictions.values()] == [2, 2]


def test_a_change_is_counted_after_the_last_message_of_another_member(talks: StudyResults) -> None:
    """Bob joins Ann in g1 after he heard her; Ann joins Dan in g2; Cat and the others stay."""
    frame = changed_answers(talks).frame.set_index(["held before", "heard before"])
    found = {key: (row["changed"], row["occasions"]) for key, row in frame.iterrows()}
    assert found["wrong", "its speaker: right"] == (
        1,
        2,
    ), "Bob after Ann; Cat, who heard Bob say yours, stays"
    assert found["wrong", "its speaker: wrong"] == (0, 1), "Bob in g3 heard Eve"
    assert found["right", "its speaker: wrong"] == (
        1,
        3,
    ), "Ann after Cat, Bob after Cat, Ann after Dan"
    assert found["right", "anything"] == (1, 3) and found["wrong", "anything"] == (1, 3)


SIDED = """debate,who,says,side,a,truth
d{n},Pro,"{pro}",yes,,yes
d{n},Con,"{con}",no,,yes
d{n},Jo,,,0.5,yes
d{n},Pro,"{pro}",yes,,yes
d{n},Con,"{con}",no,,yes
d{n},Jo,,,{after},yes
"""


def test_a_judges_belief_is_told_apart_by_what_both_sides_said_before_it(tmp_path: Path) -> None:
    """The judge comes to the right answer in each debate whose right side says more, and to the
    wrong one in others.
    """
    long, short = "five words that say much", "two words"
    debates = [(long, short, 0.9) if n % 2 else (short, f'one "{short}"', 0.2) for n in range(12)]
    header, *lines = SIDED.splitlines(keepends=True)
    body = "".join(lines)
    rows = [
        body.format(n=n, pro=pro, con=con.replace('"', '""'), after=after)
        for n, (pro, con, after) in enumerate(debates)
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
    wrong = frame.loc[("undecided", "wrong", "more words quoted: the wrong side")]
    assert (wrong["before a change"], wrong["before none"], wrong["belief moved"]) == (
        1,
        0,
        pytest.approx(-0.3),
    )
    assert frame.loc[("undecided", "wrong", "anything"), "changes"] == 0.5


def test_the_members_of_many_groups_are_scored_together(tmp_path: Path) -> None:
    lines = [
        f"g{n},m{n}-{who},So.,{answer}"
        for n in range(4)
        for who, answer in (("a", "A"), ("b", "B"), ("a", "B"))
    ]
    (tmp_path / "talks.csv").write_text("\n".join(["group,who,says,answer", *lines]) + "\n")
    columns = {"debate": "group", "speaker": "who", "text": "says", "answer": "answer"}
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "talks.csv"),
        "columns": columns,
        "truth": "a",
    }
    found = dynamics(
        recorded_study(tmp_path, dataset, {"talk": "debate"}, {"all": "recorded"}).experiments[
            "talk"
        ]
    )
    groups = set(found["group"])
    assert (
        len([group for group in groups if group.startswith("speaker=") and ";" not in group]) == 8
    ), "seats are few"
    lines += [line.replace("m", "n").replace("g", "h") for line in lines]
    (tmp_path / "talks.csv").write_text("\n".join(["group,who,says,answer", *lines]) + "\n")
    (tmp_path / "more").mkdir()
    more = dynamics(
        recorded_study(
            tmp_path / "more", dataset, {"t": "debate"}, {"all": "recorded"}
        ).experiments["t"]
    )
    assert {group.partition(";")[0] for group in more["group"]} == {f"speaker={EVERYBODY}"}
    first = more.set_index(["group", "metric"])["value"]
    assert first[f"speaker={EVERYBODY};opinion=first", "accuracy"] == 0.5
    assert first[f"speaker={EVERYBODY};opinion=last", "accuracy"] == 0


def test_fifteen_lines_are_enough() -> None:
    assert all(len(block.splitlines()) <= 15 for block in BLOCKS if "loader: transcripts" in block)


@needs_records
def test_groups_of_people_come_in_by_the_configuration_of_the_page_alone(tmp_path: Path) -> None:
    """Published of all 500 groups: 0.0911 of 1,943 answers right before, 0.2761 of 1,970 after."""
    found = study(tmp_path, "wason", GROUPS, path=str(SHARED / "delidata" / "*-*"))
    counts = {
        name: one.predictions["prediction"].value_counts().to_dict()
        for name, one in found.experiments.items()
    }
    assert counts == {"talk": {"wrong": 698, "right": 264}, "alone": {"wrong": 864, "right": 96}}
    row = discussions(found).frame.iloc[0]
    assert row["groups"] == 249
    assert (
        row["before low"] < 0.0911 < row["before high"]
        and row["after low"] < 0.2761 < row["after high"]
    )
    changes = changed_answers(found).frame.set_index(["held before", "heard before"])["changes"]
    assert changes["wrong", "its speaker: right"] > 3 * changes["wrong", "its speaker: wrong"]


@needs_records
@pytest.mark.parametrize(("name", "answers", "cases"), [("models", 675, 9), ("personas", 2040, 8)])
def test_jurors_come_in_by_the_configuration_of_the_page_alone(
    tmp_path: Path, name: str, answers: int, cases: int
) -> None:
    path = SHARED / "juror_replays" / Path(str(JURORS["datasets"][name]["path"])).name
    found = study(tmp_path, name, JURORS, path=str(path))
    predictions = found.experiments[name].predictions
    assert (len(predictions), predictions["case_id"].nunique()) == (answers, cases)
    same = agreement(found).frame
    same = same[same["judges"] == ""].set_index("what differs")["same answer"]
    assert set(same.index) == (
        {ASKED_AGAIN, JUDGE, RUN} if name == "models" else {ASKED_AGAIN, PERSONA, RUN}
    )
    assert same[ASKED_AGAIN] > same[RUN]
    if name == "models":
        assert same[ASKED_AGAIN] > same[JUDGE], (
            "another model changes more verdicts than asking again does"
        )
    else:
        assert same[PERSONA] == pytest.approx(same[ASKED_AGAIN], abs=0.01), (
            "another persona changes no more than that"
        )
