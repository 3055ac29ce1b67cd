"""Judges of the same exchanges: played conferences, their decisions, grades and tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from conference_script import LoadContextMaker, conference_case, script
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.report import TABLES
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, score_experiment
from moot.scores.results import ExperimentResults
from moot.stats.agreement import rank_correlation
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from results_on_disk import experiment_view, make_paper_matches, prediction, write_results
from scripted_model import PROJECT, ScriptedModel, hold, make_debate

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
    load_context: LoadContextMaker,
    has_judge: bool,
    decisions: list[str],
    expected: str | None,
    score: float | None,
) -> None:
    """Whatever a judge says, it is asked as often as the first one, about the same statements."""
    case, task = conference_case(load_context)
    agreed = "AGREEMENT" if has_judge else "NEXT TOPIC"
    path = await write_conference(
        tmp_path, case, task, ["MORE DEBATE", agreed], agreement=has_judge, graded_decisions=0
    )
    answer, debate, model = await judge(path, case, task, decisions, graded_decisions=0)
    assert (answer.prediction if answer else None) == expected
    assert (answer.score if answer else None) == score
    _, _, other_model = await judge(path, case, task, ["AGREEMENT"], graded_decisions=0)
    prompts = decision_prompts(model)
    assert len(prompts) == 4, "two rounds on the first topic, one on each of the others"
    assert prompts == decision_prompts(other_model)
    assert not any("Judge:" in prompt.rpartition("<record>")[0] for prompt in prompts)
    assert [prompt.count("Participant 1:") for prompt in prompts] == [1, 2, 3, 4]
    assert all(
        utterance.visibility == "judge"
        for utterance in debate.utterances
        if utterance.kind == "decision"
    )


async def test_the_first_decision_is_asked_as_in_the_conference(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    case, task = conference_case(load_context)
    _, _, conference = await hold("conference", case, task, script("AGREEMENT"))
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"])
    _, _, model = await judge(path, case, task, ["AGREEMENT"])
    assert decision_prompts(model)[0] == decision_prompts(conference)[0]


async def test_conferences_with_other_topics_than_the_case_are_refused_with_a_remedy(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    case, task = conference_case(load_context)
    topics = [{"title": f"T{n}", "stage": "discussion", "question": "Q?"} for n in range(4)]
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"], topics=topics)
    with pytest.raises(
        UserError, match=r"found topic 4 .* expected at most 3\. Set `params.topics`"
    ):
        await judge(path, case, task, ["AGREEMENT"])
    answer, _, _ = await judge(path, case, task, ["AGREEMENT"], topics=topics)
    assert answer is not None and answer.prediction == AGREEMENT


async def test_a_transcript_without_statements_is_refused(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    case, task = conference_case(load_context)
    path = await write_conference(tmp_path, case, task, ["AGREEMENT"])
    empty = [{**row, "text": ""} for row in pq.read_table(path).to_pylist()]
    results = write_results(
        tmp_path / "empty", [case], None, {"scripted": empty}, task, "conference"
    )
    with pytest.raises(UserError, match="hold no words that a judge could read"):
        await judge(
            results.results / "transcripts/conference/scripted/0.parquet", case, task, ["AGREEMENT"]
        )


async def judged_results(
    folder: Path, case: Case, task: Task, path: Path, decisions: dict[str, list[str]]
) -> ExperimentResults:
    """The results of one experiment `judges` with several models, which grade themselves with 8."""
    transcripts, predictions = {}, {}
    for name, words in decisions.items():
        answer, debate, _ = await judge(path, case, task, words)
        transcripts[name] = [
            transcript_row(debate, utterance) | {"model": name} for utterance in debate.utterances
        ]
        label = answer.prediction if answer else ""
        predictions[name] = [prediction(case.case_id, case.target, label)]
    params = PROTOCOLS["judging"].params.model_validate(SOURCE).model_dump()
    config = experiment_view("judging", "conference", tuple(decisions), params=params)
    return write_results(
        folder, [case], predictions, transcripts, task, experiment="judges", config=config
    )


async def test_table_5_shows_published_grades_next_to_judges_of_the_same_exchanges(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    case, task = conference_case(load_context)
    path = await write_conference(tmp_path / "source", case, task, ["MORE DEBATE", "AGREEMENT"])
    decisions = {"gemma-7b": ["AGREEMENT"], "gpt-4": ["MORE DEBATE"]}
    results = await judged_results(tmp_path / "judges", case, task, path, decisions)
    published = read_published(PROJECT / "data/published/published_results.csv")
    matches = make_paper_matches(
        {("judges", name): "paper-conference-judges" for name in decisions}
    )
    study = StudyResults(
        "conference",
        {"judges": results},
        concat_scores([score_experiment(results)]),
        {},
        published[published["study"] == "conference"],
        matches,
    )
    frame = TABLES["conference/table5_agreement_detection"].build(study).frame
    rows = frame[frame["experiment"] == "judges"].set_index(["judge", "decision"])
    assert rows.loc[("gemma-7b", "1"), "published"] == 10
    assert rows.loc[("gemma-7b", "overall"), "published"] == 3.8
    assert rows.loc[("gpt-4", "overall"), "ours"] == 8
    assert rows.loc[("gpt-4", "4"), "ours"] == 8 and pd.isna(rows.loc[("gpt-4", "5"), "ours"])
    assert set(rows["participants"]) == {"scripted"}
    ranks = TABLES["conference/objective_and_grades"].build(study).frame
    assert ranks.empty, "no experiment has statements whose agreement is known"


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(1, 1), (2, 2), (3, 3)], 1.0),
        ([(1, 3), (2, 2), (3, 1)], -1.0),
        ([(1, 10), (2, 20), (3, 20), (4, 40)], 0.9486833),
        ([(1, 1), (2, 2)], float("nan")),
        ([(1, 1), (2, 1), (3, 1)], float("nan")),
        ([], float("nan")),
    ],
)
def test_rank_correlation(pairs: list[tuple[float, float]], expected: float) -> None:
    assert rank_correlation(pairs) == pytest.approx(expected, nan_ok=True)
