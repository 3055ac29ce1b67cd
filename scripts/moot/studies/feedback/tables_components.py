"""The paper's Table 5, the sweep of T, the assistant's quality, and what each component adds."""

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED, Measurement
from moot.report.paired_cells import PAIRED_NOTE
from moot.report.published import (
    COUNT_COLUMNS,
    INVALID_NOTE,
    comparison_row,
    comparison_table,
    published_values,
    repeated_values,
    unrepeated_values,
)
from moot.report.study_results import StudyResults
from moot.scores.score import OVERALL
from moot.stats.arrays import as_numbers
from moot.stats.paired import compare, holm
from moot.stats.statistic import share_statistic
from moot.studies.feedback.runs import (
    ASSISTED,
    DEBATE,
    SINGLE,
    STUDY,
    Run,
    components,
    list_runs,
    pairs,
)
from moot.studies.feedback.scores import WEIGHTS

TABLE5 = "table5_smoothing"


@table(STUDY, TABLE5, "Table 5: corrections and degradations with and without smoothing")
def smoothing(results: StudyResults) -> TableContent:
    """How often the debate corrects a wrong first prediction, and how often it spoils a right one,
    as shares of all cases: published (paper, Table 5), ours, their difference.
    """
    published = published_values(results, TABLE5)
    total = max((value.n for value in published.values()), default=1.0)
    rows = [
        comparison_row(
            {"method": (SINGLE, "", "caselaw", name.replace("_", " "), _heading(metric))},
            value if metric == "accuracy" else value.as_share_of(total),
            NOT_MEASURED,
        )
        for (name, metric), value in unrepeated_values(results, TABLE5).items()
    ]
    for run in list_runs(results, DEBATE):
        theirs_of_run = repeated_values(run, TABLE5)
        for name, group in (("without_smoothing", "T=1"), ("with_smoothing", OVERALL)):
            for metric in ("corrections", "degradations", "accuracy"):
                is_count = metric != "accuracy"
                theirs = theirs_of_run.get((name, metric))
                theirs = theirs.as_share_of(total) if theirs is not None and is_count else theirs
                ours = _share(run, metric if is_count else "accuracy_final", group, is_count)
                keys = {
                    "method": (
                        run.method,
                        run.model,
                        run.data,
                        name.replace("_", " "),
                        _heading(metric),
                    )
                }
                rows.append(comparison_row(keys, theirs, ours))
    notes = [
        (
            "Published counts are divided by the paper's number of cases. With smoothing is the T"
            " that the experiment ran with; without is T = 1 on the same debates."
        ),
    ]
    return comparison_table(rows, ("method", "model", "data", "smoothing", "metric"), notes)


def _heading(metric: str) -> str:
    return metric if metric == "accuracy" else f"{metric}, share of cases"


def _share(run: Run, metric: str, group: str, is_count: bool) -> Measurement:
    score = run.measurement(metric, group=group)
    total = max(score.n, 1) if is_count else 1
    return Measurement(
        score.value / total,
        score.low / total,
        score.high / total,
        score.n,
        score.n_invalid,
        score.n_cases,
    )


@table(STUDY, "sweep_of_weight", "The weight T")
def weights(results: StudyResults) -> TableContent:
    """Corrections, degradations and accuracy for every T, from the same debates: the judge's
    replies do not depend on T.
    """
    rows = []
    for run in list_runs(results, DEBATE):
        for weight in WEIGHTS:
            measurements = {
                metric: run.measurement(metric, group=f"T={weight:g}")
                for metric in ("accuracy_final", "corrections", "degradations")
            }
            accuracy = measurements["accuracy_final"]
            changes = (measurements["corrections"].value, measurements["degradations"].value)
            keys = (run.method, run.model, run.data, weight)
            rows.append(
                {
                    "method": keys,
                    "accuracy": accuracy.interval,
                    "corrections": changes,
                    "cases": accuracy.counts,
                }
            )
    return _SWEEP.table(
        rows,
        [
            (
                "At T = 0 the judge's first prediction counts; T = 1 means no smoothing. Where"
                " thresholds of likelihood answers are fitted, each T has its own, fitted on"
                " validation cases."
            ),
            INVALID_NOTE,
        ],
    )


