"""Debates of a tournament: transcripts and judgment pages of the published form, checked against each other."""

from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from moot.core.config import COMPARISON
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.records import RecordedDebate
from moot.report.claims import read_claims
from moot.report.content import StudyResults
from moot.report.transcripts import read_debates
from moot.scores.answers import estimate
from moot.studies.across.tables_questions import questions
from moot.studies.recorded.tables_tournament import tournament
from recorded_runs import PROJECT, recorded_study

SHARED = PROJECT.parent / "shared" / "data"
PARTS = ("Opening", "Rebuttal 1", "Pressure Questions", "Rebuttal 2", "Closing")
NAMES = {"red-1": "Red One (high)", "blue-2": "Blue Two"}


def debate_id(topic: int, swapped: bool) -> str:
    pro, con = ("blue-2", "red-1") if swapped else ("red-1", "blue-2")
    return f"prop_{topic:04}__{pro}__{con}__s{int(swapped)}__tpl"


def transcript(topic: int, swapped: bool, pro_words: int = 30, con_words: int = 20) -> str:
    pro, con = ("blue-2", "red-1") if swapped else ("red-1", "blue-2")
    lines = [
        f"# Debate {debate_id(topic, swapped)}\n",
        f"- topic_id: prop_{topic:04}\n- proposition: Towns should light lamps ({topic}).",
        f"- model_pro: {pro}\n- model_con: {con}\n- side_swap: {swapped}\n",
    ]
    for number in range(1, 11):
        side, model, words = ("PRO", pro, pro_words) if number % 2 else ("CON", con, con_words)
        claim, cited = f"[{side[0]}{(number + 1) // 2}.1]", "[P1.1]" if number == 2 else ""
        lines.append(
            f"## Turn {number}: {side} {PARTS[(number - 1) // 2]}\n\n- model: {model}\n- raw_words: {words}\n"
            f"- clipped_words: {words}\n- claim_ids: {claim}\n- cited_claim_ids: {cited or '(none)'}\n"
            f"- missing_claim_id_refs: (none)\n\n{claim} Lamps. {cited}\n"
        )
    return "\n".join(lines)


def page(topic: int, wins: tuple[dict[str, str], dict[str, str]]) -> str:
    """A matchup: for each of its two debates the side that each judge names."""
    text = f"# Debate Matchup Judgment Report\n\n- side_swap_group_id: `prop_{topic:04}__red-1__blue-2__tpl`\n"
    for letter, swapped, verdicts in (("A", False, wins[0]), ("B", True, wins[1])):
        sides = {"pro": NAMES["blue-2" if swapped else "red-1"], "con": NAMES["red-1" if swapped else "blue-2"]}
        pro = sum(side == "pro" for side in verdicts.values())
        con = len(verdicts) - pro
        result = (
            f"Split `{pro}-{con}`."
            if pro == con
            else f"Unanimous `{max(pro, con)}-{min(pro, con)}` for **{sides['pro' if pro > con else 'con']}**."
        )
        text += (
            f"\n## Debate {letter}\n\n- debate_id: `{debate_id(topic, swapped)}`\n"
            f"- roles: PRO = **{sides['pro']}**, CON = **{sides['con']}**\n- judged result: {result}\n\n"
            "| Judge | Winner | Signed Margin (PRO+) | Normalized | Entertainment |\n| --- | --- | ---: | ---: | ---: |\n"
        )
        for judge, side in verdicts.items():
            margin = "+1.5" if side == "pro" else "-1.5"
            text += f"| {judge} | {sides[side]} | {margin} | {margin} | 7.0 |\n"
        text += "\n### Judge Notes\n\n" + "".join(
            f"- **{judge}**: Because.\n  Most decisive: P1.1.\n" for judge in verdicts
        )
    return text


def write(folder: Path, topics: int = 8) -> Path:
    """Ann always names PRO; Bo names Red One. Where the number of a topic is odd, CON uses more words."""
    place = folder / "recorded" / "debate_tournament"
    for name in ("transcripts", "judgments"):
        (place / name).mkdir(parents=True)
    for topic in range(topics):
        for swapped in (False, True):
            words = (20, 30) if topic % 2 else (30, 20)
            text = transcript(topic, swapped, *words)
            (place / "transcripts" / f"{debate_id(topic, swapped)}.md").write_text(text)
        verdicts = ({"Ann": "pro", "Bo": "pro"}, {"Ann": "pro", "Bo": "con"})
        (place / "judgments" / f"matchup-judgment-prop_{topic:04}-red-vs-blue.md").write_text(page(topic, verdicts))
    return place


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
    assert (share["the same side after a swap", "Ann"], share["the same side after a swap", "Bo"]) == (1, 0)
    results = study.experiments["duels"]
    found = {name: estimate(results, "jury", name) for name in ("longer_wins", "judges_agree", "same_side_after_swap")}
    assert {name: one and one.value for name, one in found.items()} == dict.fromkeys(found, 0.5)
    assert found["judges_agree"] and found["judges_agree"].clusters == 8, "intervals draw topics"
    debate = next(read_debates(results, "jury"))
    assert [turn.speaker for turn in debate.turns] == [*["Pro", "Con"] * 5, "Ann", "Bo"]
    assert debate.turns[-1].text.startswith("Because.") and debate.turns[-1].readers == "Bo"
    assert ("Margin", "-1.500") in debate.turns[-1].fields and ("Cites", ["P1.1"]) in debate.turns[1].fields


def test_the_questions_of_the_report_are_answered_without_a_papers_settings(tmp_path: Path) -> None:
    write(tmp_path)
    claims = [
        claim for claim in read_claims(PROJECT / "data/published/claims.csv") if "debate_tournament" in claim.data
    ]
    frame = questions(replace(study_of(tmp_path), study=COMPARISON, claims=claims)).frame
    found = {row["measured"].partition(":")[0]: row["this run"] for row in frame.to_dict("records")}
    expected = {"positive_wins": 0.75, "longer_wins": 0.5, "same_side_after_swap": 0.5, "judges_agree": 0.5}
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
        text.replace("cited_claim_ids: [P1.1]", f"cited_claim_ids: {new}").replace("Lamps. [P1.1]", f"Lamps. {new}")
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


@pytest.mark.skipif(
    not (SHARED / "recorded" / "debate_tournament").is_dir(), reason="the published debates are not here"
)
def test_the_half_at_hand_gives_the_figures_known_from_outside(tmp_path: Path) -> None:
    """Over all published pages PRO wins between .455 and .747 by judge, the longer side .590, the same side 753 of 1,766."""
    (tmp_path / "recorded").symlink_to(SHARED / "recorded")
    frame = tournament(study_of(tmp_path)).frame.set_index(["who wins", "judge"])
    known = {("the longer side", "all"): 0.590, ("the same side after a swap", "all"): 753 / 1766}
    assert all(frame.loc[row, "95 % low"] < value < frame.loc[row, "95 % high"] for row, value in known.items())
    by_judge = frame.loc["pro"].drop("all")["share"]
    assert (len(by_judge), *by_judge.agg(["min", "max"]).round(3)) == (6, 0.453, 0.766)
    assert frame.loc[("pro", "all"), "clusters"] == 330
