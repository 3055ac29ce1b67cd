"""Test the arms that change who argues, what is said, and in which order."""

import json
from pathlib import Path

import pytest
from arm_runs import Runs, entry, full_and, note_of, prompts_of, public

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.analyses.arms.interventions import separator
from moot.plan.plan import Plan


def test_noise_is_speech_about_another_case_without_calls_of_debaters(runs: Runs) -> None:
    baseline, noise = full_and(runs, "noise")
    utterances = public(noise)[public(noise)["speaker"] != "judge"]
    assert set(utterances["source"]) == {"borrowed"}
    assert set(noise.loc[noise["source"] == "model", "speaker"]) == {"judge"}
    donors: dict[str, str] = {}
    for case, mine in utterances[utterances["source"] == "borrowed"].groupby("case_id"):
        donor = note_of(noise[noise["case_id"] == case])["case"]
        theirs = public(baseline)[
            (public(baseline)["case_id"] == donor) & (public(baseline)["speaker"] != "judge")
        ]
        assert (
            mine[["speaker", "kind", "text"]].to_numpy().tolist()
            == theirs[["speaker", "kind", "text"]].to_numpy().tolist()
        )
        assert case != donor
        donors[str(case)] = donor
    assert set(donors) == set(donors.values())


def test_noise_on_a_panel_replaces_the_opinions_of_the_other_judges(runs: Runs) -> None:
    _, noise = full_and(runs, "noise", "panel")
    requests = prompts_of(runs, "panel-arm=noise")
    first = noise[(noise["kind"] == "statement") & (noise["round"] == 1) & (noise["repeat"] == 0)]
    second = noise[(noise["kind"] == "statement") & (noise["round"] == 2)]
    for row in second.to_dict("records"):
        mine = first[first["case_id"] == row["case_id"]].set_index("speaker")["text"]
        request = requests[row["call_id"]]
        assert mine[row["speaker"]] in request
        for speaker, text in mine.drop(row["speaker"]).items():
            assert text not in request, speaker


def test_the_arm_alone_has_as_many_turns_as_the_debaters(runs: Runs) -> None:
    baseline, solo = full_and(runs, "alone")
    turns = public(baseline)[public(baseline)["speaker"] != "judge"].groupby("case_id").size()
    assert (
        solo[solo["kind"] == "thought"].groupby("case_id").size().to_dict()
        == turns.to_dict()
        == dict.fromkeys(turns.index, 6)
    )
    assert set(solo["speaker"]) == {"judge", "moot"}
    last = solo[solo["kind"] == "verdict"].iloc[0]
    thoughts = solo[(solo["debate_id"] == last["debate_id"]) & (solo["kind"] == "thought")]["text"]
    request = prompts_of(runs, "courtroom-arm=alone")[last["call_id"]]
    assert all(text in request for text in thoughts)


def test_a_consultancy_hears_each_side_in_half_of_the_cases(
    runs: Runs,
) -> None:
    plan = runs.plan(twice=entry("courtroom", ("consultancy",), repeats=2))
    rows = runs.hold(plan, "twice-arm=consultancy")
    sides = {"yes": "prosecutor", "no": "defense"}
    for (case, repeat), mine in rows.groupby(["case_id", "repeat"]):
        side = note_of(mine)["side"]
        assert set(mine["speaker"]) == {sides[side], "judge", "moot"}, (case, repeat)
    notes = rows[rows["kind"] == "arm"]
    assert notes.groupby("case_id")["parsed"].nunique().eq(2).all(), (
        "the other side in the other repeat"
    )
    baseline = runs.hold(plan, "twice")
    assert set(rows["call_id"]) & set(baseline["call_id"]) - {""}, "equal calls are made once"