_SWEEP = (
    Columns()
    .keys("method", "model", "data")
    .plain("T", digits=".1f")
    .estimate("accuracy")
    .ours("corrections", "degradations", digits=".0f")
    .counts(*COUNT_COLUMNS)
    .short_form(
        "method", "model", "data", "T", "accuracy", "95 % interval", "corrections", "degradations"
    )
)


# The assistant and the other components


@table(STUDY, "assistant", "The reliability assistant")
def assistant(results: StudyResults) -> TableContent:
    """How well the assistant distinguishes right opinions from wrong ones over the evaluated cases,
    on which it was not trained.
    """
    metrics = {
        "assistant_auc": "AUC",
        "assistant_brier": "Brier score",
        "assistant_expected_calibration_error": "expected calibration error",
        "share_of_rounds_above_threshold": "share of rounds above threshold",
        "share_of_opinions_without_position": "share of opinions without a position",
    }
    rows = []
    for run in (run for run in list_runs(results, DEBATE) if run.method == ASSISTED):
        trained_on, features = (run.params[name] for name in ("assistant", "assistant_features"))
        for metric, heading in metrics.items():
            value = run.measurement(metric)
            if value is not NOT_MEASURED:
                cells = (
                    trained_on,
                    features,
                    run.model,
                    run.data,
                    heading,
                    *value.interval,
                    int(value.n),
                )
                rows.append({"trained on": cells})
    columns = (
        Columns().keys("trained on", "features", "model", "data").plain("metric").estimate("ours")
    )
    columns = columns.plain("opinions or rounds")
    notes = [
        "An opinion is right if its position is the case's label. A constant guess has AUC 0.5, and"
        " with as many right as wrong opinions a Brier score of 0.25. The paper reports no quality"
        " of its assistant.",
        "An opinion from which no single position can be read has no reliability, and in training"
        " it teaches nothing.",
        "The paper's assistant is a pre-trained model. `tfidf` is moot's light default;"
        " `transformer` is a pre-trained model that is fine-tuned.",
    ]
    return columns.table(rows, notes)


@table(STUDY, "components", "What each component adds")
def component_table(results: StudyResults) -> TableContent:
    """Accuracy of the judge alone, and with debate, smoothing and assistant added, on the same
    cases. The paper leaves this open (its Limitation b).
    """
    rows: list[Fields] = []
    for single, assisted in pairs(results):
        stages = list(components(single, assisted))
        judge_alone = stages[0][1]
        sample, clusters = (
            single.results.sample(judge_alone.index),
            [single.results.clusters[case] for case in judge_alone.index],
        )
        shares = [as_numbers(is_right) for _, is_right in stages]
        comparisons = [compare(share, shares[0], clusters, single.results.seed) for share in shares]
        adjusted = [float("nan"), *holm([test.p for test in comparisons[1:]])]
        for place, ((name, is_right), test) in enumerate(zip(stages, comparisons, strict=True)):
            estimate = sample.bootstrap.estimate(share_statistic(is_right))
            row = {
                "model": (single.model, single.data, name),
                "accuracy": estimate,
                "n": len(judge_alone),
            }
            if place:
                row["difference"] = (test.difference, test.low, test.high, test.p, adjusted[place])
            rows.append(row)
    columns = Columns().keys("model", "data").plain("variant").estimate("accuracy")
    columns = columns.estimate("difference", "difference", "of difference", DIFFERENCE, SIGNED)
    columns = columns.plain("p", "p (Holm)").counts("n")
    short_columns = (
        "variant",
        "accuracy",
        "95 % interval",
        "difference",
        "of difference",
        "p (Holm)",
    )
    return columns.short_form("model", "data", *short_columns).table(
        rows,
        [
            "A debate without a valid answer counts as wrong. Differences are from the judge"
            f" alone, by case. {PAIRED_NOTE}"
        ],
        exploratory=True,
    )
