"""What conferences add up to: scores, Table 5, coverage, minutes; and the stance study's tables."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conference_script import FORMS, conference_case, script
from moot.core.cases import Case, Task
from moot.datasets import LoadContext
from moot.jobs.debates import record_conclusion
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import transcript_row
from moot.report import FIGURES, TABLES
from moot.report.content import StudyResults
from moot.report.figures import draw
from moot.report.published import read_published
from moot.report.tables import as_csv, as_html, as_latex
from moot.report.transcript_pages import render_markdown
from moot.scores import concat_scores, no_scores, score_experiment
from moot.scores.results import ExperimentResults, ExperimentView
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.minutes import render_minutes
from moot.studies.conference.scores_conference import find_clusters, repeated_share
from of_study import of_study
from results_on_disk import (
    experiment_view,
    make_paper_matches,
    prediction,
    utterance,
    write_results,
)
from scripted_model import Script, hold

PUBLISHED = Path(__file__).resolve().parents[3] / "data" / "published" / "published_results.csv"
HOSTILE = "<script>alert(1)</script> [link](http://x) # heading"
LoadContextMaker = Callable[..., LoadContext]


def study_of(
    study: str, experiments: Sequence[ExperimentResults], **baselines: pd.DataFrame
) -> StudyResults:
    published = read_published(PUBLISHED)
    scores = (
        concat_scores(score_experiment(results) for results in experiments)
        if experiments
        else no_scores()
    )
    by_name = {results.experiment: results for results in experiments}
    runs = {("alike", "gemma-2-9b"): "paper-stance-claims"}
    comparable = make_paper_matches(runs, **dict.fromkeys(baselines, "vast"))
    return StudyResults(
        study, by_name, scores, baselines, published[published["study"] == study], comparable
    )


async def conferences(
    folder: Path,
    case: Case,
    task: Task,
    scripts: Sequence[Script],
    experiment: str = "conference",
    **params: Any,
) -> ExperimentResults:
    """One conference a script, as the results of one experiment."""
    transcripts, predicted = [], []
    for repeat, model_script in enumerate(scripts):
        answer, debate, _ = await hold(
            "conference", case, task, model_script, repeat=repeat, **params
        )
        record_conclusion(debate, answer, "valid" if answer else "invalid")
        transcripts += [transcript_row(debate, utterance) for utterance in debate.utterances]
        answer_label = answer.prediction if answer else ""
        predicted.append(
            prediction(
                case.case_id,
                case.target,
                answer_label,
                repeat=repeat,
                completion_tokens=100 + repeat,
            )
        )
    checked_params = PROTOCOLS["conference"].params.model_validate(params).model_dump()
    config = experiment_view("conference", "conference", ("scripted",), params=checked_params)
    return write_results(
        folder,
        [case],
        {"scripted": predicted},
        {"scripted": transcripts},
        task,
        experiment=experiment,
        config=config,
    )


def predicted(
    folder: Path,
    cases: Sequence[Case],
    answers: Sequence[str],
    task: Task,
    config: ExperimentView,
    experiment: str,
) -> ExperimentResults:
    """The results of single predictions, one a case; "" for none."""
    rows = [
        prediction(case.case_id, case.target, answer)
        for case, answer in zip(cases, answers, strict=True)
    ]
    transcript = [utterance(f"{case.case_id}#0", 1, "annotator", kind="answer") for case in cases]
    model = config.models[0]
    return write_results(
        folder,
        cases,
        {model: rows},
        {model: transcript},
        task,
        experiment=experiment,
        config=config,
    )


_scored = cache(score_experiment)


def score(results: ExperimentResults, metric: str, group: str = "overall") -> pd.Series:
    frame = _scored(results)
    rows = frame[(frame["metric"] == metric) & (frame["group"] == group) & (frame["average"] == "")]
    assert len(rows) == 1, (metric, group, len(rows))
    return rows.iloc[0]


async def test_coverage_by_lexicon_and_coder(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    case, task = conference_case(load_context)
    talk = [
        "Patients need treatment and fewer overdoses.",
        "Taxes and health and police.",
        "We shall see.",
    ]
    results = await conferences(
        tmp_path, case, task, [script("AGREEMENT", statement=text) for text in talk]
    )
    assert score(results, "clusters_by_lexicon")["value"] == pytest.approx((1 + 3 + 0) / 3)
    assert score(results, "reached_by_lexicon", "cluster=health")["value"] == pytest.approx(2 / 3)
    assert score(results, "reached_by_lexicon", "cluster=cost")["value"] == 0
    assert score(results, "clusters_by_coder")["value"] == 7
    agreement = score(results, "coding_agreement")
    assert agreement["value"] == pytest.approx(4 / 21) and agreement["n"] == 21
    interval = score(results, "clusters_by_lexicon")
    assert 0 <= interval["ci_low"] < interval["value"] < interval["ci_high"] <= 7


async def test_the_rule_that_keeps_a_debate_going_is_counted(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    decisions = [
        "AGREEMENT has been reached.",
        "Well.",
        "Perhaps.",
        "MORE DEBATE is needed.",
        "Who knows.",
    ]
    results = await conferences(
        tmp_path, *conference_case(load_context), [script(decisions)], rounds=2, graded_decisions=0
    )
    assert score(results, "unusable_decisions")["value"] == pytest.approx(3 / 5)
    assert score(results, "topics_agreed")["value"] == pytest.approx(1 / 3)
    assert score(results, "topics_open_by_rule")["value"] == pytest.approx(2 / 3)


async def test_course_of_the_debate(tmp_path: Path, load_context: LoadContextMaker) -> None:
    decisions = [
        "I think so.",
        "AGREEMENT",
        "More debate.",
        "MORE DEBATE",
        "MORE DEBATE",
        "AGREEMENT",
    ]
    model = script(decisions, statement="we must act at once")
    results = await conferences(
        tmp_path, *conference_case(load_context), [model], rounds=3, graded_decisions=0
    )
    assert score(results, "decisions")["value"] == 6
    assert score(results, "unusable_decisions")["value"] == pytest.approx(1 / 6)
    agreed = score(results, "decided_agreement")
    assert (agreed["value"], agreed["n"], agreed["n_invalid"]) == (pytest.approx(2 / 5), 5, 1)
    assert score(results, "topics_open_by_rule")["value"] == 0
    assert score(results, "format_adherence")["value"] == pytest.approx(4 / 6)
    assert score(results, "topics_agreed")["value"] == pytest.approx(2 / 3)
    assert score(results, "rounds_a_topic")["value"] == 2
    assert score(results, "statements")["value"] == 12
    assert score(results, "repetition")["value"] == pytest.approx(1 - 2 / 24)
    assert score(results, "evaluation")["value"] == 7
    assert score(results, "turns")["value"] == 12 + 6 + 3 + 3 + 1


def grading_script(right_grade: int, reversed_grade: int, first: str = "AGREEMENT") -> Script:
    """A grader that can tell the judge's own decision from its opposite."""

    def answer(request: Request) -> str | dict[str, float] | None:
        if request.schema and "grade" in request.schema["properties"]:
            is_own_decision = f"<decision>\n{first}\n" in request.messages[-1].content
            return json.dumps(
                {"reason": "because", "grade": right_grade if is_own_decision else reversed_grade}
            )
        return script(first)(request)

    return answer


