"""What stands in the papers' texts and appendices, beside what a run has."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from conference_runs import hold_conferences
from conference_script import script
from moot.papers import fill_item
from moot.papers.items import PaperItem
from moot.papers.page import ItemContent, values_in_text, write_page
from moot.papers.parts import Clauses, Fact, Part
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, no_scores, score_experiment
from moot.studies.appellate.legal.rubric import EXAMPLES_OF_LABELS, HALLUCINATION, RUBRIC
from moot.studies.appellate.legal.rubric_rules import label_statement
from panel_results import panel, study
from paper_items import PAPERS, PUBLISHED
from results_on_disk import REARREST, case, experiment_view, prediction, study_of, write_results


def parts_of_text(paper: str, results: StudyResults) -> list[Part]:
    item = PaperItem(f"{paper}/text", "facts", "In the text")
    return fill_item(item, {results.study: results})


def facts_of(parts: list[Part]) -> dict[str, str]:
    return {part.row: part.text for part in parts if isinstance(part, Fact)}


def test_changes_of_opinion_stand_beside_those_of_the_paper(tmp_path: Path) -> None:
    parts = parts_of_text("appellate", study([panel(tmp_path, {"c1": "aar arr rnr"})]))
    changes = facts_of(parts)["multiagent/opinion_changes"]
    assert changes == (
        "2 of 5 between two positions, 3 of 6 with those to or from none (panels, tiny)"
    )
    silent = parts_of_text("appellate", study([panel(tmp_path / "n", {"c1": "nnn nnn nnn"})]))
    assert "multiagent/opinion_changes" not in facts_of(silent)
    assert "nan" not in str(facts_of(silent))
    assert facts_of(parts)["multiagent_round1_judge3/affirm_share"].startswith("0.00")


@pytest.mark.parametrize("label", RUBRIC.labels)
def test_the_rubric_has_an_example_that_its_rules_label_so(label: str) -> None:
    example = EXAMPLES_OF_LABELS[label]
    facts = "A nurse appeals her conviction." if label == HALLUCINATION else ""
    assert label_statement(example, facts).label == label


async def test_the_first_topic_is_shown_with_and_without_a_judge(tmp_path: Path) -> None:
    talks = [script("AGREEMENT")]
    judged = await hold_conferences(tmp_path / "with", talks)
    free = await hold_conferences(tmp_path / "without", talks, "without-judge", agreement=False)
    scores = concat_scores(map(score_experiment, (judged, free)))
    results = study_of(judged, free, study="conference", scores=scores, published=PUBLISHED)
    parts = parts_of_text("decision_conference", results)
    clauses = [part for part in parts if isinstance(part, Clauses)]
    assert [part.title.partition(":")[0] for part in clauses] == [
        "As Figures A2 and A3",
        "As Figure A1, without a judge",
    ]
    speakers = [speaker for speaker, _ in clauses[0].clauses]
    assert any(speaker.startswith("judge") for speaker in speakers)
    assert not any(name.startswith("judge") for name, _ in clauses[1].clauses)
    assert not [words for _, words in clauses[0].clauses if not words]
    assert [speaker for speaker in speakers if speaker.startswith("moderator, open")] == [
        "moderator, opening"
    ], "the first topic alone"
    facts = facts_of(parts)
    assert {"drug_policy_topic1/clusters_covered_with_judge"} <= facts.keys()


def test_a_number_of_the_text_has_its_total_its_note_and_the_runs_value(tmp_path: Path) -> None:
    own = [Fact("synthetic/opinion_changes", "3 of 12")]
    values = {name: rest for name, *rest in values_in_text(PUBLISHED, own)}
    is_half = "changes of opinion (600 is half of the 1200 opportunities)"
    assert values[f"Synthetic debate: {is_half}"] == ["20 of 600", "3 of 12"]
    assert values[f"Multiagent debate: {is_half}"] == ["23 of 600", ""]
    assert values["Human-AI debate: changes of opinion"][0] == "43 of 400"
    assert values["Synthetic debate: debates that went beyond three rounds"][0] == "15 of 100"
    assert values["Clusters covered without a judge (model not named)"][0] == "6"
    assert len(values) == PUBLISHED["table"].str.startswith("text").sum(), "names, each once"
    for number in ("0.428", "0.849", "0.752", "9,100"):
        assert number in {value for value, _ in values.values()}
    paper = PAPERS["appellate"]
    item = PaperItem("appellate/text", "facts", "In the text")
    shown = [("changes <b>", "20 of 600", "3 of 12")]
    pages = []
    for text in (ItemContent(item, text_values=shown), ItemContent(item, own)):
        write_page(paper, [], {}, tmp_path, in_text=text)
        pages.append((tmp_path / "appellate.html").read_text(encoding="utf-8"))
    assert "changes &lt;b&gt;" in pages[0] and "3 of 12" in pages[0]
    assert "In the text" in pages[0] and "In the text" not in pages[1], "without content"


def test_the_published_labels_of_figure_2_are_those_of_the_file(shared_data: Path) -> None:
    rows = PUBLISHED[PUBLISHED["table"] == "figure2_polarity_labels"]
    claims = pd.read_csv(shared_data / "claim_stance/claim_stance_dataset_v1.csv")
    counts = claims.loc[claims["split"] == "test", "claims.claimSentiment"].fillna(0).value_counts()
    names = {1: "positive", -1: "negative", 0: "neutral"}
    expected = {names[int(sentiment)]: count for sentiment, count in counts.items()}
    assert dict(zip(rows["metric"], rows["value"], strict=True)) == expected


@pytest.mark.parametrize(("note", "series_count"), [("", 1), ("SAMPLE: cases of moot.", 0)])
def test_the_labels_of_a_sample_are_not_counted_as_those_of_the_file(
    note: str, series_count: int, tmp_path: Path
) -> None:
    labels = ("positive", "negative", "neutral")
    task = replace(REARREST, labels=labels, positive="", meaning={}, notes=(note,) if note else ())
    view = experiment_view("polarity", "claims")
    answers = {"tiny": [prediction("a", "neutral", "neutral")]}
    run = write_results(tmp_path, [case("a", "neutral")], answers, task=task, config=view)
    results = StudyResults("stance", {"polarity": run}, no_scores(), {}, PUBLISHED)
    item = PaperItem("decision_conference/figure2", "figure", "Labels")
    assert len(fill_item(item, {"stance": results})) == series_count
