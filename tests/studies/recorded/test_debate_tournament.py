"""Debates of a tournament: transcripts and judgment pages of the published form, checked against
each other.
"""

from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from debate_tournament import write
from moot.core.errors import UserError
from moot.core.experiment_config import COMPARISON
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.records import RecordedDebate
from moot.report.claims import read_claims
from moot.report.content import StudyResults
from moot.report.transcripts import read_debates
from moot.scores.answers import estimate
from moot.studies.across.tables_questions import questions
from moot.studies.recorded.tables_habits import ALL, recorded_habits
from moot.studies.recorded.tables_tournament import tournament
from recorded_runs import PROJECT, recorded_study

SHARED = PROJECT.parent / "shared" / "data"


def read(folder: Path, **options: object) -> tuple[Loaded, list[RecordedDebate]]:
    entry, context = LOADERS["debate_tournament"], LoadContext("duels", folder, PROJECT, 1)
    checked = entry.options.model_validate(options)
    assert entry.records is not None
    return entry.load(checked, context), list(entry.records(checked, context))


def study_of(folder: Path) -> StudyResults:
    dataset = {"loader": "debate_tournament", "source": "local"}
    return recorded_study(folder, dataset, {"duels": "tournament"}, {"jury": "judges"})


def test_who_wins_by_judge_side_length_and_after_a_swap(tmp_path: Path) -> None:
    write(tmp_path)
    study = study_of(tmp_path)
    share = tournament(study).frame.set_index(["who wins", "judge"])["share"]
    assert (share["pro", "Ann"], share["pro", "Bo"], share["pro", "all"]) == (1, 0.5, 0.75)
    assert (share["the longer side", "Ann"], share["the longer side", "Bo"]) == (0.5, 0.5)
    assert (
        share["the same side after a swap", "Ann"],
        share["the same side after a swap", "Bo"],
    ) == (1, 0)
    habits = recorded_habits(study).frame
    alone = habits[(habits["judge"] == ALL) & habits["habit"].isin(["side: pro", "length"])]
    assert len(habits) and alone.empty, "what all judges take is in one table"
    results = study.experiments["duels"]
    found = {
        name: estimate(results, "jury", name)
        for name in ("longer_wins", "judges_agree", "same_side_after_swap")
    }
    assert {name: one and one.value for name, one in found.items()} == dict.fromkeys(found, 0.5)
    assert found["judges_agree"] and found["judges_agree"].clusters == 8, "intervals draw topics"
    debate = next(read_debates(results, "jury"))
    assert [turn.speaker for turn in debate.turns] == [*["Pro", "Con"] * 5, "Ann", "Bo"]
    assert debate.turns[-1].text.startswith("Because.") and debate.turns[-1].readers == "Bo"
    assert ("Decisive", "4") in debate.turns[-2].fields, (
        "the judge's note names a turn by its heading"
    )
    assert ("Margin", "-1.500") in debate.turns[-1].fields and ("Cites", ["P1.1"]) in debate.turns[
        1
    ].fields


def test_the_questions_of_the_report_are_answered_without_a_papers_settings(tmp_path: Path) -> None:
    write(tmp_path)
    claims = [
        claim
        for claim in read_claims(PROJECT / "data/published/claims.csv")
        if "debate_tournament" in claim.data
    ]
    frame = questions(replace(study_of(tmp_path), study=COMPARISON, claims=claims)).frame
    found = {row["measured"].partition(":")[0]: row["this run"] for row in frame.to_dict("records")}
    expected = {
        "positive_wins": 0.75,
        "longer_wins": 0.5,
        "same_side_after_swap": 0.5,
        "judges_agree": 0.5,
    }
    assert found == expected


def test_the_published_archive_is_read_as_its_files_are(tmp_path: Path) -> None:
    place = write(tmp_path, 2)
    with ZipFile(tmp_path / "recorded" / "debate_tournament.zip", "w") as archive:
        for file in place.rglob("*.md"):
            archive.write(file, f"debate-0/reports/{file.relative_to(place)}")
        archive.writestr("debate-0/README.md", "# Debates")
    loaded, debates = read(tmp_path, source="download")
    local, _ = read(tmp_path, source="local")
    assert loaded.cases == local.cases and len(debates) == 8


