"""The texts of recorded debates as readers see them: by several judges, and by models."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from moot.report.debate_texts import NO_MAJORITY, read_debates
from moot.report.exports import Export
from moot.report.outcome import read_outcome
from moot.report.reader_debates import Packing, pack_debates
from moot.scores import score_experiment
from nyu_debates import debate as invented_debate
from recorded_runs import recorded_study, study_of_turns, study_of_verdicts


def test_a_debate_before_several_judges_is_shown_once_and_exported_by_judge(tmp_path: Path) -> None:
    lines = [
        "a,0,Ann,,0,Y,Y",
        "a,0,Bo,,0,N,Y",
        "a,0,Cy,,0,Y,Y",
        "b,0,Ann,,0,Y,N",
        "b,0,Bo,,0,N,N",
        "c,0,Ann,,0,N,N",
    ]
    results = study_of_verdicts(tmp_path, lines).experiments["jury"]
    turns = results.transcripts[results.transcripts["debate_id"] == "a#0"]
    verdicts = turns[turns["kind"] == "verdict"]
    assert verdicts["speaker"].tolist() == ["Ann", "Bo", "Cy"] == verdicts["visibility"].tolist(), (
        "none hears another"
    )
    debates = {debate.name: debate for debate in read_debates(results, "jurors")}
    assert set(debates) == {"a#0", "b#0", "c#0"}
    majority = debates["a#0"].outcome
    assert majority.prediction and (majority.prediction.label, majority.reason) == (
        "yes",
        "of 3 judges, 2 say yes, 1 say no",
    )
    assert (
        debates["b#0"].outcome.prediction is None
        and "1 say yes, 1 say no" in debates["b#0"].outcome.reason
    )
    assert debates["c#0"].outcome.prediction and debates["c#0"].outcome.reason == ""
    outcome = read_outcome([tmp_path / "results/predictions/jury/jurors.parquet"])
    assert len(outcome.debates) == 3, "the count is of debates and not of answers"
    lines = ["a,0,Ann,,0,Y,Y", "a,0,Bo,,0,UNKNOWN,Y", "b,0,Ann,,0,UNKNOWN,N"]
    (tmp_path / "undecided").mkdir()
    study_of_verdicts(tmp_path / "undecided", lines)
    outcome = read_outcome([tmp_path / "undecided/results/predictions/jury/jurors.parquet"])
    assert outcome.debates["status"].tolist() == ["valid", "invalid"], (
        "an undecided judge beside one who decides leaves the debate valid"
    )
    packing = Packing(10_000, {}.__setitem__)
    pack_debates(packing, results)
    assert len(packing.index()["debates"]["case"]) == 3
    exported = Export(results, "jurors", score_experiment(results)).debates()
    predictions = {debate.name: debate.outcome["prediction"] for debate in exported}
    assert {name: label for name, label in predictions.items() if name[0] == "a"} == {
        "a#0, Ann": "yes",
        "a#0, Bo": "no",
        "a#0, Cy": "yes",
    }


def test_speeches_of_a_model_are_shown_though_facts_were_parsed_from_them(tmp_path: Path) -> None:
    folder = tmp_path / "recorded" / "nyu_debates"
    folder.mkdir(parents=True)
    line, record = invented_debate(0)
    record["rounds"][1]["SimultaneousSpeeches"]["speeches"]["0"]["speaker"] = "GPT-4"
    (folder / "the-lamp-0.json").write_text(json.dumps(record))
    (folder.parent / "nyu_debates-metadata.jsonl").write_text(json.dumps(line) + "\n")
    study = recorded_study(
        tmp_path,
        {"loader": "nyu_debates", "source": "local"},
        {"people": "people debate"},
        {"human": "human judge"},
    )
    [debate] = read_debates(study.experiments["people"], "human")
    [model, *_] = [turn for turn in debate.turns if turn.origin == "model"]
    assert model.text.startswith("The text says who did it (0).") and ("Words", "7") in model.fields


@pytest.mark.parametrize(
    ("votes", "status", "label"),
    [
        (["no"] * 4 + ["yes"] * 4, NO_MAJORITY, ""),
        (["yes", "no", "UNKNOWN"], NO_MAJORITY, ""),
        (["yes", "yes", "no", "UNKNOWN"], "valid", "yes"),
        (["UNKNOWN", "UNKNOWN"], "invalid", ""),
    ],
)
def test_a_split_jury_has_valid_answers_without_a_majority(
    tmp_path: Path, votes: Sequence[str], status: str, label: str
) -> None:
    rows = [
        {"debate": "d", "judge": f"J{number}", "text": "So.", "answer": vote}
        for number, vote in enumerate(votes)
    ]
    columns = {name: name for name in ("debate", "judge", "text", "answer")} | {"speaker": ""}
    results = study_of_turns(tmp_path, rows, columns).experiments["talk"]
    [debate] = read_debates(results, "all")
    prediction = debate.outcome.prediction
    assert (debate.outcome.status, prediction.label if prediction else "") == (status, label)
    valid_votes = [vote for vote in votes if vote != "UNKNOWN"]
    assert (results.predictions["status"] == "valid").sum() == len(valid_votes)