async def test_grades_and_the_graders_reliability(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    results = await conferences(
        tmp_path, *conference_case(load_context), [grading_script(8, 2)] * 2, graded_decisions=2
    )
    assert score(results, "grade")["value"] == 8 and score(results, "grade")["n"] == 8
    assert score(results, "grade", "decision=2")["value"] == 8
    assert score(results, "grade_reversed")["value"] == 2
    assert score(results, "grade_margin")["value"] == 6
    assert score(results, "graded_above_reversed")["value"] == 1
    assert score(results, "regrade_difference")["value"] == 0
    assert score(results, "regrade_correlation")["value"] == pytest.approx(1)


async def test_an_unusable_grade_counts_where_it_was_given(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    def no_opposite(request: Request) -> str | dict[str, float] | None:
        reply = grading_script(8, 2)(request)
        return "no grade" if isinstance(reply, str) and '"grade": 2' in reply else reply

    scripts = [grading_script(8, 2), no_opposite]
    results = await conferences(
        tmp_path, *conference_case(load_context), scripts, graded_decisions=2
    )
    scores = {
        name: score(results, name)
        for name in ("grade", "grade_reversed", "grade_margin", "regrade_difference")
    }
    counts = {name: (row["n"], row["n_invalid"]) for name, row in scores.items()}
    assert counts == {
        "grade": (8, 0),
        "grade_reversed": (4, 4),
        "grade_margin": (2, 2),
        "regrade_difference": (6, 2),
    }


def test_both_errors_of_the_judge(tmp_path: Path) -> None:
    task = Task("the discussion", "Do they agree?", (OPEN, AGREEMENT), AGREEMENT)
    cases = [
        Case(f"c{n}", "agreement", "test", "x", AGREEMENT if n < 4 else OPEN, (OPEN, AGREEMENT))
        for n in range(10)
    ]
    answers = [AGREEMENT, AGREEMENT, OPEN, "", AGREEMENT, OPEN, OPEN, OPEN, OPEN, ""]
    config = experiment_view(
        "agreement", "agreement", ("tiny",), params=PROTOCOLS["agreement"].params().model_dump()
    )
    results = predicted(tmp_path, cases, answers, task, config, "pairs")
    early, late = score(results, "ends_too_early"), score(results, "goes_on_too_long")
    assert (early["value"], early["n"]) == (pytest.approx(1 / 6), 6)
    assert (late["value"], late["n"]) == (
        pytest.approx(2 / 4),
        4,
    ), "an unusable answer goes on too long"
    content = (
        TABLES["conference/judge_on_known_agreement"].build(study_of("conference", [results])).frame
    )
    ours = content[
        (content["judge"] == "tiny") & content["measure"].str.startswith("goes on too long")
    ]
    assert ours["ours"].item() == 0.5
    assert (content["judge"] == "gpt-4").any(), "the paper's grades stand beside"


async def both_conditions(folder: Path, load_context: LoadContextMaker) -> StudyResults:
    case, task = conference_case(load_context)
    talk = script("AGREEMENT", statement=f"Health first. {HOSTILE}", greeting=HOSTILE)
    moderator_script = script("AGREEMENT", statement="Let us agree at once, please, all of you.")

    def moderator_decides(request: Request) -> str | dict[str, float] | None:
        return (
            "NEXT TOPIC"
            if "NEXT TOPIC" in request.messages[-1].content
            else moderator_script(request)
        )

    judged = await conferences(folder / "a", case, task, [talk] * 3, "with", graded_decisions=1)
    unjudged = await conferences(
        folder / "b",
        case,
        task,
        [moderator_decides] * 3,
        "without",
        graded_decisions=1,
        agreement=False,
    )
    return study_of("conference", [judged, unjudged])


async def test_table5_sets_our_grades_beside_the_papers(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    frame = (
        TABLES["conference/table5_agreement_detection"]
        .build(await both_conditions(tmp_path, load_context))
        .frame
    )
    theirs = frame[(frame["judge"] == "gemma-2-9b") & (frame["decision"] == "overall")]
    assert theirs["published"].item() == 9.6
    ours = frame[frame["judge"] == "scripted"].set_index("decision")["ours"]
    assert ours["1"] == 8 and ours["overall"] == 8 and pd.isna(ours["2"])


async def test_conditions_are_compared_where_only_the_judge_differs(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await both_conditions(tmp_path, load_context)
    frame = TABLES["conference/judge_difference"].build(study).frame.set_index("measure")
    clusters = frame.loc["clusters reached on the first topic (lexicon)"]
    assert (clusters["with judge"], clusters["without judge"], clusters["difference"]) == (1, 0, 1)
    table = TABLES["conference/with_and_without_judge"].build(study).frame
    published = table[table["published"].notna()].set_index("condition")["published"]
    assert published["with judge"] == 7 and published["without judge"] == 6


@pytest.mark.parametrize("study", ["stance", "conference"])
def test_every_table_and_figure_stands_without_any_experiment(tmp_path: Path, study: str) -> None:
    for table in of_study(TABLES, study):
        assert as_csv(table.build(study_of(study, [])))
    for figure in of_study(FIGURES, study):
        draw(figure, study_of(study, []), {"svg": tmp_path / "figure.svg"})
        assert (tmp_path / "figure.svg").stat().st_size > 1000


async def test_forms_of_the_evaluator_that_cannot_be_used_are_counted(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    def broken_off(request: Request) -> str | dict[str, float] | None:
        if request.schema and "clarity" in request.schema["properties"]:
            return '{"clarity":'
        return script("AGREEMENT")(request)

    results = await conferences(
        tmp_path, *conference_case(load_context), [broken_off], rounds=1, graded_decisions=0
    )
    study = study_of("conference", [results])
    row = TABLES["conference/evaluator_scores"].build(study).frame.iloc[0]
    assert pd.isna(row["ours"]) and (row["n"], row["n invalid"]) == (0, 3)
    drawing = FIGURES["conference/evaluation"].build(study)
    assert "3 forms could not be used" in drawing.axes[0].texts[0].get_text()


async def test_criteria_that_could_be_read_count_each_by_itself(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    def partly(request: Request) -> str | dict[str, float] | None:
        if request.schema and "clarity" in request.schema["properties"]:
            return '{"clarity": 3, "relevance": "11/10"}'
        return script("AGREEMENT")(request)

    results = await conferences(
        tmp_path, *conference_case(load_context), [partly], rounds=1, graded_decisions=0
    )
    clarity = score(results, "evaluation", "criterion=clarity")
    assert (clarity["value"], clarity["n"], clarity["n_invalid"]) == (3.0, 3, 0)
    for group in ("criterion=relevance", "overall"):
        missing = score(results, "evaluation", group)
        assert pd.isna(missing["value"]) and (missing["n"], missing["n_invalid"]) == (0, 3)


async def test_tables_and_figures_of_conferences_are_harmless_and_stable(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await both_conditions(tmp_path, load_context)
    for table in of_study(TABLES, "conference"):
        content = table.build(study)
        for text in (as_html(table, content, study), as_latex(table, content, study)):
            assert "<script>" not in text
    for figure in of_study(FIGURES, "conference"):
        paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
        for path in paths:
            draw(figure, study, {"svg": path})
        assert paths[0].read_bytes() == paths[1].read_bytes()


# Minutes


async def test_minutes_hand_over_what_was_agreed(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await both_conditions(tmp_path, load_context)
    documents = dict(render_minutes(study.experiments["with"], "scripted"))
    assert list(documents) == [1, 2, 3]
    text = documents[1]
    assert text.count("**Closed in agreement** after 1 round of debate.") == 3
    for heading in (
        "## Present",
        "### Positions",
        "### What was agreed",
        "### Open points",
        "## The model of criteria",
    ):
        assert heading in text
    model = text.split("## The model of criteria")[1]
    assert model.count("- health") == 1, "a criterion that every topic names stands once"
    assert "*Nothing noted.*" in text.split("### Open points")[1]
    assert (
        "No judge" not in text
        and "No judge" in dict(render_minutes(study.experiments["without"], "scripted"))[1]
    )


async def test_minutes_without_usable_notes_quote_the_last_words_and_say_so(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    def careless(request: Request) -> str | dict[str, float] | None:
        if request.schema and "positions" in request.schema["properties"]:
            return "I took no notes."
        return script("MORE DEBATE", statement=f"{HOSTILE}\nsecond line", greeting=HOSTILE)(request)

    results = await conferences(
        tmp_path, *conference_case(load_context), [careless], rounds=2, graded_decisions=0
    )
    text = dict(render_minutes(results, "scripted"))[1]
    assert (
        text.count("could not be used") == 3
        and "**Closed without agreement** after 2 rounds" in text
    )
    assert "<script>" not in text and "](http" not in text
    assert not re.search(r"^# heading", text, re.MULTILINE)


# The stance study's tables


def stance_results(folder: Path, model: str, **params: Any) -> ExperimentResults:
    task = Task("the claim", "?", ("con", "pro"), "pro")
    cases = [
        Case(f"c{n}", "claims", "test", "x", "pro" if n % 2 else "con", ("con", "pro"))
        for n in range(8)
    ]
    answers = ["pro" if n in (1, 3, 5, 6) else "" if n == 7 else "con" for n in range(8)]
    checked_params = PROTOCOLS["stance"].params.model_validate(params).model_dump()
    return predicted(
        folder,
        cases,
        answers,
        task,
        experiment_view("stance", "claims", (model,), params=checked_params),
        folder.name,
    )


def test_published_values_stand_beside_runs_that_asked_alike(tmp_path: Path) -> None:
    comparable = stance_results(tmp_path / "alike", "gemma-2-9b", answer="json")
    other_run = stance_results(
        tmp_path / "other", "gemma-2-9b", prompting="few_shot", answer="likelihood"
    )
    frame = (
        TABLES["stance/table3_claim_stance"]
        .build(study_of("stance", [comparable, other_run]))
        .frame
    )
    accuracy = frame[(frame["system"] == "gemma-2-9b") & (frame["metric"] == "accuracy")].set_index(
        "asked"
    )
    assert accuracy.loc["zero-shot, json", "published"] == 0.861
    assert accuracy.loc["zero-shot, json", "difference"] == pytest.approx(6 / 7 - 0.861)
    assert pd.isna(accuracy.loc["few-shot, likelihood", "published"])
    strict = frame[frame["metric"] == "accuracy, invalid = wrong"].set_index("asked")["ours"]
    assert strict["zero-shot, json"] == 6 / 8
    assert set(frame["system"]) >= {"gpt-4", "trained_system", "majority-class", "base-rate-coin"}


def test_paired_tests_compare_runs_on_the_same_cases(tmp_path: Path) -> None:
    first = stance_results(tmp_path / "one", "small")
    second = stance_results(tmp_path / "two", "large", prompting="few_shot")
    frame = TABLES["stance/paired_tests"].build(study_of("stance", [first, second])).frame
    assert (
        len(frame) == 1
        and frame["cases"].item() == 8
        and frame["difference"].item() == 0
        and frame["p"].item() == 1
    )


def test_trained_baselines_stand_beside_their_published_counterparts(tmp_path: Path) -> None:
    row = {
        "baseline": "bag-of-words",
        "dataset": "vast",
        "title": "Bag of words, logistic regression",
        "n": 8,
    }
    row |= {"evaluation": "test", "status": "ok", "confusion": "[[2, 1, 1], [0, 1, 0], [1, 0, 2]]"}
    board = pd.DataFrame(
        [row | {"accuracy": 0.5, "precision_macro": 0.5, "recall_macro": 0.5, "f1_macro": 0.4}]
    )
    task = Task("the post", "?", ("con", "neutral", "pro"))
    cases = [Case("c0", "vast", "test", "x", "con", task.labels)]
    config = experiment_view(
        "stance", "vast", ("m",), params=PROTOCOLS["stance"].params().model_dump()
    )
    run = predicted(tmp_path, cases, ["con"], task, config, "v")
    study = study_of("stance", [run], vast=board)
    frame = TABLES["stance/table1_vast"].build(study).frame
    ours = frame[frame["system"].str.startswith("Bag of words") & (frame["metric"] == "F1, macro")]
    assert ours["published"].item() == 0.349 and ours["difference"].item() == pytest.approx(0.051)
    by_class = TABLES["stance/table2_vast_by_class"].build(study).frame
    con = by_class[
        by_class["system"].str.startswith("Bag of words") & (by_class["metric"] == "F1 con")
    ]
    assert con["ours"].item() == pytest.approx(2 * 2 / (3 + 4))


def test_f1_of_each_class_is_shown_for_runs_and_references(tmp_path: Path) -> None:
    task = Task("the post", "?", ("con", "neutral", "pro"))
    targets, answers = ["con", "con", "pro", "neutral"], ["con", "pro", "pro", ""]
    cases = [
        Case(f"c{n}", "vast", "test", "x", target, task.labels) for n, target in enumerate(targets)
    ]
    config = experiment_view(
        "stance", "vast", ("m",), params=PROTOCOLS["stance"].params().model_dump()
    )
    study = study_of("stance", [predicted(tmp_path, cases, answers, task, config, "v")])
    frame = TABLES["stance/table2_vast_by_class"].build(study).frame
    ours = frame.set_index(["system", "metric"])["ours"]
    assert ours["m", "F1 con"] == ours["m", "F1 pro"] == pytest.approx(2 / 3)
    assert ours["m", "F1 neutral, invalid = wrong"] == 0
    assert (
        ours["majority-class", "F1 con"] == pytest.approx(2 * 2 / (2 + 4))
        and ours["majority-class", "F1 pro"] == 0
    )


def test_true_labels_are_those_of_all_evaluated_cases_whatever_the_last_run(tmp_path: Path) -> None:
    full_run = stance_results(tmp_path / "every", "m")
    case = Case("c1", "claims", "test", "x", "pro", ("con", "pro"))
    partial_run = predicted(
        tmp_path / "few", [case], ["pro"], full_run.task, full_run.config, "few"
    )
    drawing = FIGURES["stance/figure2_true_labels"].build(
        study_of("stance", [full_run, partial_run])
    )
    counts = [text.get_text() for text in drawing.axes[0].texts]
    assert counts == ["4", "4", "4", "4"], "test cases con and pro, then those evaluated"


# Small parts


def test_lexicon_matches_words_and_phrases_and_nothing_inside_words() -> None:
    clusters = {"health": ["harm reduction", "health*"], "cost": ["tax"]}
    reached = find_clusters(["Harm  REDUCTION and healthcare", "taxes, syntax"], clusters)
    assert reached == {"health": ["harm reduction", "healthcare"], "cost": []}


def test_repetition() -> None:
    assert repeated_share(["a b c"]) == 0 and repeated_share(["a b c d", "A, b c d!"]) == 0.5


def test_forms_of_the_scripts_fit_the_schemas() -> None:
    assert (
        set(FORMS) == {"clarity", "positions", "health", "grade"}
        and "conference/coverage" in FIGURES
    )


async def test_transcripts_are_laid_out_by_speaker_and_harmless(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await both_conditions(tmp_path, load_context)
    page = "".join(render_markdown(study.experiments["with"], "scripted"))
    assert page.count("**Judge, ") == 9 and page.count("\n## Debate ") == 3
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert page.index("**Moderator, ") < page.index("**Participant 1, ")
    evaluations = page.split("*(private: ")[1:]
    assert any("*Emotional intelligence:* 7" in part for part in evaluations)