@pytest.mark.parametrize(
    ("where", "old", "new", "message"),
    [
        ("judgments", "| Bo | Red One (high) | +1.5", "| Bo | Blue Two | +1.5", "Bo: winner 'Blue Two' and margin +1.5 (PRO+) do not agree"),
        ("judgments", "| Bo | Red One (high)", "| Bo | Green", "Bo: winner 'Green'; expected Red One (high) or Blue Two"),
        ("judgments", "`2-0` for **Red One (high)**", "`2-0` for **Blue Two**", "is not that of its table"),
        ("judgments", "PRO = **Red One (high)**, CON = **Blue Two**", "PRO = **Blue Two**, CON = **Red One (high)**", "the transcript has red-1 where the page has 'Blue Two', elsewhere Red One (high)"),
        ("transcripts", "## Turn 2: CON", "## Turn 2: PRO", "found turn '2: PRO Opening'; expected 2 CON"),
        ("transcripts", "- model: red-1", "- model: blue-2", "turn 2: spoken by 'blue-2'; expected red-1"),
        ("transcripts", "raw_words: 30", "raw_words: many", "turn 1: raw_words 'many'; expected a whole number"),
        ("transcripts", "[C1.1] Lamps.", "Lamps.", "turn 2: its text names other claims than its list"),
        ("transcripts", "[P1.1]", "[P9.9]", "turn 2: cites P9.9, which no earlier turn claimed"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_named_and_left_out_up_to_a_share(
    tmp_path: Path, where: str, old: str, new: str, message: str
) -> None:
    place = write(tmp_path)
    file = sorted((place / where).glob("*"))[2 if where == "judgments" else 4]
    text = file.read_text()
    changed = (
        text.replace("cited_claim_ids: [P1.1]", f"cited_claim_ids: {new}").replace(
            "Lamps. [P1.1]", f"Lamps. {new}"
        )
        if new == "[P9.9]"
        else text.replace(old, new, 1)
    )
    assert changed != text
    file.write_text(changed)
    with pytest.raises(UserError) as raised:
        read(tmp_path)
    assert message in str(raised.value) and file.name in str(raised.value)
    loaded, _ = read(tmp_path, faulty=0.2)
    assert loaded.cleaning["left out: something is wrong with it"] == 16 - len(loaded.cases) >= 1


@pytest.mark.parametrize("source", ["local", "download"])
def test_a_file_that_is_no_text_stops_no_other(tmp_path: Path, source: str) -> None:
    place = write(tmp_path)
    sorted((place / "transcripts").glob("*"))[4].write_bytes(b"# \xe9")
    with ZipFile(tmp_path / "recorded" / "debate_tournament.zip", "w") as archive:
        for file in place.rglob("*.md"):
            archive.write(file, f"debate-0/{file.name}")
    with pytest.raises(UserError, match=r"\.md: .*(\n.*)*1 of 16 debates cannot be read"):
        read(tmp_path, source=source)
    assert len(read(tmp_path, source=source, faulty=0.2)[0].cases) == 15


@pytest.mark.skipif(
    not (SHARED / "recorded" / "debate_tournament").is_dir(),
    reason="the published debates are not here",
)
def test_the_half_at_hand_gives_the_figures_known_from_outside(tmp_path: Path) -> None:
    """Over all published pages PRO wins between .455 and .747 by judge, the longer side .590, the
    same side 753 of 1,766.
    """
    (tmp_path / "recorded").symlink_to(SHARED / "recorded")
    frame = tournament(study_of(tmp_path)).frame.set_index(["who wins", "judge"])
    known = {("the longer side", "all"): 0.590, ("the same side after a swap", "all"): 753 / 1766}
    assert all(
        frame.loc[row, "95 % low"] < value < frame.loc[row, "95 % high"]
        for row, value in known.items()
    )
    by_judge = frame.loc["pro"].drop("all")["share"]
    assert (len(by_judge), *by_judge.agg(["min", "max"]).round(3)) == (6, 0.453, 0.766)
    assert frame.loc[("pro", "all"), "clusters"] == 330
