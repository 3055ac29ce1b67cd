"""Parameters of simulated voices are recovered, every protocol runs with them, and results state
that they are simulated.
"""

import asyncio
import random
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from declared_jobs import declared_jobs
from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.simulated_voice import SimulatedVoice
from moot.llm.endpoints.simulated import SimulatedEndpoint
from moot.llm.request import Message, Request, request_to
from moot.llm.simulated.beliefs import Belief, build_world, form_belief, read_request
from moot.llm.simulated.simulated_replies import MARK, Writer
from moot.plan.plan import Plan
from moot.protocols.reply_schemas import find_position
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.calibration import calibration_error_by_chance, calibration_error_statistic
from moot.stats.paired import compare
from moot.stats.statistic import DIFFERENCE, mean_statistic
from moot.studies.appellate.data_opinions import TASK as APPEAL
from moot.studies.appellate.legal.rules import label_statement

TASK = Task("it", "Is it so?", ("no", "yes"), "yes")
SEEDS, CASES = 200, 60
WORDS = ("NO", "YES")


def case(number: int, task: Task = TASK) -> Case:
    return Case(
        f"c{number}", "d", "test", f"Facts of file {number}.", task.labels[number % 2], task.labels
    )


def request_on_case(number: int, model: str, *records: str) -> Request:
    text = "\n".join(
        [
            f"<facts>\nFacts of file {number}.\n</facts>",
            *(f"<record>\n{record}\n</record>" for record in records),
        ]
    )
    return Request(
        "simulated", model, (Message("user", text),), {"temperature": 0.7, "seed": 1}, None, WORDS
    )


def beliefs(seed: int, model: str, voice: SimulatedVoice, *records: str) -> list[Belief]:
    world = build_world(seed, [case(number) for number in range(CASES)], TASK)
    requests = [request_on_case(number, model, *records) for number in range(CASES)]
    return [
        form_belief(voice, seed, request, read_request(request, world.cases), WORDS)
        for request in requests
    ]


@pytest.fixture(scope="module")
def worlds() -> list[tuple[list[Belief], list[Belief]]]:
    """In each of 200 worlds, the beliefs of a better and of a worse voice about the same cases."""
    stronger, weaker = (
        SimulatedVoice(competence=0.8, overconfidence=1),
        SimulatedVoice(competence=0.6, overconfidence=2),
    )
    return [
        (beliefs(seed, "better", stronger), beliefs(seed, "worse", weaker)) for seed in range(SEEDS)
    ]


def correctness(group_beliefs: list[Belief]) -> Any:
    return np.array([belief.log_odds > 0 for belief in group_beliefs], dtype=float)