def test_swapped_debaters_exchange_order_and_models(runs: Runs) -> None:
    baseline, swapped = full_and(runs, "swap")
    order = [
        public(rows[rows["case_id"] == rows["case_id"].iloc[0]])["speaker"].tolist()
        for rows in (baseline, swapped)
    ]
    assert order[0] == ["prosecutor", "defense"] * 3 + ["judge"]
    assert order[1] == ["defense", "prosecutor"] * 3 + ["judge"]
    raw = configuration("http://nowhere.invalid", runs.folder)
    raw["models"]["other"] = raw["models"]["test"]
    raw["experiments"]["trial"] |= {
        "arms": ["swap"],
        "params": {"seats": {"defense": "other", "judge": "other"}},
    }
    plan = Plan.from_yaml(raw, PROJECT)
    assert plan.experiments["trial-arm=swap"].params.seats == {
        "prosecutor": "other",
        "judge": "other",
    }


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("plant_citation", "13th Cir."),
        ("plant_authority", "leading experts"),
        ("plant_certainty", "beyond any doubt"),
    ],
)
def test_planted_words_occur_once_in_the_first_statement_of_one_debater(
    arm: str, words: str, runs: Runs
) -> None:
    _, planted = full_and(runs, arm)
    for _, mine in planted.groupby("debate_id"):
        utterances = public(mine)
        [position] = utterances.index[utterances["text"].str.contains(words, regex=False)]
        note = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])
        assert (utterances.loc[position, "speaker"], utterances.loc[position, "kind"]) == (
            note["speaker"],
            "opening",
        )
        assert note["side"] == {"prosecutor": "yes", "defense": "no"}[note["speaker"]]
    assert planted.loc[planted["kind"] == "arm", "parsed"].nunique() > 1, "not always the same side"


def test_each_debater_signs_its_first_statement_with_a_random_name(runs: Runs) -> None:
    _, signed = full_and(runs, "plant_names")
    names = []
    for _, mine in signed.groupby("debate_id"):
        utterances = public(mine)
        speakers = []
        for name in ("Emily Walsh", "Lakisha Washington"):
            is_signed = utterances["text"].str.endswith(f"So submits {name}.")
            [[speaker, kind]] = utterances.loc[is_signed, ["speaker", "kind"]].to_numpy().tolist()
            assert kind == "opening"
            speakers.append(speaker)
        assert set(speakers) == {"prosecutor", "defense"}
        first_side = {"prosecutor": "yes", "defense": "no"}[speakers[0]]
        notes = mine.loc[mine["kind"] == "arm", "parsed"]
        sides = {json.loads(note)["side"] for note in notes}
        assert sides == {first_side}, "each note names the side with the first name"
        names.append(speakers[0])
    assert len(set(names)) == 2, "not always the same side"


def test_planted_words_after_a_truncated_statement_start_a_paragraph() -> None:
    separators = {
        "It is so.": " ",
        "It is “so.”": " ",
        "“本案如此。”": " ",
        "It is so because of": "\n\n",
        "cites Doe v. Roe,": "\n\n",
    }
    assert {text: separator(text) for text in separators} == separators


def test_padding_doubles_the_length_of_all_statements_of_one_debater(runs: Runs) -> None:
    baseline, padded = full_and(runs, "plant_padding")
    for debate_id, mine in padded.groupby("debate_id"):
        speaker = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])["speaker"]
        utterances = public(mine)[public(mine)["speaker"] == speaker]
        added = mine.loc[mine["kind"] == "arm", "text"].str.len().to_numpy()
        lengths = utterances["text"].str.len().to_numpy() - added - 1
        assert ((added >= lengths - 1) & (added <= lengths + 80)).all()
        assert len(utterances) == 3
        openings = public(baseline)[
            (public(baseline)["debate_id"] == debate_id) & (public(baseline)["speaker"] == speaker)
        ]
        if speaker == "prosecutor":
            assert utterances["text"].iloc[0].startswith(openings["text"].iloc[0]), (
                "equal prompts have equal replies"
            )


@pytest.mark.parametrize(
    ("arm", "original", "altered"),
    [
        ("plant_misquote", "was seen near the river", "was not seen near the river"),
        ("plant_wrong_figure", "12 May 1998", "12 May 199"),
    ],
)
def test_one_passage_of_the_case_is_altered_in_one_statement(
    arm: str, original: str, altered: str, tmp_path: Path
) -> None:
    statement = "There are 77 doubts. He “was seen near the river” on 12 May 1998, says “a b c d”."
    with FaultServer(speech=statement) as server:
        runs = Runs(tmp_path, server)
        people(tmp_path / "cases" / "people.parquet", 8, "He was seen near the river, 12 May 1998.")
        baseline, planted = full_and(runs, arm)
    assert len(public(baseline)) == len(public(planted))
    for _, mine in planted.groupby("debate_id"):
        [note] = [json.loads(parsed) for parsed in mine.loc[mine["kind"] == "arm", "parsed"]]
        assert note["original"] == original
        texts = public(mine).set_index("turn")["text"]
        texts = texts[~texts.str.startswith("{")]
        [turn] = texts.index[texts.str.contains(altered) & (texts != statement)]
        assert turn == note["turn"]
        assert (texts.drop(turn) == statement).all()
        assert texts[turn].startswith("There are 77 doubts. He ")
