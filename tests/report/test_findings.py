"""Recompute the sentences of `data/published/findings.csv` on rankings, correlations and tokens."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from moot.studies.conference.forms import MAX_GRADE
from published_findings import FINDINGS, published_rows


def above_accuracy(accuracy: float, f1: float) -> bool:
    """Whether an F1 in tenths of a per cent is above the accuracy."""
    return f1 - 0.0005 > accuracy + 0.0005


def below_least(accuracy: float, f1: float) -> bool:
    """Whether an F1 of two digits is below the least that an accuracy leaves."""
    bound = (accuracy - 0.005) / (1 + accuracy - 0.005)
    return f1 + 0.005 < bound


def test_the_correlation_of_accuracy_and_f1_in_the_paper() -> None:
    prompts, debates = (
        published_rows("courtroom", "table4_prompting"),
        published_rows("courtroom", "table5_courtroom"),
    )
    methods = {
        "zero-shot": "zero_shot_",
        "chain of thought": "cot_",
        "n-shot chain of thought": "n_shot_cot_",
    }

    def correlation(rows: Sequence[Mapping[str, float]], prefix: str) -> float:
        pairs = [(row[f"{prefix}accuracy"], row[f"{prefix}f1"]) for row in rows]
        return float(np.corrcoef(np.array(pairs).T)[0, 1])

    prompt_rows = list(prompts.values())
    correlations = {name: correlation(prompt_rows, prefix) for name, prefix in methods.items()}
    correlations["courtroom debate"] = correlation(list(debates.values()), "")
    assert min(correlations, key=lambda name: correlations[name]) == "courtroom debate"
    pairs = [(row["accuracy"], row["f1"]) for row in debates.values()]
    interval = pearsonr(*np.array(pairs).T).confidence_interval()
    uncertainty = f"interval {interval.low:.2f} to {interval.high:.2f})"
    assert uncertainty in FINDINGS["courtroom/table5"][0]
    assert (
        ", ".join(f"{name} {value:.2f}" for name, value in correlations.items())
        in FINDINGS["courtroom/table5"][0]
    )


def test_the_rank_correlations_of_the_objective_test_and_the_grades() -> None:
    grades = published_rows("conference", "table5_agreement_detection")
    tests = {
        "F1 on VAST": ("table1_vast", "f1"),
        "accuracy on claims": ("table3_claim_stance", "accuracy"),
        "accuracy on polarity": ("table4_claim_polarity", "accuracy"),
    }
    parts = []
    for title, (table, metric) in tests.items():
        rows = published_rows("stance", table)
        pairs = [(rows[model][metric], grades[model]["overall"]) for model in grades]
        parts.append(f"{title} {spearmanr(pairs).statistic:.2f}")
    finding, scale = FINDINGS["decision_conference/table5"]
    assert "zero to ten" in scale and MAX_GRADE == 10
    assert f"is, with {', '.join(parts)}." in finding


def test_the_rankings_of_prompts_and_debates() -> None:
    prompts = published_rows("courtroom", "table4_prompting")
    debates = published_rows("courtroom", "table5_courtroom")
    models = [model for model in prompts if model in debates]
    correlations = {}
    for metric in ("accuracy", "f1"):
        pairs = [
            (prompts[model][f"zero_shot_{metric}"], debates[model][metric]) for model in models
        ]
        correlations[metric] = spearmanr(pairs).statistic
    finding = FINDINGS["courtroom/text"][3]
    assert f"Over the {len(models)} models" in finding
    assert f"(Spearman {correlations['accuracy']:.2f})" in finding
    assert f"F1 not at all ({correlations['f1']:.2f})" in finding


def test_the_accuracy_before_debate_implied_by_table_5_of_debate_feedback() -> None:
    rows = published_rows("feedback", "table5_smoothing")
    initial_accuracies = []
    for row in rows.values():
        gain = (row["corrections"] - row["degradations"]) / 3000
        initial_accuracies.append(row["accuracy"] - gain)
    phrase = (
        f"imply {initial_accuracies[0]:.4f} without and {initial_accuracies[1]:.4f} with smoothing"
    )
    assert list(rows) == ["without_smoothing", "with_smoothing"]
    assert phrase in FINDINGS["feedback/table5"][0]


@pytest.mark.parametrize(
    ("item", "table", "is_impossible", "names"),
    [
        ("feedback/table3", "table3_reasoning", above_accuracy, ("few-shot", "cot", "reflexion")),
        ("feedback/table2", "table2_models", below_least, ("lawformer", "gpt-3.5-turbo")),
    ],
)
def test_the_macro_f1_that_two_labels_cannot_give(
    item: str, table: str, is_impossible: Callable[[float, float], bool], names: tuple[str, ...]
) -> None:
    rows = published_rows("feedback", table)
    is_of = {
        name: is_impossible(row["caselaw_accuracy"], row["caselaw_f1"])
        for name, row in rows.items()
    }
    assert tuple(name for name in is_of if is_of[name]) == names
    (finding,) = [text for text in FINDINGS[item] if "macro F1" in text]
    assert f"in {len(names)} of {len(rows)} rows" in finding
    for name in names:
        accuracy, f1 = rows[name]["caselaw_accuracy"], rows[name]["caselaw_f1"]
        bound_text = f"{f1:.2f}, at least {accuracy / (1 + accuracy):.2f}"
        assert bound_text in finding or f"{accuracy:.1%} and {f1:.1%}" in finding.replace(" %", "%")
