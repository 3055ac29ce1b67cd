"""Tables of the decision conference.

The grades of the judge's decisions reproduce Table 5 of the paper. The other tables have no
counterpart there: the judge on statements whose agreement is known, the grader's reliability,
coverage and course of the debate with and without a judge, and the evaluator's scores.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

from moot.core.cases import REFERENCE_MODELS
from moot.core.types import Fields
from moot.report import table
from moot.report.columns import SIGNED, Columns
from moot.report.content import (
    NOT_MEASURED,
    Measurement,
    Run,
    StudyResults,
    TableContent,
    data_label,
)
from moot.report.needs import has_baselines, has_debates
from moot.report.published import (
    COUNT_COLUMNS,
    comparison_row,
    comparison_table,
    published_values,
    repeated_values,
    trained_rows,
    trained_score,
    unrepeated_values,
)
from moot.scores import INVALID_WRONG
from moot.studies.conference.conditions import (
    AGREEMENT_PROTOCOL,
    CONFERENCE_PROTOCOL,
    GRADING_PROTOCOL,
    STUDY,
    WITH_JUDGE,
    WITHOUT_JUDGE,
    Condition,
    estimate_difference,
    list_conditions,
    pair_conditions,
)
from moot.studies.conference.scores_conference import (
    count_clusters,
    measure_course,
    measure_coverage,
)

DECISIONS_IN_TABLE = 5
COVERAGE_CONDITIONS = {
    "clusters_covered_with_judge": WITH_JUDGE,
    "clusters_covered_without_judge": WITHOUT_JUDGE,
}
"""Published coverage to the condition that it is of."""
BY_DEBATE_NOTE = "Intervals are by debate: a conference is one case, debated many times."
MEASURES = {
    "clusters_by_lexicon": "clusters reached on the first topic (lexicon)",
    "clusters_by_coder": "clusters reached on the first topic (coder)",
    "turns": "public turns a conference",
    "statements": "participants' statements a conference",
    "words": "participants' words a conference",
    "repetition": "share of repeated runs of four words",
    "rounds_a_topic": "rounds a topic",
    "topics_agreed": "share of topics that end in agreement",
    "decided_agreement": "share of usable decisions that are agreement",
    "format_adherence": "share of decisions in exactly the required form",
    "unusable_decisions": "share of decisions that are unusable",
    "topics_open_by_rule": "share of topics left open by an unusable last decision",
    "completion_tokens_per_case": "generated tokens a conference",
    "tokens_per_case": "tokens a conference",
    "calls_per_case": "calls a conference",
    "evaluation": "evaluator's mean score",
}


@table(STUDY, "table5_agreement_detection", "Table 5: grades of the judge's decisions")
def agreement_detection(results: StudyResults) -> TableContent:
    """Grades of five decisions of each judge by a second model: published and ours."""
    name = "table5_agreement_detection"
    runs = [condition for condition in list_conditions(results) if condition.has_judge]
    rows = [
        comparison_row({"judge": (judge, "", column.removeprefix("debate"))}, value, NOT_MEASURED)
        for (judge, column), value in unrepeated_values(results, name).items()
    ]
    for run in runs:
        published = repeated_values(run, name)
        for number in [*range(1, DECISIONS_IN_TABLE + 1), 0]:
            group, column = (
                (f"decision={number}", f"debate{number}") if number else ("overall", "overall")
            )
            our_value = run.measurement("grade", group=group)
            keys = {"judge": (run.model, run.experiment, str(number or "overall"))}
            rows.append(comparison_row(keys, published.get((run.model, column)), our_value))
    graders = sorted({_grader_of(run, f"{run.model} itself") for run in runs})
    note = (
        "Single-answer grading from 0 to 10 (the paper's text says zero to ten, its table one to"
        f" ten). Published grades are GPT-4's, ours by {', '.join(graders) or 'no model yet'}; a"
        " model that grades itself is marked by that. Each decision is shown with its own topic's"
        " exchange alone; over repeats, its first decision is decision 1 of every conference, and"
        " so on."
    )
    return comparison_table(rows, ("judge", "experiment", "decision"), [note, BY_DEBATE_NOTE])


def _grader_of(run: Run, default: str) -> str:
    return str(run.params.get("seats", {}).get("grader", default))


@table(STUDY, "grader_reliability", "Can the grades be trusted?")
def grader_reliability(results: StudyResults) -> TableContent:
    """The grader graded: the same decision twice, and decisions known to be wrong."""
    measures = {
        "grade": "mean grade of the decision (on known pairs: of the right one)",
        "grade_reversed": "mean grade of the opposite (on known pairs: of the planted wrong one)",
        "grade_margin": "mean of the first less the second",
        "graded_above_reversed": "share graded above its opposite (ties count half)",
        "regrade_difference": "mean distance between two grades of the same decision",
        "regrade_correlation": "correlation of two grades of the same decision",
    }
    rows = []
    for run, (metric, title) in product(
        results.runs(results.find_experiments(CONFERENCE_PROTOCOL, GRADING_PROTOCOL), Run),
        measures.items(),
    ):
        score = run.measurement(metric)
        if pd.notna(score.value):
            rows.append(
                {"run": (run.experiment, _grader_of(run, run.model), title), **_score_cells(score)}
            )
    notes = [
        (
            "In a conference the opposite of a decision is not known to be wrong; on the pairs of"
            " the data set agreement it is. A grader that guesses has a margin near 0 and is above"
            " its opposite half of the time."
        ),
        "The paper graded every decision once and planted none.",
    ]
    return _plain_table(rows, ("run", "grader", "measure"), notes)


@table(
    STUDY,
    "judge_on_known_agreement",
    "The judge where the truth is known",
    needs=(has_debates, has_baselines),
)
def judge_on_known_agreement(results: StudyResults) -> TableContent:
    """The judge of agreement on groups of claims whose stances are known, with the grades that the
    paper gives it.
    """
    measures = {
        "accuracy": ("accuracy", ""),
        "accuracy, invalid = wrong": (f"accuracy{INVALID_WRONG}", ""),
        "F1, macro": ("f1", "macro"),
        "F1, agreement": ("f1", "binary"),
        "AUC": ("auc", ""),
        "ends too early (of groups that disagree)": ("ends_too_early", ""),
        "goes on too long (of groups that agree)": ("goes_on_too_long", ""),
    }
    rows: list[Fields] = [
        comparison_row(
            {"judge": (judge, "", "", "mean grade by GPT-4, 0 to 10")}, value, NOT_MEASURED
        )
        for (judge, metric), value in published_values(
            results, "table5_agreement_detection"
        ).items()
        if metric == "overall"
    ]
    for experiment in results.find_experiments(AGREEMENT_PROTOCOL):
        for model in (*experiment.config.models, *REFERENCE_MODELS):
            run = Run(experiment, model, results)
            answer = "reference" if model in REFERENCE_MODELS else run.params["answer"]
            for title, (metric, average) in measures.items():
                score = run.measurement(metric, average)
                if score is not NOT_MEASURED:
                    rows.append(
                        comparison_row({"judge": (model, answer, run.data, title)}, None, score)
                    )
    rows += _trained_rows(results)
    note = (
        "Positive is agreement: all claims of a group take the same side of the motion. Ending too"
        " early loses what was never said, going on too long costs rounds; an unusable answer"
        " counts as more debate in both. The published grades are subjective and of other debates:"
        " they are shown next to an objective measure, not to be subtracted from it."
    )
    return comparison_table(rows, ("judge", "answer", "data", "measure"), [note])


def _trained_rows(results: StudyResults) -> Iterator[Fields]:
    trials = (
        experiment
        for experiment in results.trials.values()
        if experiment.config.protocol == AGREEMENT_PROTOCOL
    )
    names = {
        experiment.config.dataset: data_label(experiment)
        for experiment in (*results.find_experiments(AGREEMENT_PROTOCOL), *trials)
    }
    for name, label in names.items():
        for row in trained_rows(results.baselines.get(name, pd.DataFrame())):
            for measure, metric in {"accuracy": "accuracy", "F1, macro": "f1_macro"}.items():
                keys = {"judge": (row["title"], "trained", label, measure)}
                yield comparison_row(keys, None, trained_score(row, metric))


@table(STUDY, "with_and_without_judge", "The conference with and without a judge")
def with_and_without_judge(results: StudyResults) -> TableContent:
    """Coverage, length, repetition, decisions and the evaluator's scores, with a judge of agreement
    and without.
    """
    rows = [
        comparison_row(
            {"model": ("gpt-4", COVERAGE_CONDITIONS[metric], "", MEASURES["clusters_by_lexicon"])},
            value,
            NOT_MEASURED,
        )
        for (_, metric), value in unrepeated_values(results, "text_coverage").items()
        if metric in COVERAGE_CONDITIONS
    ]
    for condition in list_conditions(results):
        published = {
            COVERAGE_CONDITIONS.get(metric): value
            for (_, metric), value in repeated_values(condition, "text_coverage").items()
        }
        for metric, title in MEASURES.items():
            score = condition.measurement(metric)
            published_value = (
                published.get(condition.name) if metric == "clusters_by_lexicon" else None
            )
            if pd.notna(score.value) or published_value is not None:
                rows.append(
                    comparison_row(
                        {"model": (*condition.names, condition.data, title)}, published_value, score
                    )
                )
    notes = [
        "Published coverage is that of GPT-4 in one debate with judge and one without, coded by"
        " hand. "
        + f"{BY_DEBATE_NOTE} Tokens and calls are scored by case, so that those of one case have"
        " none.",
        "Without a judge the moderator takes the same decision; nothing else differs.",
        (
            "A decision that cannot be read is unusable, and counted as such; by rule the debate"
            " then goes on as after MORE DEBATE, and a topic whose last decision is unusable is"
            " left open."
        ),
    ]
    return comparison_table(rows, ("model", "condition", "data", "measure"), notes)


@table(STUDY, "judge_difference", "What the judge changes")
def judge_difference(results: StudyResults) -> TableContent:
    """Differences between conferences with and without a judge that are alike in all else."""
    rows = []
    for with_judge, without_judge in pair_conditions(results):
        first_measures, second_measures = (
            measure_debates(with_judge),
            measure_debates(without_judge),
        )
        for measure in first_measures.columns.intersection(second_measures.columns):
            first_values, second_values = (
                first_measures[measure].dropna(),
                second_measures[measure].dropna(),
            )
            means = (
                first_values.mean(),
                second_values.mean(),
                *estimate_difference(first_values, second_values, with_judge.results.seed),
            )
            rows.append(
                {
                    "model": (with_judge.model, with_judge.data, measure, *means),
                    "debates with": (len(first_values), len(second_values)),
                }
            )
    columns = Columns().keys("model", "data").plain("measure").ours("with judge", "without judge")
    columns = columns.estimate("difference", "difference", "95 % interval", digits=SIGNED)
    columns = columns.ours("debates with", "debates without")
    headings = (
        "model",
        "data",
        "measure",
        "with judge",
        "without judge",
        "difference",
        "95 % interval",
    )
    return columns.short_form(*headings).table(
        rows,
        [
            "Difference of means, with an interval over the debates of both conditions.",
            BY_DEBATE_NOTE,
        ],
    )


def measure_debates(condition: Condition) -> pd.DataFrame:
    """One row a debate (by id), one column a measure."""
    transcripts, predictions = condition.transcripts, condition.predictions
    cells = measure_coverage(condition.results, transcripts)
    measures = {
        f"clusters_by_{source}": count_clusters(cells, source)
        for source in ("lexicon", "coder")
        if len(cells)
    }
    measures |= {
        metric: values
        for metric, values, _ in measure_course(transcripts)
        if metric in ("statements", "words", "repetition")
    }
    debates = predictions["case_id"] + "#" + predictions["repeat"].astype(str)
    measures["completion_tokens_per_case"] = predictions.set_index(debates)["completion_tokens"]
    return pd.DataFrame(measures).rename(columns=MEASURES).astype("float64")


@table(STUDY, "coverage", "Which clusters the debates reach")
def coverage_table(results: StudyResults) -> TableContent:
    """Share of conferences whose participants reach each cluster on the first topic, by lexicon and
    by a model's coding.
    """
    rows = []
    for condition in list_conditions(results):
        for metric, group, score in condition.scores(("reached_by_lexicon", "reached_by_coder")):
            coded_by, cluster = metric.rpartition("_")[2], group.partition("=")[2]
            rows.append({"model": (*condition.names, coded_by, cluster), **_score_cells(score)})
        for metric, title in {
            "coding_agreement": "share of equal codings",
            "coding_kappa": "Cohen's kappa",
        }.items():
            rows.append(
                {
                    "model": (*condition.names, "lexicon and coder", title),
                    **_score_cells(condition.measurement(metric)),
                }
            )
    note = (
        "A cluster counts as reached when participants use a word of its lexicon, or when the coder"
        " says so. In the paper's two debates the public cluster was missed without the judge and"
        " reached with it."
    )
    return _plain_table(rows, ("model", "condition", "coded by", "cluster"), [note, BY_DEBATE_NOTE])


@table(STUDY, "evaluator_scores", "The evaluator's ten criteria")
def evaluator_scores(results: StudyResults) -> TableContent:
    """Scores from 1 to 10 of the participants' debate, by criterion, with and without a judge."""
    rows = []
    for condition in list_conditions(results):
        for _, group, score in condition.scores(["evaluation"]):
            criterion = group.partition("=")[2].replace("_", " ") or "mean of all"
            rows.append({"model": (*condition.names, criterion), **_score_cells(score)})
    notes = ["n counts topics; the paper lists the criteria and gives no scores.", BY_DEBATE_NOTE]
    return _plain_table(rows, ("model", "condition", "criterion"), notes)


def _score_cells(score: Measurement) -> Fields:
    return {"ours": score.interval, "cases": score.counts}


def _plain_table(rows: Sequence[Fields], keys: tuple[str, ...], notes: list[str]) -> TableContent:
    """A table without published counterpart."""
    return (
        Columns()
        .keys(*keys[:-1])
        .plain(keys[-1])
        .estimate("ours")
        .counts(*COUNT_COLUMNS)
        .table(rows, notes)
    )
