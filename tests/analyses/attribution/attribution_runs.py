"""Debates with a planted turn, a judge whose answers depend on it, and their attribution."""

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from moot.analyses.attribution.protocol import AttributionParams, chosen_repeats
from moot.core.artifacts import describe, write_cases, write_rows
from moot.core.cases import Case
from moot.jobs.debates import record_conclusion
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults, ExperimentView
from results_on_disk import study_of
from scripted_model import WINNER, ScriptedModel, make_debate, request_text

PLANTED = "The deed is forged."
PHASES = ("opening", "rebuttal", "closing")
TURNS = [(seat, phase) for phase, seat in product(PHASES, ("prosecutor", "defense"))]


def case_of(number: int) -> Case:
    return Case(
        f"c{number}",
        "toy",
        "test",
        f"File {number}: A sold B a lame horse.",
        "plaintiff",
        WINNER.labels,
    )


class World:
    """Courtrooms that were held, and a judge whose answer hangs on some words.

    Args:
        planted: by case, the turn (from 0) that holds the words; None for nowhere.
        with_words, probability_without: the probability that the judge says PLAINTIFF.
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
        self.folder, self.planted = folder, planted
        self.params = {"strategy": "none", "beliefs": "none"} | params
        rows: list[dict[str, Any]] = []
        for number, turn in enumerate(planted):
            rows += self._hold(number, turn)
        self.path = folder / "transcripts" / "trial" / "scripted" / "0.parquet"
        self.path.parent.mkdir(parents=True)
        write_rows(self.path, "transcripts", rows, describe("trial"))
        self.asked: list[str] = []
        self.fails = ""

    def _hold(self, number: int, planted: int | None) -> list[dict[str, Any]]:
        params = PROTOCOLS["courtroom"].params(**self.params)
        debate = make_debate(ScriptedModel(lambda *_: ""), params, WINNER, case_of(number))
        for turn, (seat, phase) in enumerate(TURNS):
            words = f" {PLANTED}" if turn == planted else ""
            text = f"Consider file {number}, point {turn}.{words} That is all."
            round_number = PHASES.index(phase) + 1
            if params.strategy == "inline":
                reply = {"strategy": "", "statement": text}
                fields = {"source": "model", "private": True, "round": round_number}
                debate.record(seat, "strategy", "", **fields, parsed=reply)
            debate.record(seat, phase, text, source="model", round=round_number)
        record_conclusion(debate, Answer("plaintiff"), "valid")
        return [transcript_row(debate, utterance) for utterance in debate.utterances]

    def _answer(self, request: Request, _: int) -> Any:
        prompt = request_text(request)
        self.asked.append(prompt)
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
            "judge_protocol_params": self.params,
        }
        params = AttributionParams.model_validate(
            {"source_experiment": "trial", "source_model": "scripted", **entry, **options}
        )
        assert PROTOCOLS["attribution"].needs(params) == {"debates": "transcripts/trial/scripted"}
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
    return study_of(controls={"test": results})
