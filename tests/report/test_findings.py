"""Recompute the sentences of `data/published/findings.csv` on rankings, correlations and tokens."""

import csv
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from moot.core.yaml_text import load_yaml
from published_findings import FINDINGS, PUBLISHED, equal, published_rows


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
    (finding,) = FINDINGS["decision_conference/table5"]
    assert f"with {', '.join(parts)}." in finding


def test_xgboost_does_not_outperform_the_best_language_models() -> None:
    trained = published_rows("courtroom", "table2_tabular_leaderboard")
    prompts = published_rows("courtroom", "table4_prompting")
    debates = published_rows("courtroom", "table5_courtroom")
    xgboost = trained["xgboost"]["accuracy"]
    best_trained = max(row["accuracy"] for row in trained.values())
    best_model = max(prompts, key=lambda model: prompts[model]["zero_shot_accuracy"])
    best_accuracy = prompts[best_model]["zero_shot_accuracy"]
    assert best_accuracy > best_trained > xgboost
    better_debates = sum(row["accuracy"] > xgboost for row in debates.values())
    finding = FINDINGS["courtroom/text"][0]
    assert (
        f"XGBoost has an accuracy of {xgboost:.4f} and the best model {best_trained:.4f}" in finding
    )
    assert f"prompt of {best_model} has {best_accuracy:.2f} (Table 4)" in finding
    assert f"debates of {better_debates} of {len(debates)} models have more than XGBoost" in finding


def test_the_places_of_dolphin_above_llama() -> None:
    prompts = published_rows("courtroom", "table4_prompting")
    debates = published_rows("courtroom", "table5_courtroom")
    columns = [(prompts, "zero_shot_"), (prompts, "cot_"), (prompts, "n_shot_cot_"), (debates, "")]
    places: list[int] = []
    for rows, prefix in columns:
        for metric in ("accuracy", "f1"):
            values = {model: row[prefix + metric] for model, row in rows.items()}
            ranks = pd.Series(values).rank(ascending=False, method="min")
            places.append(int(ranks["llama-3.1"] - ranks["dolphin-3"]))
    assert places == [3, 1, 2, 3, 3, 3, 3, -3]
    assert (
        "3 places above and 1 above Llama 3.1 (zero-shot), 2 and 3 above (CoT), 3 and 3 above"
        " (n-shot CoT), 3 above and 3 below (debate)" in FINDINGS["courtroom/text"][1]
    )
    printed_places = published_rows("courtroom", "text_dolphin")["dolphin-3"]
    assert list(printed_places.values()) == [11, -3]


def test_the_printed_shares_of_people_are_not_those_of_the_table(shared_data: Path) -> None:
    people = pd.read_csv(shared_data / "nlsy97" / "nlsy97_full.csv")
    printed = published_rows("courtroom", "text_dataset")["nlsy97"]
    finding = next(text for text in FINDINGS["courtroom/text"] if "respondents" in text)
    assert len(people) == printed["cases"]
    assert f"{printed['share_male']:.0%} male" in finding.replace(" %", "%")
    assert f"{printed['share_black']:.2%} black" in finding.replace(" %", "%")
    counts = [(people["sex"] == "male").mean()]
    counts += [(people["race"] == race).mean() for race in ("white", "black")]
    male, white, black = (f"{100 * share:.0f} %" for share in counts)
    assert f"{male} are male, {white} white and {black} black" in finding


def test_the_bounds_of_macro_f1_in_debate_feedback() -> None:
    reasoning = published_rows("feedback", "table3_reasoning")
    above = [name for name, row in reasoning.items() if row["caselaw_f1"] > row["caselaw_accuracy"]]
    assert f"in {len(above)} of {len(reasoning)} rows ({', '.join(above)})" in "".join(
        FINDINGS["feedback/table3"]
    )
    models = published_rows("feedback", "table2_models")
    low_rows = []
    for name, row in models.items():
        accuracy, f1 = row["caselaw_accuracy"], row["caselaw_f1"]
        if f1 + 0.005 < (accuracy - 0.005) / (1 + accuracy - 0.005):
            low_rows.append(f"{name} ({accuracy:.2f}, F1 {f1:.2f})")
    assert low_rows == ["lawformer (0.53, F1 0.31)", "gpt-3.5-turbo (0.49, F1 0.27)"]
    assert all(text in "".join(FINDINGS["feedback/table2"]) for text in low_rows)
    worse_models = [name for name, row in models.items() if row["caselaw_accuracy"] < 0.634]
    assert worse_models == ["cnn-bert", "legal-bert", "lawformer", "gpt-3.5-turbo"]


def test_plaintiffs_win_most_training_cases(shared_data: Path) -> None:
    cases = pd.read_json(shared_data / "caselaw" / "trial_prediction.jsonl", lines=True)
    win_count = int((cases["labels"] == "Plaintiff wins").sum())
    assert f"{win_count} of {len(cases):,} cases are won by plaintiffs" in "".join(
        FINDINGS["feedback/table2"]
    )


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
    finding = FINDINGS["courtroom/text"][-1]
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
    assert f"up to {highest:.2f} ({model}, zero-shot)" in finding
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
    finding = FINDINGS["feedback/table3"][0]
    assert f"in {sum(is_equal.values())} of {len(pairs)} values" in finding
    ((row, metric),) = [pair for pair in pairs if not is_equal[pair]]
    assert (row, metric) == ("debate-feedback-single", "caselaw_f1")
    assert f"({models[row][metric]:.2f} and {reasoning[row][metric]:.1%})" in finding.replace(
        " %", "%"
    )


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
