"""Test attribution: a planted turn is detected, and no turn is named without one."""

import asyncio
import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.analyses.attribution.effects import decisive_turns_by_debate, rests_on_one, turn_effects
from moot.analyses.attribution.estimates import estimate_effect, moved_verdict, noise_floor
from moot.analyses.attribution.protocol import ATTRIBUTED, AttributionParams, chosen_repeats
from moot.analyses.attribution.replays import split_sentences
from moot.analyses.attribution.tables import moving_turns, stated_and_exact, what_moved
from moot.core.artifacts import describe, write_cases, write_rows
from moot.core.cases import Case
from moot.core.config import Publication
from moot.core.errors import UserError
from moot.jobs.debates import record_conclusion
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.report.content import StudyResults
from moot.report.exports import EXPORTERS, Export
from moot.report.turn_effects import effects_of_study
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView
from scripted_model import WINNER, ScriptedModel, make_debate

PLANTED = "The deed is forged."
PHASES = ("opening", "rebuttal", "closing")
TURNS = [(seat, phase) for phase, seat in product(PHASES, ("prosecutor", "defense"))]
JUDGE = "You are the judge"


def case_of(number: int) -> Case:
    return Case(
        f"c{number}",
        "toy",
        "test",
        f"File {number}: A sold B a lame horse.",
        "plaintiff",
        WINNER.labels,
    )


def is_judges(prompt: str) -> bool:
    return "judge" in prompt.split("\n", maxsplit=1)[0].casefold()


def text_of(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)


class World:
    """Courtrooms that were held, and a judge whose answer hangs on some words.

    Args:
        planted: by case, the turn (from 0) that holds the words; None for nowhere.
        with_words, without: the probability that the judge says PLAINTIFF.
    """

    def __init__(
        self,
        folder: Path,
        planted: Sequence[int | None],
        with_words: float,
        probability_without: float,
        **params: Any,
    ) -> None:
        self.random, self.with_words, self.without = (
            np.random.default_rng(7),
            with_words,
            probability_without,
        )
        self.folder, self.planted, self.params = folder, planted, params
        rows: list[dict[str, Any]] = []
        for number, turn in enumerate(planted):
            rows += self._hold(number, turn)
        self.path = folder / "transcripts" / "trial" / "scripted" / "0.parquet"
        self.path.parent.mkdir(parents=True)
        write_rows(self.path, "transcripts", rows, describe("trial"))
        self.asked: list[str] = []
        self.answered_turn, self.fails, self.says = 3, "", ""

    def _hold(self, number: int, planted: int | None) -> list[dict[str, Any]]:
        params = PROTOCOLS["courtroom"].params(strategy="none", beliefs="none", **self.params)
        debate = make_debate(ScriptedModel(lambda *_: ""), params, WINNER, case_of(number))
        for turn, (seat, phase) in enumerate(TURNS):
            words = f" {PLANTED}" if turn == planted else ""
            text = f"Consider file {number}, point {turn}.{words} That is all."
            debate.record(seat, phase, text, source="model", round=PHASES.index(phase) + 1)
        record_conclusion(debate, Answer("plaintiff"), "valid")
        return [transcript_row(debate, utterance) for utterance in debate.utterances]

    def _answer(self, request: Request, _: int) -> Any:
        prompt = text_of(request)
        self.asked.append(prompt)
        if "decisive" in prompt:
            return {"turn": self.answered_turn}
        if "Speak to the court now" in prompt:
            return self.says
        if self.fails and self.fails not in prompt:
            return None
        share = self.with_words if PLANTED in prompt else self.without
        if request.choices:
            return {"PLAINTIFF": float(np.log(share)), "DEFENDANT": float(np.log(1 - share))}
        answer = "PLAINTIFF" if self.random.random() < share else "DEFENDANT"
        return {"reasoning": "So.", "prediction": answer, "confidence": 80}

    def judge_again(self, **options: Any) -> ExperimentResults:
        """Judge the debates again, with the prompts of the courtroom by default."""
        entry = {
            "judge_protocol": "courtroom",
            "judge_protocol_params": {"strategy": "none", "beliefs": "none", **self.params},
        }
        params = AttributionParams.model_validate(
            {"source_experiment": "trial", "source_model": "scripted", **entry, **options}
        )
        rows = list[dict[str, Any]]()
        for case in map(case_of, range(len(self.planted))):
            debate = self.debate(params, case)
            for _ in chosen_repeats(debate.setup, case):
                answer = asyncio.run(PROTOCOLS["attribution"].run(debate, params))
                record_conclusion(debate, answer, "valid" if answer else "invalid")
                rows += [transcript_row(debate, utterance) for utterance in debate.utterances]
        return self.read_results(rows, params)

    def read_results(
        self, rows: list[dict[str, Any]], params: AttributionParams
    ) -> ExperimentResults:
        """Read the results of the debates that were judged again."""
        output, cases = (
            self.folder / "transcripts" / "test" / "scripted" / "0.parquet",
            self.folder / "cases",
        )
        output.parent.mkdir(parents=True, exist_ok=True)
        write_rows(output, "transcripts", rows, describe("test"))
        cases.mkdir(exist_ok=True)
        known_cases = [case_of(number) for number in range(len(self.planted))]
        write_cases(cases / "toy.parquet", known_cases, WINNER, describe())
        view = ExperimentView("attribution", "toy", ("scripted",), "test", params.model_dump())
        return ExperimentResults(self.folder, "test", view)

    def debate(self, params: AttributionParams, case: Case) -> Debate:
        return make_debate(
            ScriptedModel(self._answer), params, WINNER, case, {"debates": self.path}
        )


