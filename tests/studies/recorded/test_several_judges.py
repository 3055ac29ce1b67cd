"""Recorded answers by several judges of the same debates: whose answer a row is, and how far they agree."""

from itertools import product
from pathlib import Path

import pytest

from moot.core.config import Publication
from moot.core.errors import UserError
from moot.report.content import StudyResults
from moot.report.exports import Export
from moot.report.reader_debates import Packing, pack_debates
from moot.report.transcripts import read_debates
from moot.scores import score_experiment
from moot.studies.recorded.tables_agreement import AGAIN, JUDGE, PERSONA, RUN, agreement
from recorded_runs import recorded_study

COLUMNS = {
    "case": "id",
    "repeat": "run",
    "judge": "who",
    "persona": "as",
    "judge_repeat": "nth",
    "model": "",
    "prediction": "said",
}


def juries(folder: Path, lines: list[str], **columns: str) -> StudyResults:
    (folder / "verdicts.csv").write_text("\n".join(["id,run,who,as,nth,said,truth", *lines]) + "\n")
    dataset = {
        "loader": "recorded_predictions",
        "path": str(folder / "verdicts.csv"),
        "columns": COLUMNS | columns,
        "labels": {"N": "no", "Y": "yes"},
        "positive": "yes",
    }
    return recorded_study(folder, dataset, {"jury": "answer"}, {"jurors": "judges"})


def verdicts() -> list[str]:
    """Ann always says the truth; Bo says yes as a hawk and no as a dove; of 12 cases, each with two runs, four are yes.

    Asked for a second time Bo changes his mind in the first six cases.
    """
    lines = []
    for case, run, nth in product(range(12), range(2), range(2)):
        truth = "Y" if case < 4 else "N"
        turned = nth == 1 and case < 6
        lines.append(f"c{case},{run},Ann,hawk,{nth},{truth},{truth}")
        lines.append(f"c{case},{run},Ann,dove,{nth},{truth},{truth}")
        lines.append(f"c{case},{run},Bo,hawk,{nth},{'N' if turned else 'Y'},{truth}")
        lines.append(f"c{case},{run},Bo,dove,{nth},{'Y' if turned else 'N'},{truth}")
    return lines


def test_each_judge_persona_and_repeat_is_a_row_and_agreement_is_counted_by_what_differs(tmp_path: Path) -> None:
    study = juries(tmp_path, verdicts())
    results = study.experiments["jury"]
    rows = results.predictions
    assert (
        len(rows) == 12 * 2 * 2 * 2 * 2
        and not rows.duplicated(["case_id", "repeat", "judge", "persona", "judge_repeat"]).any()
    )
    assert (
        set(rows["judge"]) == {"Ann", "Bo"}
        and set(rows["persona"]) == {"hawk", "dove"}
        and set(rows["judge_repeat"]) == {0, 1}
    )
    table = agreement(study).frame.set_index(["what differs", "judges"])
    same = table["same answer"]
    assert same[AGAIN, "Ann"] == 1 and same[AGAIN, "Bo"] == 0.5 and same[AGAIN, ""] == 0.75
    assert same[PERSONA, ""] == pytest.approx(0.5 + 0.5 * 0.25), (
        "Bo's personas agree where one was turned and the other not"
    )
    brute = [
        one.prediction == other.prediction
        for _, group in rows.groupby(["case_id", "repeat", "persona"])
        for one, other in product(
            group[group["judge"] == "Ann"].itertuples(), group[group["judge"] == "Bo"].itertuples()
        )
    ]
    assert same[JUDGE, "Ann, Bo"] == same[JUDGE, ""] == pytest.approx(sum(brute) / len(brute))
    assert table.loc[(JUDGE, "Ann, Bo"), "pairs"] == len(brute)
    assert same[RUN, ""] == pytest.approx(0.875), "Ann always; Bo in three quarters: half of the cases half of the time"
    assert (table["same low"] <= same).all() and (same <= table["same high"]).all()
    assert table.loc[(AGAIN, "Ann"), "beyond chance"] == 1
    by_judge = score_experiment(results).set_index(["group", "metric"])["value"]
    assert by_judge["judge=Ann", "accuracy"] == 1 and by_judge["judge=Bo", "accuracy"] == pytest.approx(0.5)


def test_a_debate_before_several_judges_is_shown_once_and_exported_by_judge(tmp_path: Path) -> None:
    lines = ["a,0,Ann,,0,Y,Y", "a,0,Bo,,0,N,Y", "a,0,Cy,,0,Y,Y", "b,0,Ann,,0,Y,N", "b,0,Bo,,0,N,N", "c,0,Ann,,0,N,N"]
    results = juries(tmp_path, lines).experiments["jury"]
    said = results.transcripts[results.transcripts["debate_id"] == "a#0"]
    verdicts = said[said["kind"] == "verdict"]
    assert verdicts["speaker"].tolist() == ["Ann", "Bo", "Cy"] == verdicts["visibility"].tolist(), "none hears another"
    debates = {debate.name: debate for debate in read_debates(results, "jurors")}
    assert set(debates) == {"a#0", "b#0", "c#0"}
    most = debates["a#0"].outcome
    assert most.prediction and (most.prediction.label, most.reason) == ("yes", "of 3 judges, 2 say yes, 1 say no")
    assert debates["b#0"].outcome.prediction is None and "1 say yes, 1 say no" in debates["b#0"].outcome.reason
    assert debates["c#0"].outcome.prediction and debates["c#0"].outcome.reason == ""
    packing = Packing(10_000, {}.__setitem__)
    pack_debates(packing, results)
    assert len(packing.index()["debates"]["case"]) == 3
    exported = {
        one.name: one.outcome for one in Export(results, "jurors", score_experiment(results), Publication()).debates()
    }
    assert {name: one["prediction"] for name, one in exported.items() if name[0] == "a"} == {
        "a#0, Ann": "yes",
        "a#0, Bo": "no",
        "a#0, Cy": "yes",
    }


def test_answers_of_a_judge_are_counted_where_the_file_does_not_number_them(tmp_path: Path) -> None:
    rows = (
        juries(tmp_path, ["a,0,Ann,,0,Y,Y", "a,0,Ann,,0,N,Y", "a,0,Bo,,0,Y,Y"], judge_repeat="")
        .experiments["jury"]
        .predictions
    )
    assert rows[["judge", "judge_repeat", "prediction"]].values.tolist() == [
        ["Ann", 0, "yes"],
        ["Ann", 1, "no"],
        ["Bo", 0, "yes"],
    ]
    (tmp_path / "twice").mkdir()
    with pytest.raises(
        UserError, match="repeat 0, judge 'Ann' occurs twice; expected each repeat of a case once, by each judge"
    ):
        juries(tmp_path / "twice", ["a,0,Ann,,0,Y,Y", "a,0,Ann,,0,N,Y"])
