"""Recompute the sentences of `data/published/findings.csv` on rankings, correlations and tokens."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

from moot.core.yaml_text import load_yaml
from moot.studies.conference.forms import MAX_GRADE
from published_findings import FINDINGS, PUBLISHED, equal, published_rows

SHARES_OF_CASES = (("sex", "male"), ("race", "black"), ("race", "white"))


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


def test_xgboost_does_not_outperform_the_best_language_models() -> None:
    trained = published_rows("courtroom", "table2_tabular_leaderboard")
    prompts = published_rows("courtroom", "table4_prompting")
    debates = published_rows("courtroom", "table5_courtroom")
    xgboost = trained["xgboost"]["accuracy"]
    best_trained = max(row["accuracy"] for row in trained.values())
    best_model = max(prompts, key=lambda model: prompts[model]["zero_shot_accuracy"])
    best_accuracy = prompts[best_model]["zero_shot_accuracy"]
    assert best_model == "dolphin-3" and best_accuracy > best_trained > xgboost
    better_debates = sum(row["accuracy"] > xgboost for row in debates.values())
    finding = FINDINGS["courtroom/text"][0]
    assert (
        f"XGBoost has an accuracy of {xgboost:.4f} and the best model {best_trained:.4f}" in finding
    )
    assert f"prompt of Dolphin 3 has {best_accuracy:.2f} (Table 4)" in finding
    assert f"debates of {better_debates} of {len(debates)} models have more than XGBoost" in finding


def test_the_place_of_dolphin_below_llama_fits_the_debates_alone() -> None:
    prompts = published_rows("courtroom", "table4_prompting")
    dolphin, llama = prompts["dolphin-3"], prompts["llama-3.1"]
    f1_names = [name for name in dolphin if name.endswith("f1")]
    better_prompts = sum(dolphin[name] > llama[name] for name in f1_names)
    debates = published_rows("courtroom", "table5_courtroom")
    f1, base_f1 = debates["dolphin-3"]["f1"], debates["llama-3.1"]["f1"]
    places = published_rows("courtroom", "text_dolphin")["dolphin-3"]
    finding = FINDINGS["courtroom/text"][1]
    accuracy_places, f1_places = (f"{value:+.0f}" for value in places.values())
    assert f"accuracy {accuracy_places}, F1 {f1_places}." in finding and "points" not in finding
    assert f"with {better_prompts} of {len(f1_names)} prompts" in finding
    assert f1 < base_f1 and f"(F1 {f1:.2f} against {base_f1:.2f})" in finding


def test_two_sections_state_different_tokens() -> None:
    cost = published_rows("courtroom", "text_cost")
    debate, cot = cost["courtroom"]["total_tokens_per_case"], cost["cot"]
    low, high = cot["total_tokens_per_case_low"], cot["total_tokens_per_case_high"]
    low_elsewhere = cot["total_tokens_per_case_low_elsewhere"]
    ratios = cost["courtroom/cot"]
    assert (round(debate / high), round(debate / low)) == (
        ratios["token_ratio_low"],
        ratios["token_ratio_high"],
    )
    finding = FINDINGS["courtroom/text"][2]
    assert f"{low_elsewhere:.0f} to {high:.0f} in one section" in finding
    assert f"{low:.0f} to {high:.0f} in another" in finding
    assert f"would be {debate / high:.0f} to {debate / low_elsewhere:.0f}." in finding


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


def test_the_spread_of_f1_over_models() -> None:
    prompts = published_rows("courtroom", "table4_prompting")
    debates = published_rows("courtroom", "table5_courtroom")
    spreads = {
        "debate": np.std([row["f1"] for row in debates.values()], ddof=1),
        "zero-shot": np.std([row["zero_shot_f1"] for row in prompts.values()], ddof=1),
        "n-shot": np.std([row["n_shot_cot_f1"] for row in prompts.values()], ddof=1),
    }
    finding = FINDINGS["courtroom/text"][4]
    assert f"have {spreads['debate']:.2f} and {spreads['zero-shot']:.2f}" in finding
    assert f"{spreads['n-shot']:.2f} with n-shot prompts" in finding


def test_appendix_d_contradicts_table_4() -> None:
    prompts = published_rows("courtroom", "table4_prompting")
    values = set()
    for model, row in prompts.items():
        values |= {(row[metric], model, metric) for metric in row if metric.endswith("f1")}
    highest, model, metric = max(values)
    above = sum(value > 0.58 for value, *_ in values)
    finding = FINDINGS["courtroom/table4"][-1]
    assert (model, metric) == ("dolphin-3", "zero_shot_f1")
    assert f"up to {highest:.2f} (dolphin 3, zero-shot)" in finding
    assert f"{above} of its {len(values)} values are above 0.58" in finding


def test_the_tags_of_the_authors_list_that_no_table_names() -> None:
    with (PUBLISHED / "ensemble_tags.csv").open(encoding="utf-8", newline="") as file:
        tags = list(csv.DictReader(file))
    models = load_yaml((PUBLISHED.parents[1] / "config" / "models.yaml").read_text("utf-8"))[
        "models"
    ]
    table_1 = set(published_rows("courtroom", "table1_small_ensemble"))
    places = {row["model"]: row["named_in"] for row in tags if row["model"]}
    for row in tags:
        assert bool(row["model"]) == bool(row["named_in"])
        if row["model"]:
            assert row["tag"] == models[row["model"]]["model"]
    in_table = {model for model, place in places.items() if place == "Table 1"}
    assert in_table < table_1 and table_1 - in_table == {"deepseek-r1"}
    unnamed = sum(not row["model"] for row in tags)
    text = (PUBLISHED / "departures.csv").read_text(encoding="utf-8")
    assert f"lists {len(tags)} tags" in text and f"{unnamed} are in no table or text" in text
    assert f"{len(in_table)} of the {len(table_1)} models of Table 1" in text


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


def test_the_debates_of_table_3_are_those_of_table_2_of_debate_feedback() -> None:
    models = published_rows("feedback", "table2_models")
    reasoning = published_rows("feedback", "table3_reasoning")
    rows = ("debate-feedback-single", "debate-feedback-assistant")
    pairs = list(product(rows, models[rows[0]]))
    is_equal = {
        (row, metric): equal(reasoning[row][metric], models[row][metric]) for row, metric in pairs
    }
    finding, _ = FINDINGS["feedback/table3"]
    assert f"in {sum(is_equal.values())} of {len(pairs)} values" in finding
    ((row, metric),) = [pair for pair in pairs if not is_equal[pair]]
    assert (row, metric) == ("debate-feedback-single", "caselaw_f1")
    assert f"({models[row][metric]:.2f} and {reasoning[row][metric]:.1%})" in finding.replace(
        " %", "%"
    )


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


def test_the_shares_of_a_paper_and_of_its_data(shared_data: Path) -> None:
    cases = pd.read_csv(shared_data / "nlsy97/nlsy97_full.csv")
    shares = [(cases[column] == value).mean() for column, value in SHARES_OF_CASES]
    finding = " ".join(FINDINGS["courtroom/text"]).replace(" %", "%")
    assert (
        "{:.1%} men (printed 51%), {:.1%} black (25.99%) and {:.1%} white".format(*shares)
        in finding
    )
    claims = pd.read_csv(shared_data / "claim_stance/claim_stance_dataset_v1.csv")
    (finding,) = FINDINGS["decision_conference/table3"]
    for rows in (claims, claims[claims["split"] == "test"]):
        pro = (rows["claims.stance"] == "PRO").sum()
        assert f"{pro / len(rows):.1%}".replace("%", " %") in finding
        assert f"({pro:,} of {len(rows):,})" in finding


def test_always_naming_the_plaintiff(shared_data: Path) -> None:
    lines = (shared_data / "caselaw/trial_prediction.jsonl").read_text("utf-8").splitlines()
    share = sum(json.loads(line)["labels"] == "Plaintiff wins" for line in lines) / len(lines)
    rows = published_rows("feedback", "table2_models").values()
    accuracies = [row["caselaw_accuracy"] for row in rows]
    worse_methods = sum(accuracy < share for accuracy in accuracies)
    text = (PUBLISHED / "departures.csv").read_text(encoding="utf-8").replace(" %", "%")
    assert f"right in {share:.1%}, more than {worse_methods} of {len(accuracies)} methods" in text
    assert f"{100 * (max(accuracies) - share):.1f} points less than the best" in text


def test_the_findings_on_triem() -> None:
    text = published_rows("appellate", "text")
    changed = text["human_ai"]["opinion_changes"]
    unchanged = text["human_ai"]["opinion_change_opportunities"] - changed
    (ratio,) = FINDINGS["appellate/text"]
    assert f"{unchanged:.0f} to {changed:.0f}, or {unchanged / changed:.1f} to one" in ratio
    rows = published_rows("appellate", "table2").values()
    totals = dict[str, float]()
    for name in ("total", "case1", "case2", "case3", "case4", "case5"):
        totals[name] = sum(row[name] for row in rows)
    assert totals.pop("total") == 100 and set(totals.values()) == {20}
    share = text["synthetic_round1_judge1"]["affirm_share"]
    affirmed = published_rows("appellate", "table2")["judge1_step1_affirm(1)"]["total"]
    assert affirmed / 100 == share
    (one_judge,) = FINDINGS["appellate/table2"]
    assert f"the first, whose share of {share:.2f}" in one_judge
