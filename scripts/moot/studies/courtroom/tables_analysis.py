"""All runs at a glance, and the paper's claims on stability across models and on cost."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from moot.core.types import Column, Fields
from moot.report import table
from moot.report.columns import PUBLISHED, Columns
from moot.report.content import TableContent
from moot.report.published import (
    COUNT_COLUMNS,
    DIFFERENCE_COLUMNS,
    Published,
    Values,
    difference_cells,
    published_values,
    repeated_values,
)
from moot.report.study_results import StudyResults, reference_runs
from moot.scores import INVALID_WRONG
from moot.stats.statistic import AMOUNT, ratio_statistic
from moot.studies.courtroom.runs import (
    DEBATE,
    METHODS,
    PROMPTS,
    PUBLISHED_PROMPTS,
    STUDY,
    Run,
    comparable_pairs,
    list_runs,
    published_pairs,
)

MIN_MODELS_FOR_SPREAD = 2
MIN_MODELS_FOR_CORRELATION = 3


@table(STUDY, "summary", "All runs at a glance")
def summary(results: StudyResults) -> TableContent:
    """Accuracy, F1, calibration and cost of every experiment and model, with the references."""
    runs = list_runs(results)
    rows = [_summary_row(run) for run in [*runs, *reference_runs(runs)]]
    return _SUMMARY.table(rows, _SUMMARY_NOTES)


def _summary_row(run: Run) -> Fields:
    accuracy = run.measurement("accuracy")
    strict = accuracy if run.method == "reference" else run.measurement("accuracy" + INVALID_WRONG)
    without_retries = run.measurement("accuracy", group="retries=0")
    answers = accuracy.n + accuracy.n_invalid
    row: dict[str, object] = {
        **run.row_keys,
        "accuracy": accuracy.interval,
        "accuracy, invalid = wrong": strict.value,
        "valid answers": accuracy.n / answers if answers else np.nan,
        "cases": accuracy.counts,
        "accuracy, no retries": without_retries.value,
        "n, no retries": without_retries.n,
    }
    for heading, (metric, average) in _SUMMARY_METRICS.items():
        row[heading] = run.measurement(metric, average).value
    return row


_SUMMARY_NOTES = (
    (
        "`n` counts debates (or answers), and `cases` counts their cases. Answers without a usable"
        " prediction are left out and counted in `n invalid`; `valid answers` is the share of the"
        " usable ones. The expected calibration error has ten bins of equal width. Brier score and"
        " AUC use the stated confidence, or the probability if answers are likelihoods. References:"
        " the most frequent class, and a coin with the base rate."
    ),
    "`No retries` leaves out debates with a repeated call. A dash means that there were none.",
)
_SUMMARY_METRICS = {
    "F1, binary": ("f1", "binary"),
    "F1, macro": ("f1", "macro"),
    "F1, weighted": ("f1", "weighted"),
    "AUC": ("auc", ""),
    "Brier": ("brier", ""),
    "calibration error": ("expected_calibration_error", ""),
    "calls a case": ("calls_per_case", ""),
    "tokens a case": ("tokens_per_case", ""),
    "seconds a case": ("seconds_per_case", ""),
}
_SUMMARY = (
    Columns()
    .keys("method")
    .plain("model", "experiment", "data")
    .estimate("accuracy")
    .ours("accuracy, invalid = wrong", "valid answers", *list(_SUMMARY_METRICS)[:6])
    .ours("calls a case", digits=".1f")
    .ours("tokens a case", digits=".0f")
    .ours("seconds a case", digits=".1f")
    .counts(*COUNT_COLUMNS)
    .plain("accuracy, no retries")
    .plain("n, no retries", digits="d")
    .short_form(
        "method",
        "model",
        "experiment",
        "accuracy",
        "95 % interval",
        "valid answers",
        "F1, binary",
        "calls a case",
    )
)


@table(STUDY, "stability", "Stability across models")
def stability(results: StudyResults) -> TableContent:
    """Spread of F1 across models, and correlation of accuracy and F1: published and ours."""
    claims = published_values(results, "text_cost")
    rows: list[Fields] = []
    for method in (*PUBLISHED_PROMPTS, DEBATE):
        claimed_spread = claims.get((method, "f1_std_across_models"), np.nan)
        spread = _compare_statistic(results, method, _f1_spread)
        correlation = _compare_statistic(results, method, _correlation)
        keys = {"method": METHODS[method]}
        rows.append({**keys, "statistic": _SPREAD, "stated in the paper": claimed_spread, **spread})
        rows.append(
            {**keys, "statistic": _CORRELATION, "stated in the paper": np.nan, **correlation}
        )
    return _STABILITY.table(rows, _STABILITY_NOTES)


_SPREAD = "standard deviation of F1 across models"
_CORRELATION = "correlation of accuracy and F1 (Pearson)"
_STABILITY = (
    Columns()
    .keys("method")
    .plain("statistic")
    .published("stated in the paper", "published")
    .ours("ours")
    .difference(*DIFFERENCE_COLUMNS)
    .plain("models (published)", "models (ours)")
    .short_form(
        "method", "statistic", "stated in the paper", "published", "ours", *DIFFERENCE_COLUMNS
    )
)
_STABILITY_NOTES = (
    (
        "`published` is computed here from Tables 4 and 5 of the paper, which show few of its"
        " models; `stated in the paper` is the value of its text. `ours` covers every model that"
        " was run on the paper's data with its settings. The difference covers the paper's models"
        " and needs a run of each of them. Our F1 is binary. The spread is the sample standard"
        " deviation and needs two models; the correlation needs three. With so few models neither"
        " separates the methods."
    ),
    (
        "Appendix D of the paper puts the F1 of single prompts between 0.09 and 0.58, below values"
        " of its own Table 4."
    ),
)


def _compare_statistic(
    results: StudyResults,
    protocol: str,
    statistic: Callable[[Sequence[tuple[float, float]]], float],
) -> Fields:
    """Return a statistic over the published models and over ours, and their difference."""
    published, ours = published_pairs(results, protocol), comparable_pairs(results, protocol)
    has_all_models = set(published) <= set(ours)
    published_value = Published.of(
        statistic(list(published.values())), our_wording=_has_our_wording(results, protocol)
    )
    same_models = statistic([ours[model] for model in published]) if has_all_models else np.nan
    return {
        "published": published_value,
        "ours": statistic(list(ours.values())),
        **difference_cells(same_models, published_value),
        "models (published)": len(published),
        "models (ours)": len(ours),
    }


def _has_our_wording(results: StudyResults, protocol: str) -> bool:
    """Tell whether the prompts of any comparable experiment differ in wording from the paper's."""
    return any(
        run.paper_match.repeated_but_model and run.paper_match.our_wording
        for run in list_runs(results, protocol)
    )