def study_results(results: ExperimentResults) -> StudyResults:
    return StudyResults(
        "comparison", {}, no_scores(), {}, pd.DataFrame(), controls={"test": results}
    )


def removed(effects: pd.DataFrame) -> pd.DataFrame:
    return effects[effects["way"] == "removed"]


def share_detected_first(effects: pd.DataFrame, planted: Sequence[int | None]) -> float:
    """Return the share of debates whose planted turn has the largest effect."""
    rows = removed(effects)
    largest = rows.loc[rows["effect"].abs().groupby(rows["case_id"]).idxmax()].set_index("case_id")[
        "place"
    ]
    hits = []
    for number, turn in enumerate(planted):
        hits.append(largest[f"c{number}"] - 1 == turn)
    return float(np.mean(hits))


def test_a_planted_turn_has_the_largest_effect_and_a_covering_interval(tmp_path: Path) -> None:
    planted = [0, 1, 2, 3, 4, 5] * 10
    effects = turn_effects(
        World(tmp_path, planted, 0.9, 0.1).judge_again(interventions=["removed"])
    )
    assert len(effects) == 60 * 6
    assert share_detected_first(effects, planted) >= 0.95
    is_planted = effects["place"] - 1 == effects["case_id"].str[1:].astype(int) % 6
    assert effects[is_planted]["moved"].mean() > 0.9
    assert effects[~is_planted].groupby("case_id")["moved"].any().mean() <= 0.05
    covered = (effects["low"] <= 0.8) & (effects["high"] >= 0.8)
    assert covered[is_planted].mean() >= 0.85
    assert rests_on_one(effects).mean() > 0.8


def test_no_turn_is_named_if_none_was_planted(tmp_path: Path) -> None:
    effects = turn_effects(
        World(tmp_path, [None] * 60, 0.9, 0.6).judge_again(interventions=["removed"])
    )
    assert effects.groupby("case_id")["moved"].any().mean() <= 0.05
    assert ((effects["low"] <= 0) & (effects["high"] >= 0)).mean() >= 0.92
    assert not rests_on_one(effects).any()


