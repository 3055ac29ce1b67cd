"""Tables of the decision conference.

The grades of the judge's decisions reproduce Table 5 of the paper. The other tables have no
counterpart there: the judge on statements whose agreement is known, the grader's reliability,
coverage and course of the debate with and without a judge, and the evaluator's scores.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

from moot.core.cases import REFERENCE_MODELS
from moot.core.types import Fields, JsonObject
from moot.report import table
from moot.report.columns import SIGNED, Columns
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED, Measurement
from moot.report.needs import has_baselines, has_debates
from moot.report.notes import data_label
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
from moot.report.study_results import Run, StudyResults
from moot.scores import INVALID_WRONG
from moot.stats.agreement import rank_correlation
from moot.studies.conference.conditions import (
    AGREEMENT_PROTOCOL,
    CONFERENCE_PROTOCOL,
    GRADING_PROTOCOL,
    JUDGING_PROTOCOL,
    STUDY,
    WITH_JUDGE,
    WITHOUT_JUDGE,
    Condition,
    estimate_difference,
    list_conditions,
    list_graded_runs,
    name_participants,
    pair_conditions,
)
from moot.studies.conference.scores_conference import (
    TITLES,
    count_clusters,
    measure_course,
    measure_coverage,
)

DECISIONS_IN_TABLE = 5
OBJECTIVE_MEASURES = {"accuracy": ("accuracy", ""), "F1, macro": ("f1", "macro")}
COVERAGE_CONDITIONS = {
    "clusters_covered_with_judge": WITH_JUDGE,
    "clusters_covered_without_judge": WITHOUT_JUDGE,
}
"""The condition of each published coverage."""
DESIGNS_NOTE = (
    "The paper tests judges and does not name the model of its participants. With the protocol "
    "`judging` every judge decides on the same exchanges, held by the participants in the "
    "column; published values are shown next to these runs. In a `conference` the judge's model "
    "takes every seat, so a grade also depends on how the model argues. This is another reading "
    "of the paper, without published values next to it."
)
BY_DEBATE_NOTE = "Intervals are by debate: a conference is one case, debated many times."


@table(STUDY, "table5_agreement_detection", "Table 5: grades of the judge's decisions")
def agreement_detection(results: StudyResults) -> TableContent:
    """Grades of five decisions of each judge by a second model: published and ours."""
    name = "table5_agreement_detection"
    runs = list_graded_runs(results)
    rows = []
    for (judge, column), value in unrepeated_values(results, name).items():
        keys = {"judge": judge, "participants": "", "experiment": ""}
        keys["decision"] = column.removeprefix("debate")
        rows.append(comparison_row(keys, value, NOT_MEASURED))
    for run in runs:
        published = repeated_values(run, name)
        for number in [*range(1, DECISIONS_IN_TABLE + 1), 0]:
            group, column = (
                (f"decision={number}", f"debate{number}") if number else ("overall", "overall")
            )
            our_value = run.measurement("grade", group=group)
            keys = {
                "judge": run.model,
                "participants": name_participants(run),
                "experiment": run.experiment,
                "decision": str(number or "overall"),
            }
            rows.append(comparison_row(keys, published.get((run.model, column)), our_value))
    graders = sorted({_grader_of(run, f"{run.model} itself") for run in runs})
    note = (
        "Single-answer grading from 0 to 10 (the paper's text says zero to ten, its table one to"
        " ten). Published grades are by GPT-4, ours by"
        f" {', '.join(graders) or 'no model yet'}; a model that grades itself is marked as such."
        " The grader sees each decision with the exchange on its topic only. Decisions are numbered"
        " within each conference."
    )
    keys_of_rows = ("judge", "participants", "experiment", "decision")
    return comparison_table(rows, keys_of_rows, [note, DESIGNS_NOTE, BY_DEBATE_NOTE])


def _grader_of(run: Run, default: str) -> str:
    return str(run.params.get("seats", {}).get("grader", default))


@table(STUDY, "objective_and_grades", "Known agreement against grades, by rank")
def objective_and_grades(results: StudyResults) -> TableContent:
    """Rank correlation, over models, of the judge's scores on statements whose agreement is known
    and the grades of its decisions.
    """
    graded_runs: dict[str, dict[str, Run]] = {}
    for run in list_graded_runs(results):
        graded_runs.setdefault(run.experiment, {})[run.model] = run
    known_runs: dict[str, dict[str, Run]] = {}
    for run in results.runs(results.find_experiments(AGREEMENT_PROTOCOL), Run):
        known_runs.setdefault(run.experiment, {})[run.model] = run
    rows = []
    for (known_name, known), (graded_name, graded) in product(
        known_runs.items(), graded_runs.items()
    ):
        for title, (metric, average) in OBJECTIVE_MEASURES.items():
            pairs = []
            for model in known.keys() & graded.keys():
                objective = known[model].measurement(metric, average).value
                grade = graded[model].measurement("grade").value
                if pd.notna(objective) and pd.notna(grade):
                    pairs.append((objective, grade))
            keys = {"known agreement": known_name, "grades": graded_name, "measure": title}
            rows.append(keys | {"rank correlation": rank_correlation(pairs), "models": len(pairs)})
    columns = Columns().keys("known agreement", "grades").plain("measure")
    note = (
        "Spearman's correlation over the models of both experiments; it needs three models. The "
        "judge answers the same prompt in both. The paper states in words that models with good "
        "results in the objective test also get good grades (section 5.2.1). Its objective test "
        "is stance detection; the correlations of its own tables are among the findings on Table "
        "5."
    )
    return columns.ours("rank correlation", digits=SIGNED).counts("models").table(rows, [note])


@table(STUDY, "grader_reliability", "Can the grades be trusted?")
def grader_reliability(results: StudyResults) -> TableContent:
    """The grader's reliability: the same decision graded twice, and wrong decisions graded."""
    measures = {
        "grade": "mean grade of the decision (on known pairs: of the right one)",
        "grade_reversed": "mean grade of the opposite (on known pairs: of the planted wrong one)",
        "grade_margin": "mean of the first minus the second",
        "graded_above_reversed": "share graded above its opposite (ties count half)",
        "regrade_difference": "mean distance between two grades of the same decision",
        "regrade_correlation": "correlation of two grades of the same decision",
    }
    rows = []
    experiments = results.find_experiments(CONFERENCE_PROTOCOL, JUDGING_PROTOCOL, GRADING_PROTOCOL)
    for run, (metric, title) in product(results.runs(experiments, Run), measures.items()):
        score = run.measurement(metric)
        if pd.notna(score.value):
            keys = {
                "run": run.experiment,
                "grader": _grader_of(run, run.model),
                "measure": title,
            }
            rows.append(keys | _score_cells(score))
    notes = [
        (
            "In a conference the opposite of a decision may be right; on the pairs of the data set"
            " agreement it is known to be wrong. A grader that guesses has a margin near 0 and"
            " grades a decision above its opposite in half of the cases."
        ),
        "The paper graded every decision once and planted no wrong decisions.",
    ]
    return _plain_table(rows, ("run", "grader", "measure"), notes)