def test_a_planted_gap_in_accuracy_is_recovered_and_covered(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    clusters = [str(number) for number in range(CASES)]
    estimates = [
        compare(correctness(stronger), correctness(weaker), clusters, seed)
        for seed, (stronger, weaker) in enumerate(worlds)
    ]
    differences = np.array([comparison.difference for comparison in estimates])
    standard_error = differences.std(ddof=1) / SEEDS**0.5
    assert abs(differences.mean() - 0.2) < 3 * standard_error < 0.03, differences.mean()
    covered = np.mean([comparison.low <= 0.2 <= comparison.high for comparison in estimates])
    assert 0.92 <= covered <= 0.98, covered


def test_shared_difficulty_makes_errors_correlate(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    pairs = np.array([(correctness(stronger), correctness(weaker)) for stronger, weaker in worlds])
    assert np.corrcoef(pairs[:, 0].ravel(), pairs[:, 1].ravel())[0, 1] > 0.25


def test_planted_overconfidence_appears_as_calibration_error(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    """A voice that states its log-odds as they are is calibrated; one that doubles them is not, by
    a known amount.
    """
    for position, factor in ((0, 1), (1, 2)):
        voice_beliefs = list(chain.from_iterable(world[position] for world in worlds))
        certainties, correct = (
            np.array([belief.certainty for belief in voice_beliefs]),
            correctness(voice_beliefs),
        )
        error = float(
            calibration_error_statistic(certainties, correct).function(
                np.ones((1, len(voice_beliefs)))
            )[0]
        )
        honest = 1 / (1 + np.exp(-np.log(certainties / (1 - certainties)) / factor))
        expected = abs(certainties.mean() - honest.mean())
        assert error == pytest.approx(expected, abs=0.015), (factor, error, expected)
        assert (error < 0.02) == (factor == 1), (factor, error)


def test_planted_over_confidence_is_recovered_and_covered(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    """Confidence less accuracy, in every world; the planted amount is 0, or follows from the stated
    log-odds.
    """
    for position, factor in ((0, 1), (1, 2)):
        estimates, planted = [], []
        for seed, world in enumerate(worlds):
            certainties = np.array([belief.certainty for belief in world[position]])
            planted.append(
                (
                    certainties
                    - 1 / (1 + np.exp(-np.log(certainties / (1 - certainties)) / factor))
                ).mean()
            )
            statistic = mean_statistic(certainties - correctness(world[position]), DIFFERENCE)
            estimates.append(ClusterBootstrap(range(CASES), seed).estimate(statistic))
        values, truth = np.array(estimates), float(np.mean(planted))
        assert abs(values[:, 0].mean() - truth) < 3 * values[:, 0].std(ddof=1) / SEEDS**0.5
        covered = np.mean((values[:, 1] <= truth) & (truth <= values[:, 2]))
        assert 0.92 <= covered <= 0.98, (factor, covered)


def test_the_calibration_error_of_few_calibrated_answers_is_that_of_chance(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    """Sixty answers cannot show that an error is 0: by chance alone it is some 0.08, which moot's
    score says.
    """
    errors, chances = [], []
    for seed, (calibrated, _) in enumerate(worlds):
        certainties = np.array([belief.certainty for belief in calibrated])
        errors.append(
            calibration_error_statistic(certainties, correctness(calibrated)).function(
                np.ones((1, CASES))
            )[0]
        )
        chances.append(calibration_error_by_chance(certainties, seed))
    excess_errors = np.array(errors) - np.array(chances)
    assert abs(excess_errors.mean()) < 3 * excess_errors.std(ddof=1) / SEEDS**0.5
    assert 0.06 < np.mean(chances) < 0.1


def test_five_cases_cannot_show_a_gap_of_twenty_points(
    worlds: list[tuple[list[Belief], list[Belief]]],
) -> None:
    """Intervals of five cases cover the gap nearly always: on average they are .9 wide."""
    clusters = [str(number) for number in range(5)]
    differences = [
        compare(correctness(stronger[:5]), correctness(weaker[:5]), clusters, seed)
        for seed, (stronger, weaker) in enumerate(worlds)
    ]
    assert (
        np.mean(
            [
                difference.low <= 0.2 <= difference.high
                for difference in differences
                if np.isfinite(difference.low)
            ]
        )
        > 0.9
    )
    assert (
        np.mean(
            [
                difference.high - difference.low
                for difference in differences
                if np.isfinite(difference.low)
            ]
        )
        > 0.9
    )
    assert not any(difference.p < 0.05 for difference in differences)


def test_statements_and_biases_move_a_belief_as_configured() -> None:
    plain = SimulatedVoice()
    belief_alone = beliefs(1, "m", plain)[0]  # the truth of file 0 is "no"

    def moved(voice: SimulatedVoice, *records: str) -> float:
        noiseless_voice = voice.model_copy(update={"noise_sd": 1e-9})
        return (
            beliefs(1, "m", noiseless_voice, *records)[0].log_odds
            - beliefs(1, "m", noiseless_voice)[0].log_odds
        )

    assert belief_alone.true_option == "NO"
    assert moved(plain, "counsel, opening: The answer is NO.") == pytest.approx(0.25, abs=1e-6)
    assert moved(plain, "counsel, opening: The answer is YES.") == pytest.approx(-0.2, abs=1e-6)
    assert moved(plain, "AI Judge 2, round 1: The answer is YES.") == pytest.approx(-0.3, abs=1e-6)
    assert moved(plain, "Human Judge, round 1: The answer is YES.") == pytest.approx(-0.6, abs=1e-6)
    first = plain.model_copy(update={"first_speaker_bias": 0.5})
    assert moved(first, "a, opening: The answer is NO.", "b, opening: YES.") == pytest.approx(
        0.55, abs=1e-6
    )
    liked = plain.model_copy(update={"label_bias": {"yes": 0.4}, "first_option_bias": 0.1})
    assert beliefs(1, "m", liked)[0].log_odds - belief_alone.log_odds == pytest.approx(-0.4 + 0.1)


def entry(**voice: Any) -> ModelConfig:
    return ModelConfig(endpoint="simulated", model="m", simulated=SimulatedVoice(**voice))


def test_bad_replies_come_in_their_shares_and_equal_requests_get_equal_replies() -> None:
    schema = {
        "type": "object",
        "properties": {"prediction": {"enum": list(WORDS)}, "confidence": {"type": "integer"}},
    }
    config = entry(empty=0.1, refused=0.1, malformed=0.2, cut_off=0.1)
    endpoint = SimulatedEndpoint(config, build_world(1, [case(0)], TASK))

    async def replies(start: int) -> list[str]:
        message = (Message("user", "<facts>\nFacts of file 0.\n</facts>"),)
        requests = [
            request_to(config, message, max_tokens=50, temperature=1, seed=n, schema=schema)
            for n in range(2000)
        ]
        return [(await endpoint.complete(request)).text for request in requests[start:]]

    texts = asyncio.run(replies(0))
    shares = [
        np.mean([text == "" for text in texts]),
        np.mean([text.startswith("I am sorry") for text in texts]),
    ]
    shares += [np.mean([text.endswith(",,") for text in texts])]
    assert shares == pytest.approx([0.1, 0.1, 0.2], abs=0.03)
    assert asyncio.run(replies(1990)) == texts[1990:]


APPEALS = [
    Case(
        f"a{n}",
        "people",
        "test",
        f"An appeal, file {n}.",
        ("affirm", "not affirm")[n % 2],
        APPEAL.labels,
    )
    for n in range(20)
]
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("zero_shot", {}),
    ("cot", {}),
    ("self_consistency", {"k": 3}),
    ("courtroom", {"strategy": "inline"}),
    ("courtroom", {"answer": "likelihood", "beliefs": "after_turn"}),
    ("feedback", {"sides": "opposed", "answer": "generation"}),
    ("feedback", {"sides": "free", "answer": "likelihood"}),
    ("four_step_cot", {}),
    ("reflexion", {}),
    ("stance", {}),
    ("polarity", {"answer": "json"}),
    ("panel", {"votes": "likelihood"}),
    ("synthetic_panel", {}),
    ("synthetic_panel", {"reply": "json"}),
]


@pytest.mark.parametrize(("protocol", "params"), RUNS)
def test_every_protocol_reaches_an_answer_with_simulated_voices(
    protocol: str, params: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts, ledger, parsing and conclusions are the real ones; a competent voice is mostly
    right.
    """
    monkeypatch.chdir(tmp_path)
    if "panel" in protocol:
        write_cases(cases := tmp_path / "cases.parquet", APPEALS, APPEAL, describe())
    else:
        cases = people(tmp_path / "cases.parquet", 20)
    config = configuration(
        "http://nowhere.invalid",
        tmp_path,
        {"simulated": {"competence": 0.97}, "reasoning": True, "structured": "prompted"},
        experiment={"protocol": protocol, "params": params},
        rehearsal=True,
    )
    rows = hold(config, cases, tmp_path / "transcripts.parquet")
    concluded = rows[rows["kind"] == "conclusion"]
    assert concluded["parsed"].str.contains('"status": "valid"').mean() >= 0.9, rows[
        ["kind", "text"]
    ].head()
    targets = {f"a{n}": APPEALS[n].target for n in range(20)}
    expected = [
        targets.get(case_id) or ("yes" if int(case_id[-5:]) % 2 else "no")
        for case_id in concluded["case_id"]
    ]
    assert (concluded["prediction"] == expected).mean() >= 0.75
    statements = rows[(rows["source"] == "model") & (rows["kind"] == "statement")]
    if protocol == "panel":
        assert statements["text"].str.startswith(MARK).all()
        assert statements["confidence"].notna().all()
        assert {label_statement(text).label for text in statements["text"]} == {"AFFIRM", "REVERSE"}


@pytest.mark.parametrize("number", range(6))
def test_an_opinion_on_articles_of_law_names_one_that_is_read(number: int) -> None:
    """Else a rehearsal has no opinion from which an assistant could learn."""
    labels = ("133", "234", "264")
    task = Task("articles", "Which articles apply?", labels, "", multilabel=True)
    asked_case = Case(
        f"c{number}", "d", "train", f"Facts of file {number}.", labels[number % 3], labels
    )
    text = f"<facts>\nFacts of file {number}.\n</facts>\nState your opinion."
    parameters = {"temperature": 0.7, "seed": 1, "max_tokens": 60}
    request = Request("simulated", "a", (Message("user", text),), parameters)
    world = build_world(1, [asked_case], task)
    reading = read_request(request, world.cases)
    writer = Writer(SimulatedVoice(), 1, request, reading, random.Random(number))
    assert find_position(writer.statement(), task) in labels


def test_a_rehearsal_makes_no_call_and_records_its_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = people(tmp_path / "cases.parquet", 40)
    frames = []
    for competence in (0.97, 0.03):
        config = configuration(
            "http://nowhere.invalid",
            tmp_path,
            {"simulated": {"competence": competence}},
            experiment={"protocol": "zero_shot"},
            rehearsal=True,
            budget={"calls": 0},
        )
        frames.append(hold(config, cases, tmp_path / "t.parquet"))
        assert Plan.from_yaml(config, PROJECT).config.ledger == "data/ledger"
    first, second = (
        frame.loc[frame["kind"] == "conclusion", "prediction"].tolist() for frame in frames
    )
    assert (
        np.mean(
            [
                first_reply == second_reply
                for first_reply, second_reply in zip(first, second, strict=True)
            ]
        )
        < 0.3
    ), "not from the ledger"
    assert not (tmp_path / "ledger").exists(), "the configured ledger is left alone"
    digests = [
        declared_jobs(Plan.from_yaml({**config, "rehearsal": rehearsal}, PROJECT)).of(
            "run_debates", experiment=EXPERIMENT, model=MODEL
        )
        for rehearsal in (True, False)
    ]
    assert digests[0].options != digests[1].options


def test_outside_of_a_rehearsal_a_simulated_voice_refuses(tmp_path: Path) -> None:
    config = configuration("http://nowhere.invalid", tmp_path, {"endpoint": "simulated"})
    with pytest.raises(UserError, match="snakemake rehearse"):
        hold(config, people(tmp_path / "cases.parquet", 2), tmp_path / "t.parquet")


def test_shares_of_bad_replies_that_exceed_one_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 1"):
        SimulatedVoice(empty=0.6, refused=0.6)