def share_named_by_chance(folder: Path, share: float, debates: int) -> float:
    """Return the share of debates with a turn called moved, where no turn has an effect."""
    world, random, repeats = World(folder, [None], share, share), np.random.default_rng(11), 10
    world.planted = [None] * debates
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    debate = world.debate(params, case_of(0))
    note = {
        "number": 0,
        "verdict": "plaintiff",
        "speaker": "",
        "phase": "",
        "quote": "",
        "invalid": 0,
        "exact": False,
    }
    changes = [("whole", 0, 2 * repeats)]
    for way in ("removed", "replaced"):
        changes += [(way, turn, repeats) for turn in range(1, 7)]
    utterance = debate.record("nobody", ATTRIBUTED, "", source="computed", private=True, parsed={})
    row, rows = transcript_row(debate, utterance), []
    for number in range(debates):
        for place, (way, turn, times) in enumerate(changes, start=1):
            values = random.binomial(1, share, times).astype(float).tolist()
            parsed = {**note, "way": way, "turn": turn, "place": turn, "values": values}
            rows.append(
                {
                    **row,
                    "turn": place,
                    "debate_id": f"c{number}#0",
                    "case_id": f"c{number}",
                    "parsed": json.dumps(parsed),
                }
            )
    effects = turn_effects(world.read_results(rows, params))
    assert len(effects) == debates * 12
    return float(effects.groupby("case_id")["moved"].any().mean())


def test_removed_and_replaced_turns_share_one_correction_for_chance(tmp_path: Path) -> None:
    """Each way alone names a turn in less than 5 % of these debates; both together in more."""
    assert 0.005 < share_named_by_chance(tmp_path, 0.5, 3000) <= 0.05


def test_log_probabilities_give_the_exact_effect_from_one_answer_each(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 3, None], 0.9, 0.2, answer="likelihood")
    effects = turn_effects(world.judge_again())
    assert len(world.asked) == 3 * (2 + 6 + 6 + 1)
    assert set(effects["way"]) == {"removed", "replaced", "reordered"} and effects["exact"].all()
    planted = effects[effects["moved"].astype(bool)]
    assert planted[["case_id", "way", "place"]].values.tolist() == [
        ["c0", "removed", 3], ["c0", "replaced", 3], ["c1", "removed", 4], ["c1", "replaced", 4],
    ]  # fmt: skip
    assert planted["effect"].tolist() == pytest.approx([0.7] * 4)
    assert planted[["low", "high", "p"]].isna().all(axis=None)
    assert (effects["floor"] == 0).all()


def test_only_the_judge_is_asked_and_it_reads_all_unchanged_turns(tmp_path: Path) -> None:
    world = World(tmp_path, [None, None], 0.9, 0.2, answer="likelihood")
    world.judge_again(interventions=["removed", "replaced", "reordered"], debates=1)
    [case] = {prompt.split("File ")[1][0] for prompt in world.asked}
    point_counts = [prompt.count(f"file {case}, point ") for prompt in world.asked]
    assert sorted(point_counts) == [5] * 12 + [6] * 3
    opposite = "1" if case == "0" else "0"
    borrowed = [prompt for prompt in world.asked if f"file {opposite}, point" in prompt]
    assert len(borrowed) == 6
    turned = [
        prompt for prompt in world.asked if -1 < prompt.find("point 1.") < prompt.find("point 0.")
    ]
    assert len(turned) == 1 and turned[0].find("point 0.") < turned[0].find("point 3.") < turned[
        0
    ].find("point 2.")


def test_a_general_prompt_needs_no_protocol_of_the_judge(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 4], 0.9, 0.2)
    effects = turn_effects(
        world.judge_again(
            judge_protocol="",
            answer="likelihood",
            interventions=["removed"],
            ask_decisive_turn=True,
            sentences=2,
        )
    )
    assert removed(effects)[["case_id", "place"]][
        removed(effects)["moved"].astype(bool)
    ].values.tolist() == [
        ["c0", 2],
        ["c1", 5],
    ]
    words = effects[effects["way"] == "sentence"]
    assert words["quote"].tolist() == [
        "Consider file 0, point 1.",
        PLANTED,
        "Consider file 1, point 4.",
        PLANTED,
    ]
    assert words["moved"].tolist() == [False, True, False, True]


