"""Judges of the same exchanges: played conferences, their decisions, grades and tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conference_script import conference_case, script
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from results_on_disk import write_results
from scripted_model import ScriptedModel, hold, make_debate

SOURCE = {"source_experiment": "conference", "source_model": "scripted"}


async def write_conference(
    folder: Path, case: Case, task: Task, decisions: Sequence[str], **params: Any
) -> Path:
    """Hold a conference and write its transcript."""
    _, debate, _ = await hold("conference", case, task, script([*decisions]), **params)
    rows = [transcript_row(debate, utterance) for utterance in debate.utterances]
    results = write_results(folder, [case], None, {"scripted": rows}, task, "conference")
    return results.results / "transcripts" / "conference" / "scripted" / "0.parquet"


async def judge(
    path: Path, case: Case, task: Task, decisions: Sequence[str], **params: Any
) -> tuple[Answer | None, Debate, ScriptedModel]:
    """Let a scripted judge decide on the conference of a transcript."""
    entry = PROTOCOLS["judging"]
    answer_request = script([*decisions])
    model = ScriptedModel(lambda request, _: answer_request(request))
    checked_params = entry.params.model_validate({**SOURCE, **params})
    debate = make_debate(model, checked_params, task, case, artifacts={"debates": path})
    return await entry.run(debate, checked_params), debate, model


def decision_prompts(model: ScriptedModel) -> list[str]:
    return [
        request.messages[-1].content
        for request in model.requests
        if "You are the judge" in request.messages[-1].content
    ]


@pytest.mark.parametrize(
    ("decisions", "expected", "score"),
    [
        (["AGREEMENT"], AGREEMENT, 1.0),
        (["MORE DEBATE"], OPEN, 0.0),
        (["MORE DEBATE", "AGREEMENT", "AGREEMENT", "MORE DEBATE"], OPEN, 2 / 3),
        (["who knows"], None, None),
    ],
)
@pytest.mark.parametrize("has_judge", [True, False])
async def test_each_judge_decides_on_the_same_exchanges(
    tmp_path: Path,
    has_judge: bool,
    decisions: list[str],
    expected: str | None,
    score: float | None,
) -> None:
    """Whatever a judge says, it is asked about the same statements.

    What cannot be read is asked again.
    """
    case, task = conference_case()
    path = await write_conference(
        tmp_path, case, task, ["MORE DEBATE", "AGREEMENT"], agreement=has_judge, graded_decisions=0
    )
    answer, debate, model = await judge(path, case, task, decisions, graded_decisions=0)
    assert (answer.prediction if answer else None) == expected
    assert (answer.score if answer else None) == score
    _, _, other_model = await judge(path, case, task, ["AGREEMENT"], graded_decisions=0)
    prompts = list(dict.fromkeys(decision_prompts(model)))
    assert len(prompts) == 4, "two rounds on the first topic, one on each of the others"
    assert prompts == decision_prompts(other_model)
    assert not any("Judge:" in prompt.rpartition("<record>")[0] for prompt in prompts)
    assert [prompt.count("Participant 1:") for prompt in prompts] == [1, 2, 3, 4]
    assert all(
        utterance.visibility == "judge"
        for utterance in debate.utterances
        if utterance.kind == "decision"
    )


async def test_the_first_decision_is_asked_as_in_the_conference(tmp_path: Path) -> None:
    case, task = conference_case()
    _, _, conference = await hold("conference", case, task, script("AGREEMENT"))
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"])
    _, _, model = await judge(path, case, task, ["AGREEMENT"])
    assert decision_prompts(model)[0] == decision_prompts(conference)[0]


async def test_conferences_with_other_topics_than_the_case_are_refused_with_a_remedy(
    tmp_path: Path,
) -> None:
    case, task = conference_case()
    topics = [{"title": f"T{n}", "stage": "discussion", "question": "Q?"} for n in range(4)]
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"], topics=topics)
    with pytest.raises(
        UserError, match=r"found topic 4 .* expected at most 3\. Set `params.topics`"
    ):
        await judge(path, case, task, ["AGREEMENT"])
    answer, _, _ = await judge(path, case, task, ["AGREEMENT"], topics=topics)
    assert answer is not None and answer.prediction == AGREEMENT


async def test_a_transcript_without_statements_is_refused(tmp_path: Path) -> None:
    case, task = conference_case()
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"])
    empty = [{**row, "text": ""} for row in pq.read_table(path).to_pylist()]
    results = write_results(
        tmp_path / "empty", [case], None, {"scripted": empty}, task, "conference"
    )
    with pytest.raises(UserError, match="hold no words that a judge could read"):
        await judge(
            results.results / "transcripts/conference/scripted/0.parquet", case, task, ["AGREEMENT"]
        )
