"""Test that contamination is detected in a model that memorised cases, and only there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from courtroom_runs import PROJECT, configuration
from messages import refusal
from moot.analyses.contamination.protocol import (
    decided_after,
    is_recovered,
    mask_name,
    measure_overlap,
    split_halves,
)
from moot.analyses.contamination.tables import contamination
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.llm.request import Request
from moot.plan.plan import Plan
from moot.protocols.debate import transcript_row
from moot.scores.results import ExperimentView
from results_on_disk import REARREST, prediction, study_of, write_results
from scripted_model import hold

CUTOFF = "2024-06-30"
WORDS = [
    "".join(pair)
    for pair in zip("abcdefghij" * 9, "aeiou" * 18, "klmnprstvw" * 9, "oeuai" * 18, strict=True)
]


def invented(number: int) -> Case:
    """Return a case of random words about a named person; odd cases are after the cutoff."""
    rng = np.random.default_rng(number)
    name = "Q" + "".join(rng.choice(list("aeiouklmn"), 6))
    words = rng.choice(WORDS, 200).tolist()
    for place in (20, 60, 120, 180):
        words[place] = name
    date = "2025-03" if number % 2 else "2023-11-02"
    return Case(
        f"c{number:02}",
        "toy",
        "test",
        " ".join(words),
        ("no", "yes")[number % 3 == 0],
        ("no", "yes"),
        {"date": date},
    )


CASES = [invented(number) for number in range(40)]


def learnt(case: Case) -> Any:
    """Return a model that memorised the cases before the cutoff and guesses others."""

    def script(request: Request) -> Any:
        prompt, is_known = request.messages[-1].content, case.attributes["date"] < CUTOFF
        name = next(word for word in case.text.split() if word[0] == "Q")
        if "Continue it word for word" in prompt:
            second = split_halves(case.text)[1]
            assert second[:80] not in prompt
            return (
                " ".join(second.split()[:60])
                if is_known
                else "of what may come next nobody can say a word here"
            )
        if "[NAME]" in prompt:
            assert name not in prompt, "the prompt does not contain the masked name"
            return {"name": f"Mr. {name}" if is_known else "Smith"}
        return {"prediction": case.target.upper() if is_known else "NO", "confidence": 80}

    return script


@pytest.mark.asyncio
async def test_a_model_that_memorised_old_cases_is_detected(
    tmp_path: Path,
) -> None:
    transcript, predictions = [], []
    params = {"date": "date", "cutoffs": {"tiny": CUTOFF}, "words": 60}
    for case in CASES:
        answer, debate, _ = await hold("recall", case, REARREST, learnt(case), **params)
        assert answer
        for utterance in debate.utterances:
            row = transcript_row(debate, utterance)
            transcript.append({**row, "experiment": "contamination-toy", "model": "tiny"})
        predictions.append(prediction(case.case_id, case.target, answer.prediction))
    view = ExperimentView("recall", "toy", ("tiny",), "test", params)
    run = write_results(
        tmp_path,
        CASES,
        {"tiny": predictions},
        {"tiny": transcript},
        experiment="contamination-toy",
        config=view,
    )
    frame = contamination(study_of(run)).frame
    rows = frame.set_index("what")
    assert set(rows["stated cut-off"]) == {CUTOFF}
    assert (
        rows[["cases", "cases before", "cases after", "cases undated"]].to_numpy().tolist()
        == [[40, 20, 20, 0]] * 3
    )
    for measure in ("continuation", "masked names recovered"):
        assert (
            rows.loc[measure, ["before", "after"]].tolist() == pytest.approx([1, 0], abs=0.01)
            and rows.loc[measure, "p"] < 0.001
        )
    assert rows.loc["continuation", "by chance"] < 0.01
    accuracy = rows.loc["accuracy of contamination-toy"]
    later = [case for case in CASES if case.attributes["date"] > CUTOFF]
    assert (accuracy["before"], accuracy["after"]) == (
        1,
        pytest.approx(sum(c.target == "no" for c in later) / 20),
    )


def test_dates_are_compared_at_their_stated_precision() -> None:
    dates = {
        "2023": False,
        "2024-06-30": False,
        "2024-06": None,
        "2024": None,
        "2024-07": True,
        "2025": True,
        "": None,
    }
    for date, is_after in dates.items():
        assert decided_after(date, CUTOFF) is is_after, date
    assert decided_after("2023", "") is None


def test_names_are_masked_everywhere_and_ordinary_words_are_kept() -> None:
    text = (
        "The Court heard that Harlow, and the court found Harlow liable. HARLOW appealed; Harlowe"
        " did not."
    )
    masked_text, name = mask_name(text, 500) or ("", "")
    assert name == "Harlow" and masked_text.count("[NAME]") == 3 and "Harlowe" in masked_text
    assert mask_name("Nobody is named here, and nobody again.", 500) is None
    assert is_recovered({"masked": "Harlow", "name": "John HARLOW"})
    assert not is_recovered({"masked": "Harlow", "name": "Harlowe"})


def test_words_from_the_prompt_do_not_count_as_recalled() -> None:
    visible, continuation = (
        "one two three four five six seven",
        "eight nine ten eleven twelve one two three four five",
    )
    assert measure_overlap("one two three four five six", continuation, visible) == 0
    assert measure_overlap("eight nine ten eleven twelve", continuation, visible) == 1
    assert measure_overlap("八九十一二", "七八九十一二", "三四五六") == 1


def config(folder: Path, cutoff: object = CUTOFF, /, **contamination: Any) -> dict[str, Any]:
    raw = configuration("http://nowhere.invalid", folder, {"cutoff": cutoff})
    raw["datasets"]["people"]["contamination"] = contamination
    return raw


def test_a_data_set_asks_for_the_experiment_by_one_key(tmp_path: Path) -> None:
    plan = Plan.from_yaml(config(tmp_path, models=["test"], cases=7, date="decided"), PROJECT)
    experiment = plan.experiments["contamination-people"]
    assert (experiment.config.protocol, experiment.config.cases, experiment.config.models) == (
        "recall",
        7,
        ("test",),
    )
    assert (
        dict(experiment.params.cutoffs) == {"test": CUTOFF} and experiment.params.date == "decided"
    )
    with refusal():
        Plan.from_yaml(config(tmp_path, "June 2024", models=["test"]), PROJECT)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"models": ["tset"]}, "'tset'; did you mean 'test'?"),
        ({"model": ["test"]}, "unknown key 'model'; did you mean 'models'?"),
        ({"models": ["test"], "cases": 0}, "datasets.people.contamination.cases"),
    ],
)
def test_a_wrong_key_is_reported_before_the_run(
    entry: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        Plan.from_yaml(config(tmp_path, **entry), PROJECT)
    assert message in str(caught.value), str(caught.value)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "date",
    [
        "2nd May",
        None,
    ],
)
async def test_a_date_that_cannot_be_read_is_named(date: str | None) -> None:
    case = Case(
        "c1",
        "toy",
        "test",
        "Facts.",
        "no",
        ("no", "yes"),
        {"date": date} if date else {"year": "2024"},
    )
    with refusal():
        await hold("recall", case, REARREST, lambda _: json.dumps({}), date="date")