def test_the_general_prompt_reverses_speakers_within_each_round(tmp_path: Path) -> None:
    world = World(tmp_path, [None], 0.9, 0.2)
    world.judge_again(judge_protocol="", answer="likelihood", interventions=["reordered"])
    point_orders = [list(map(int, re.findall(r"point (\d)", prompt))) for prompt in world.asked]
    assert point_orders == [[0, 1, 2, 3, 4, 5]] * 3 + [[1, 0, 3, 2, 5, 4]]


@pytest.mark.parametrize(
    ("says", "effect"), [("Nothing more.", 0.7), (f"As is known: {PLANTED}", 0.0)]
)
def test_a_debate_continues_with_and_without_a_turn(
    says: str, effect: float, tmp_path: Path
) -> None:
    """A turn has no effect if another seat would have said the same instead."""
    world = World(tmp_path, [2], 0.9, 0.2, answer="likelihood")
    world.says = says
    results = world.judge_again(interventions=["removed"], rerun_from="turn", repeats=3)
    effects = turn_effects(results).set_index(["way", "place"])
    assert effects.loc["removed", "effect"].tolist() == pytest.approx([0, 0, 0.7, 0, 0, 0])
    assert effects.loc["continued", "effect"].tolist() == pytest.approx([0, 0, effect, 0, 0, 0])
    assert effects.loc["removed", "exact"].all() and not effects.loc["continued", "exact"].any()
    prompts = [prompt for prompt in world.asked if "Speak to the court now" in prompt]
    assert (
        len(prompts) == 2 * 3 * sum(range(6))
        and len(world.asked) == len(prompts) + 2 + 6 + 2 * 3 * 6
    )
    assert not any("point 5." in prompt for prompt in prompts), "prompts contain no later turns"
    transcripts = results.transcripts
    assert set(transcripts.loc[transcripts["kind"] == "asked again", "speaker"]) == {
        "judge",
        "prosecutor",
        "defense",
    }
    with pytest.raises(ValueError, match="Name the protocol in `judge_protocol`"):
        world.judge_again(judge_protocol="", rerun_from="turn")


def test_the_turns_with_the_largest_effects_are_named_for_trial_runs(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 5], 0.9, 0.2, answer="likelihood")
    results = world.judge_again(interventions=["removed", "reordered"], sentences=3)
    trial = StudyResults("courtroom", {}, no_scores(), {}, pd.DataFrame(), trials={"test": results})
    frame = moving_turns(trial).frame
    assert len(frame) == 2 * (6 + 3)
    largest = frame.head(4).sort_values(["case", "what is changed"], ascending=[True, False])
    assert largest[["case", "place", "speaker", "called moved"]].values.tolist() == [
        ["c0", 3, "prosecutor", "yes"], ["c0", 3, "prosecutor", "yes"],
        ["c1", 6, "defense", "yes"], ["c1", 6, "defense", "yes"],
    ]  # fmt: skip
    assert (
        largest["words"].tolist()[0] == f"Consider file 0, point 2. {PLANTED} That is all."
        and largest["words"].tolist()[1] == PLANTED
    )
    assert what_moved(trial).frame.empty, "one debate gives no interval over debates"


@pytest.mark.parametrize(("debates", "irreplaceable"), [(1, [1, 2, 3, 4, 5, 6]), (3, [])])
def test_turns_without_a_replacement_are_named(
    debates: int, irreplaceable: list[int], tmp_path: Path
) -> None:
    results = World(tmp_path, [2] * debates, 0.9, 0.2, answer="likelihood").judge_again(
        interventions=["replaced"]
    )
    rows = moving_turns(study_results(results)).frame
    absent = rows[rows["called moved"].str.startswith("not asked")]
    assert absent["place"].tolist() == irreplaceable and absent["effect"].isna().all()
    assert (rows["what is changed"] == "turn replaced").all() and len(rows) == 6 * debates