@table(
    STUDY,
    "judge_on_known_agreement",
    "The judge on cases with known truth",
    needs=(has_debates, has_baselines),
)
def judge_on_known_agreement(results: StudyResults) -> TableContent:
    """The judge of agreement on groups of claims with known stances, and its published grades."""
    measures = {
        "accuracy": ("accuracy", ""),
        "accuracy, invalid = wrong": (f"accuracy{INVALID_WRONG}", ""),
        "F1, macro": ("f1", "macro"),
        "F1, agreement": ("f1", "binary"),
        "AUC": ("auc", ""),
        "ends too early (of groups that disagree)": ("ends_too_early", ""),
        "goes on too long (of groups that agree)": ("goes_on_too_long", ""),
    }
    rows: list[Fields] = []
    published = published_values(results, "table5_agreement_detection")
    for (judge, metric), value in published.items():
        if metric == "overall":
            keys = _judge_keys(judge, "", "", "mean grade by GPT-4, 0 to 10")
            rows.append(comparison_row(keys, value, NOT_MEASURED))
    for experiment in results.find_experiments(AGREEMENT_PROTOCOL):
        for model in (*experiment.config.models, *REFERENCE_MODELS):
            run = Run(experiment, model, results)
            answer = "reference" if model in REFERENCE_MODELS else run.params["answer"]
            for title, (metric, average) in measures.items():
                score = run.measurement(metric, average)
                if score is not NOT_MEASURED:
                    keys = _judge_keys(model, answer, run.data, title)
                    rows.append(comparison_row(keys, None, score))
    rows += _trained_rows(results)
    note = (
        "The positive label is agreement: all claims of a group take the same side of the motion. A"
        " debate that ends too early loses arguments; one that goes on too long costs rounds. An"
        " unusable answer counts as more debate. The published grades are subjective and of other"
        " debates, so their difference from these measures has no meaning."
    )
    return comparison_table(rows, ("judge", "answer", "data", "measure"), [note])


def _judge_keys(judge: str, answer: str, data: str, measure: str) -> Fields:
    return {"judge": judge, "answer": answer, "data": data, "measure": measure}


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
                keys = _judge_keys(row["title"], "trained", label, measure)
                yield comparison_row(keys, None, trained_score(row, metric))


