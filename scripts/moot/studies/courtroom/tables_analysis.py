"""What the paper claims in its text, and what rests on it: all runs, stability, cost."""

from collections.abc import Mapping, Sequence

import numpy as np

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import PUBLISHED, Columns
from moot.report.content import StudyResults, TableContent, reference_runs
from moot.report.published import (
    COUNTS,
    DIFFERENCES,
    Published,
    beside,
    differences,
    published_table,
)
from moot.scores import INVALID_WRONG
from moot.stats.bootstrap import AMOUNT, ratio_statistic
from moot.studies.courtroom.runs import (
    DEBATE,
    METHODS,
    PROMPTS,
    PUBLISHED_PROMPTS,
    STUDY,
    Run,
    list_runs,
    published_pairs,
)

MIN_MODELS_FOR_SPREAD = 2
MIN_MODELS_FOR_CORRELATION = 3


@table(STUDY, "summary", "All runs at a glance")
def summary(results: StudyResults) -> TableContent:
    """Accuracy, F1 and calibration of every experiment and model of the study, with the references."""
    runs = list_runs(results)
    rows = []
    for run in [*runs, *reference_runs(runs)]:
        accuracy, strict = run.measured("accuracy"), run.measured("accuracy" + INVALID_WRONG)
        answers = accuracy.n + accuracy.n_invalid
        without_retries = run.measured("accuracy", group="retries=0")
        other_scores = (run.measured(*metric).value for metric in _SUMMARY_METRICS.values())
        rows.append(
            {
                "method": run.names,
                "accuracy": accuracy.interval,
                "accuracy, invalid = wrong": (
                    accuracy.value if run.method == "reference" else strict.value
                ),
                "valid answers": (accuracy.n / answers if answers else np.nan, *other_scores),
                "cases": accuracy.counts,
                "accuracy, no retries": (without_retries.value, without_retries.n),
            }
        )
    return _SUMMARY.table(
        rows,
        [
            (
                "`n` counts debates (or answers), `cases` the cases that they are about. Answers"
                " without a usable prediction are left out and counted in `n invalid`; `valid"
                " answers` is the share of the others. The expected calibration error has ten bins"
                " of equal width; Brier score and AUC are of the stated confidence, or of the"
                " probability where answers are likelihoods. References: most frequent class, and a"
                " base-rate coin."
            ),
            (
                "`No retries` leaves out debates in which a call had to be repeated; a dash says"
                " that there were none."
            ),
        ],
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
    .counts(*COUNTS)
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
    """Spread of F1 across models, and correlation of accuracy and F1, by method: published and
    ours.
    """
    claims = published_table(results, "text_cost")
    rows = []
    for method in (*PUBLISHED_PROMPTS, DEBATE):
        pairs, ours = published_pairs(results, method), _our_pairs(results, method)
        same_models = set(pairs) <= set(ours)
        statistics = {
            "standard deviation of F1 across models": (
                _f1_spread,
                claims.get((method, "f1_std_across_models")),
            ),
            "correlation of accuracy and F1 (Pearson)": (_correlation, None),
        }
        for name, (statistic, claimed) in statistics.items():
            published_value = Published.of(
                statistic(list(pairs.values())), our_wording=_has_our_wording(results, method)
            )
            rows.append(
                {
                    "method": METHODS[method],
                    "statistic": name,
                    "stated in the paper": np.nan if claimed is None else claimed,
                    "published": published_value,
                    "ours": statistic(list(ours.values())),
                    **differences(
                        statistic([ours[model] for model in pairs]) if same_models else np.nan,
                        published_value,
                    ),
                    "models (published)": len(pairs),
                    "models (ours)": len(ours),
                }
            )
    columns = (
        Columns()
        .keys("method")
        .plain("statistic")
        .published("stated in the paper", "published")
        .ours("ours")
    )
    columns = columns.difference(*DIFFERENCES).plain("models (published)", "models (ours)")
    return columns.short_form(
        "method", "statistic", "stated in the paper", "published", "ours", *DIFFERENCES
    ).table(
        rows,
        [
            (
                "`published` is computed here from the paper's Tables 4 and 5, which show few of"
                " its models; `stated in the paper` is what its text says. `ours` is over every"
                " model that was run on the paper's data with its settings; the difference is taken"
                " over the paper's models, once all of them were run. F1 of ours is binary. Sample"
                " standard deviation; two models are needed for a spread and three for a"
                " correlation. With so few models neither tells methods apart."
            ),
            (
                "The paper's appendix D puts the F1 of single prompts between 0.09 and 0.58, below"
                " values of its own Table 4."
            ),
        ],
    )


def _our_pairs(results: StudyResults, protocol: str) -> dict[str, tuple[float, float]]:
    """Model to our accuracy and binary F1, of experiments with the paper's data and settings, for
    any model.
    """
    pairs = {
        run.model: (run.measured("accuracy").value, run.measured("f1", "binary").value)
        for run in list_runs(results, protocol)
        if run.as_published.alike
    }
    return {model: pair for model, pair in pairs.items() if not np.isnan(pair).any()}


def _has_our_wording(results: StudyResults, protocol: str) -> bool:
    """Whether any of these experiments has prompts in other words than the paper's."""
    return any(
        run.as_published.alike and run.as_published.our_wording
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


@table(STUDY, "cost_ratios", "What a debate costs against a single prompt", protocols=PROMPTS)
def cost_ratios(results: StudyResults) -> TableContent:
    """Tokens, seconds and calls of a debate over those of each single prompt, same model and cases:
    published and ours.
    """
    claims = published_table(results, "text_cost")
    names = {"tokens": "token_ratio", "seconds": "wall_clock_ratio", "calls": ""}
    rows: list[Fields] = []
    for debate in list_runs(results, DEBATE):
        for prompt in list_runs(results, *PROMPTS):
            if (prompt.model, prompt.results.config.dataset) != (
                debate.model,
                debate.results.config.dataset,
            ):
                continue
            published = claims if all(beside(run, "text_cost") for run in (debate, prompt)) else {}
            versus = f"{DEBATE}/{prompt.results.config.protocol}"
            for quantity, name in names.items():
                keys = (
                    debate.experiment,
                    prompt.experiment,
                    debate.model,
                    debate.data,
                    f"{quantity}, debate / prompt",
                )
                ends = tuple(
                    published.get((versus, f"{name}_{end}"), np.nan) for end in ("low", "high")
                )
                rows.append(
                    {
                        "debate": keys,
                        "published low": ends,
                        "ours": _estimate_ratio(debate, prompt, quantity),
                    }
                )
    tokens = claims.get((DEBATE, "total_tokens_per_case"), np.nan)
    return _COST_RATIOS.table(
        rows,
        [
            (
                "Ratio of means over the cases that both argued (n); prompt and generated tokens"
                " together, tokens served from a cache included. Seconds are those of the calls,"
                " one after the other, as measured when they were made."
            ),
            (
                f"The paper's debate takes {tokens:.0f} tokens a case, its chain of thought"
                f" {claims.get(('cot', 'total_tokens_per_case_low'), np.nan):.0f} to"
                f" {claims.get(('cot', 'total_tokens_per_case_high'), np.nan):.0f}; its ratios are"
                f" against chain of thought: {_claimed_range(claims, 'token_ratio')} times the"
                f" tokens, {_claimed_range(claims, 'wall_clock_ratio')} times the seconds. They are"
                " shown next to ours where both experiments are the paper's."
            ),
        ],
    )


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


def _claimed_range(claims: Mapping[tuple[str, str], float], name: str) -> str:
    low, high = (claims.get((f"{DEBATE}/cot", f"{name}_{end}"), np.nan) for end in ("low", "high"))
    return f"{low:.0f} to {high:.0f}"


def _estimate_ratio(debate: Run, prompt: Run, quantity: str) -> tuple[float, float, float, int]:
    """Ratio of the mean quantity a case over common cases, with its interval."""
    means = []
    for run in (debate, prompt):
        rows = run.predictions.assign(tokens=lambda r: r["prompt_tokens"] + r["completion_tokens"])
        means.append(rows.groupby("case_id")[quantity].mean())
    common = means[0].index.intersection(means[1].index).sort_values()
    top, bottom = (mean[common].to_numpy(dtype=np.float64) for mean in means)
    return *debate.results.sample(common).bootstrap.estimate(
        ratio_statistic(top, bottom, AMOUNT)
    ), len(common)