def _f1_spread(pairs: Sequence[tuple[float, float]]) -> float:
    return (
        float(np.std([f1 for _, f1 in pairs], ddof=1))
        if len(pairs) >= MIN_MODELS_FOR_SPREAD
        else np.nan
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    accuracy, f1 = np.array(pairs).T if pairs else (np.array([]), np.array([]))
    if len(pairs) < MIN_MODELS_FOR_CORRELATION or not np.ptp(accuracy) or not np.ptp(f1):
        return float("nan")
    return float(np.corrcoef(accuracy, f1)[0, 1])


@table(STUDY, "cost_ratios", "The cost of a debate relative to a single prompt", protocols=PROMPTS)
def cost_ratios(results: StudyResults) -> TableContent:
    """Tokens, seconds and calls of a debate as multiples of a single prompt, published and ours."""
    claims = published_values(results, "text_cost")
    rows: list[Fields] = []
    for debate in list_runs(results, DEBATE):
        for prompt in list_runs(results, *PROMPTS):
            if _is_same_setup(debate, prompt):
                rows += _cost_rows(debate, prompt, claims)
    tokens = claims.get((DEBATE, "total_tokens_per_case"), np.nan)
    cot_low = claims.get(("cot", "total_tokens_per_case_low"), np.nan)
    cot_low_elsewhere = claims.get(("cot", "total_tokens_per_case_low_elsewhere"), np.nan)
    cot_high = claims.get(("cot", "total_tokens_per_case_high"), np.nan)
    notes = [
        (
            "Ratio of means over the n cases that both argued. Tokens are prompt and generated"
            " tokens, including those served from a cache. Seconds are the sum over the calls, as"
            " measured when they were made."
        ),
        (
            f"The paper's debate takes {tokens:.0f} tokens per case, its chain of thought"
            f" {cot_low:.0f} to {cot_high:.0f} (in another section {cot_low_elsewhere:.0f} to"
            f" {cot_high:.0f}). Its ratios are relative to chain of thought:"
            f" {_claimed_range(claims, 'token_ratio')} times the tokens,"
            f" {_claimed_range(claims, 'wall_clock_ratio')} times the seconds. They are shown next"
            " to ours if both experiments repeat the paper's."
        ),
    ]
    return _COST_RATIOS.table(rows, notes)


def _is_same_setup(debate: Run, prompt: Run) -> bool:
    """Tell whether two runs share model and data set."""
    datasets = debate.results.config.dataset, prompt.results.config.dataset
    return debate.model == prompt.model and datasets[0] == datasets[1]


_PUBLISHED_RATIOS = {"tokens": "token_ratio", "seconds": "wall_clock_ratio"}


def _cost_rows(debate: Run, prompt: Run, claims: Values) -> Iterator[Fields]:
    """Yield a row for each quantity; a published range is shown if both runs repeat the paper."""
    is_repeated = bool(
        repeated_values(debate, "text_cost") and repeated_values(prompt, "text_cost")
    )
    comparison = f"{DEBATE}/{prompt.results.config.protocol}"
    for quantity in ("tokens", "seconds", "calls"):
        ratio = _PUBLISHED_RATIOS.get(quantity, "")
        published = claims if is_repeated else {}
        estimate, count = _estimate_ratio(debate, prompt, quantity)
        yield {
            "debate": debate.experiment,
            "prompt": prompt.experiment,
            "model": debate.model,
            "data": debate.data,
            "quantity": f"{quantity}, debate / prompt",
            "published low": published.get((comparison, f"{ratio}_low"), np.nan),
            "published high": published.get((comparison, f"{ratio}_high"), np.nan),
            "ours": estimate,
            "n": count,
        }


_COST_RATIOS = (
    Columns()
    .keys("debate", "prompt", "model", "data")
    .plain("quantity")
    .interval("published", "published range", PUBLISHED, digits=".0f")
    .ours("ours", digits=".2f")
    .interval(digits=".2f")
    .plain("n")
    .short_form(
        "debate", "prompt", "model", "quantity", "published range", "ours", "95 % interval", "n"
    )
)


def _claimed_range(claims: Values, name: str) -> str:
    low = claims.get((f"{DEBATE}/cot", f"{name}_low"), np.nan)
    high = claims.get((f"{DEBATE}/cot", f"{name}_high"), np.nan)
    return f"{low:.0f} to {high:.0f}"


def _estimate_ratio(
    debate: Run, prompt: Run, quantity: str
) -> tuple[tuple[float, float, float], int]:
    """Estimate the ratio of the mean quantity per case, with its interval and the number of cases.

    Only the cases that both runs argued count.
    """
    debate_means, prompt_means = _means_by_case(debate, quantity), _means_by_case(prompt, quantity)
    cases = debate_means.index.intersection(prompt_means.index).sort_values()
    statistic = ratio_statistic(
        debate_means[cases].to_numpy(dtype=np.float64),
        prompt_means[cases].to_numpy(dtype=np.float64),
        AMOUNT,
    )
    return debate.results.sample(cases).bootstrap.estimate(statistic), len(cases)


def _means_by_case(run: Run, quantity: str) -> Column:
    tokens = run.predictions["prompt_tokens"] + run.predictions["completion_tokens"]
    return run.predictions.assign(tokens=tokens).groupby("case_id")[quantity].mean()