@table(STUDY, "with_and_without_judge", "The conference with and without a judge")
def with_and_without_judge(results: StudyResults) -> TableContent:
    """The measures of conferences with and without a judge of agreement."""
    rows = []
    for (_, metric), value in unrepeated_values(results, "text_coverage").items():
        if metric in COVERAGE_CONDITIONS:
            keys = {
                "model": "not named",
                "condition": COVERAGE_CONDITIONS[metric],
                "data": "",
                "measure": TITLES["clusters_by_lexicon"],
            }
            rows.append(comparison_row(keys, value, NOT_MEASURED))
    for condition in list_conditions(results):
        published = {
            COVERAGE_CONDITIONS.get(metric): value
            for (_, metric), value in repeated_values(condition, "text_coverage").items()
        }
        for metric, title in TITLES.items():
            score = condition.measurement(metric)
            published_value = (
                published.get(condition.name) if metric == "clusters_by_lexicon" else None
            )
            if pd.notna(score.value) or published_value is not None:
                keys = {**_condition_keys(condition), "data": condition.data, "measure": title}
                rows.append(comparison_row(keys, published_value, score))
    notes = [
        "Published coverage is from one debate with and one without a judge, coded by hand. "
        "The paper does not name the model of the participants, so it is shown next to each "
        f"model's coverage. {BY_DEBATE_NOTE} Tokens and calls are scored by case, so they have no "
        "interval if there is one case.",
        "Without a judge the moderator takes the same decision; nothing else differs.",
        (
            "A decision that cannot be read counts as unusable. The debate then goes on as after"
            " MORE DEBATE, and a topic whose last decision is unusable is left open."
        ),
    ]
    return comparison_table(rows, ("model", "condition", "data", "measure"), notes)


@table(STUDY, "judge_difference", "What the judge changes")
def judge_difference(results: StudyResults) -> TableContent:
    """Differences between conferences that differ only in the presence of a judge."""
    rows = []
    for with_judge, without_judge in pair_conditions(results):
        first_measures = measure_debates(with_judge)
        second_measures = measure_debates(without_judge)
        for measure in first_measures.columns.intersection(second_measures.columns):
            first_values = first_measures[measure].dropna()
            second_values = second_measures[measure].dropna()
            rows.append(
                {
                    "model": with_judge.model,
                    "data": with_judge.data,
                    "measure": measure,
                    "with judge": first_values.mean(),
                    "without judge": second_values.mean(),
                    "difference": estimate_difference(
                        first_values, second_values, with_judge.results.seed
                    ),
                    "debates with": len(first_values),
                    "debates without": len(second_values),
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
    """Return the measures of each debate: one row a debate (by id), one column a measure."""
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
    return pd.DataFrame(measures).rename(columns=TITLES).astype("float64")


@table(STUDY, "coverage", "Which clusters the debates reach")
def coverage_table(results: StudyResults) -> TableContent:
    """Share of conferences whose participants reach each cluster on the first topic, by lexicon and
    by a model's coding.
    """
    rows = []
    for condition in list_conditions(results):
        for metric, group, score in condition.scores(("reached_by_lexicon", "reached_by_coder")):
            coded_by, cluster = metric.rpartition("_")[2], group.partition("=")[2]
            rows.append(_coverage_row(condition, coded_by, cluster, score))
        for metric, title in AGREEMENT_OF_CODINGS.items():
            score = condition.measurement(metric)
            rows.append(_coverage_row(condition, "lexicon and coder", title, score))
    note = (
        "A cluster is reached if participants use a word of its lexicon, or if the coder says so."
        " In"
        " the paper's two debates the public cluster was missed without the judge and reached with"
        " the judge."
    )
    return _plain_table(rows, ("model", "condition", "coded by", "cluster"), [note, BY_DEBATE_NOTE])


AGREEMENT_OF_CODINGS = {
    "coding_agreement": "share of equal codings",
    "coding_kappa": "Cohen's kappa",
}


def _coverage_row(condition: Condition, coded_by: str, cluster: str, score: Measurement) -> Fields:
    keys = {**_condition_keys(condition), "coded by": coded_by, "cluster": cluster}
    return keys | _score_cells(score)


@table(STUDY, "evaluator_scores", "The evaluator's ten criteria")
def evaluator_scores(results: StudyResults) -> TableContent:
    """Scores from 1 to 10 of the participants' debate, by criterion, with and without a judge."""
    rows = []
    for condition in list_conditions(results):
        for _, group, score in condition.scores(["evaluation"]):
            criterion = group.partition("=")[2].replace("_", " ") or "mean of all"
            keys = {**_condition_keys(condition), "criterion": criterion}
            rows.append(keys | _score_cells(score))
    notes = ["n counts topics; the paper lists the criteria and gives no scores.", BY_DEBATE_NOTE]
    return _plain_table(rows, ("model", "condition", "criterion"), notes)


def _condition_keys(condition: Condition) -> JsonObject:
    return {"model": condition.model, "condition": condition.name}


def _score_cells(score: Measurement) -> JsonObject:
    return {"ours": score.interval, "cases": score.counts}


def _plain_table(rows: Sequence[Fields], keys: tuple[str, ...], notes: list[str]) -> TableContent:
    """Return a table without published values."""
    return (
        Columns()
        .keys(*keys[:-1])
        .plain(keys[-1])
        .estimate("ours")
        .counts(*COUNT_COLUMNS)
        .table(rows, notes)
    )