def test_failed_calls_affect_only_their_own_change(tmp_path: Path) -> None:
    world = World(tmp_path, [2], 0.9, 0.2, answer="likelihood")
    world.fails = "point 4."
    results = world.judge_again(interventions=["removed"])
    assert turn_effects(results)["place"].tolist() == [1, 2, 3, 4, 6]
    transcripts = results.transcripts
    assert (transcripts["parse_status"] == "failed").sum() == 1
    assert (
        json.loads(transcripts[transcripts["kind"] == "conclusion"]["parsed"].iloc[0])["status"]
        == "valid"
    )


def test_the_decisive_turn_stated_by_the_judge_is_kept(tmp_path: Path) -> None:
    results = World(tmp_path, [2, 2, 4], 0.9, 0.2, answer="likelihood").judge_again(
        interventions=["removed"], ask_decisive_turn=True
    )
    assert decisive_turns_by_debate(results) == {
        ("scripted", f"c{number}#0"): [3] for number in range(3)
    }
    [row] = stated_and_exact(study_results(results)).frame.to_dict("records")
    assert row["names the first"] == pytest.approx(2 / 3) and row["by chance"] == pytest.approx(
        1 / 6
    )
    assert (row["turns named"], row["called moved"], row["of these named"]) == (3, 3, 2)
    assert row["effect of the named"] == pytest.approx(0.7 * 2 / 3)


def test_the_table_shows_effects_by_role_phase_and_place(tmp_path: Path) -> None:
    results = World(tmp_path, [0, 1, 0, 1], 0.9, 0.2, answer="likelihood").judge_again()
    frame = what_moved(study_results(results)).frame.set_index(["what is changed", "group"])[
        "effect"
    ]
    removed = frame["turn taken out"]
    assert removed["all"] == pytest.approx(0.7 / 6) and removed["phase: opening"] == pytest.approx(
        0.35
    )
    assert removed[["place: 1", "place: 2", "place: 3"]].tolist() == pytest.approx([0.35, 0.35, 0])
    assert removed["role: prosecutor, verdict plaintiff"] == pytest.approx(0.7 / 6)
    assert frame["debaters in another order", "all"] == 0


def test_the_reader_shows_effects_at_the_turns_of_the_debate_itself(tmp_path: Path) -> None:
    world = World(tmp_path, [2, None], 0.9, 0.2, answer="likelihood")
    results = world.judge_again(sentences=2)
    trial = ExperimentResults(
        tmp_path, "trial", ExperimentView("courtroom", "toy", ("scripted",), "test", {})
    )
    effects = effects_of_study({"trial": trial, "test": results})
    assert effects.measured_by == {"test"}
    debate = effects.debates["trial", "scripted", "c0#0"]
    assert debate.rests_on_one_turn
    assert not effects.debates["trial", "scripted", "c1#0"].rests_on_one_turn
    assert [turn for turn, rows in debate.turns.items() if rows[0]["moved"]] == [3]
    quotes = [effect["quote"] for effect in debate.turns[3]]
    assert quotes == ["", "Consider file 0, point 2.", PLANTED]
    alone = effects_of_study({"test": results})
    assert alone.measured_by == set()
    assert not any(debate.turns for debate in alone.debates.values())


def export_debate(folder: Path) -> Export:
    """Export a debate whose third of six turns moved the judge."""
    results = World(folder, [2], 0.9, 0.2, answer="likelihood").judge_again(
        interventions=["removed"]
    )
    outcome = {
        "experiment": "test",
        "model": "scripted",
        "case_id": "c0",
        "repeat": 0,
        "prediction": "plaintiff",
    }
    rows = {"predictions": [{**outcome, "status": "valid"}], "calls": []}
    for kind, kind_rows in rows.items():
        path = folder / kind / "test" / "scripted.parquet"
        path.parent.mkdir(parents=True)
        write_rows(path, kind, kind_rows, describe("test"))
    return Export(results, "scripted", no_scores(), Publication())


MOVED = [False, False, True, False, False, False]


def test_a_log_of_inspect_contains_the_effects(tmp_path: Path) -> None:
    library = pytest.importorskip(
        "inspect_ai.log", reason="inspect_ai is not installed (the extra `inspect`)"
    )
    EXPORTERS["inspect"].write(export_debate(tmp_path), tmp_path / "test.eval")
    [sample] = library.read_eval_log(
        str(tmp_path / "test.eval"), resolve_attachments="full"
    ).samples
    spans = [event.metadata or {} for event in sample.events if event.event == "span_begin"]
    assert [span["effect_moved"] for span in spans if "effect" in span] == MOVED
    effects = sample.scores["moot"].metadata["effects of turns"].values()
    assert [effect["effect_moved"] for effect in effects] == MOVED


def test_debates_without_words_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path, [], 0.9, 0.2)
    debate = make_debate(
        ScriptedModel(lambda *_: ""), PROTOCOLS["courtroom"].params(), WINNER, case_of(0)
    )
    record_conclusion(debate, Answer("plaintiff"), "valid")
    write_rows(
        world.path,
        "transcripts",
        [transcript_row(debate, utterance) for utterance in debate.utterances],
        describe("trial"),
    )
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    with pytest.raises(UserError, match="hold no words that could be taken out"):
        chosen_repeats(world.debate(params, case_of(0)).setup, case_of(0))


def test_text_is_split_into_sentences() -> None:
    assert [quote for quote, _ in split_sentences('"No." He left! 他走了。好')] == [
        '"No."',
        "He left!",
        "他走了。",
        "好",
    ]


@pytest.mark.parametrize("times", [5, 10])
def test_intervals_cover_the_effect_over_all_probabilities(times: int) -> None:
    random, covered, tries = np.random.default_rng(4), 0, 1500
    for _ in range(tries):
        share, changed_share = random.random(2)
        unchanged, changed = (
            random.binomial(1, share, 2 * times),
            random.binomial(1, changed_share, times),
        )
        effect = estimate_effect(
            unchanged.astype(float).tolist(), changed.astype(float).tolist(), exact=False
        )
        covered += effect.low - 1e-9 <= share - changed_share <= effect.high + 1e-9
    assert 0.92 <= covered / tries <= 0.98


@pytest.mark.parametrize(("share", "effect"), [(0.5, 0.0), (0.8, 0.0), (0.9, 0.4), (0.8, 0.6)])
def test_intervals_of_effects_have_their_coverage(share: float, effect: float) -> None:
    random, cases, times = np.random.default_rng(3), 40, 20
    covered, false_calls, tries = 0, 0, 400
    for _ in range(tries):
        answers = random.binomial(1, share, cases).astype(float).tolist()
        changed = random.binomial(1, share - effect, times).astype(float).tolist()
        estimate = estimate_effect(answers, changed, exact=False)
        covered += estimate.low - 1e-9 <= effect <= estimate.high + 1e-9
        false_calls += moved_verdict([estimate], [noise_floor(answers, times, exact=False)], 0.05)[
            0
        ]
    assert 0.92 <= covered / tries <= 0.985
    assert false_calls / tries <= 0.05 if effect == 0 else false_calls / tries > 0.75


def test_a_large_effect_is_detected_in_most_debates() -> None:
    random, times, turns, debates = np.random.default_rng(5), 10, 6, 300
    effect = 0.68
    called, first, other_calls = 0, 0, 0
    for _ in range(debates):
        unchanged = random.binomial(1, 0.9, 2 * times).astype(float).tolist()
        shares = [0.9 - effect, *[0.9] * (turns - 1)] * 2
        effects = []
        for share in shares:
            values = random.binomial(1, share, times).astype(float).tolist()
            effects.append(estimate_effect(unchanged, values, exact=False))
        moved = moved_verdict(
            effects, [noise_floor(unchanged, times, exact=False)] * 2 * turns, 0.05
        )
        called, other_calls = (
            called + moved[0],
            other_calls + any(moved[1:turns] + moved[turns + 1 :]),
        )
        first += effects[0].effect > max(estimate.effect for estimate in effects[1:turns])
    assert 0.75 <= called / debates <= 0.9
    assert first / debates >= 0.95 and other_calls / debates <= 0.05
