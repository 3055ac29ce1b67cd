"""Departures from the papers: each agrees with the paper's text, moot's prompts and the run."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.jobs.papers import departures
from moot.papers.items import PaperItem, items_file, read_papers
from moot.plan.papers_of_run import paper_plan, view_paper
from moot.plan.plan import Plan
from printed_prompts import copy_with_words, printed_prompts
from scripted_model import PROJECT
from uniform_scores import make_plan

PROMPTS = PROJECT / "config" / "prompts"
HELLER, TRIEM = "decision-conference-agreement", "appellate-panel-debate"
FEEDBACK, COURTROOM = "debate-feedback", "agenticsimlaw-courtroom"
NO_TEMPERATURE = r"(?i)temperature (of|was|is|=)"

EVIDENCE: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "The paper's prompt asks whether": (COURTROOM, (r"if they indicate high risk",), ()),
    "Ours puts the answer's form": (COURTROOM, (r'"factor1", "low"',), ()),
    "The authors' released script draws": (COURTROOM, (r"n=30 labeled examples",), ()),
    "All prompts are ours": (COURTROOM, (r"StandardLLM Prompt Templates",), ("MAD Prompt",)),
    "Models run under the authors' tags": (COURTROOM, ("sourced directly from ollama.ai",), ()),
    "The paper's models run with Ollama": (COURTROOM, ("with default hyperparameters",), ()),
    "The paper's ensembles of 37 and 81": (COURTROOM, ("ensembles of 37 and 81 models",), ()),
    "The authors' program is not": (COURTROOM, ("7-turn", "privately formulates a strategy"), ()),
    "moot's records of the loader": (COURTROOM, (), ("gemini-2.5", "gpt-4.1")),
    "Ours asks for a heading": (TRIEM, ("All three judges should speak",), ()),
    "Ours calls the court a simulation": (TRIEM, (r"rank your confidence",), ()),
    "Ours asks to cite cases": (TRIEM, (r"Please cite relevant cases",), ()),
    "A seed goes with each call": (TRIEM, (), (r"(?i)random seed|\bseeds?\b",)),
    "The facts are our paraphrases": (TRIEM, ("De-Identified Text Example",), ()),
    "The paper names no limit of tokens": (TRIEM, (), (r"max_tokens", r"(?i)token limit")),
    "The human's scripts are ours": (TRIEM, ("Affirmative Prompt Examples: U.S. v. Hollern",), ()),
    "Each of the study's 2,700": (
        TRIEM,
        (r"each of the 2700 discussion steps were human labeled",),
        (),
    ),
    "The paper asks for `Plaintiff wins`": (FEEDBACK, (r"ONLY output the one of the labels",), ()),
    "No temperature is printed": (FEEDBACK, (), (NO_TEMPERATURE,)),
    "Ours explains each answer": (FEEDBACK, (r"Follow the conversation from Step 1",), ()),
    "The judge's verdict is the probability": (FEEDBACK, (r"LM : S .rightarrow \[0, 1\]",), ()),
    "The paper's assistant is a pre-trained": (FEEDBACK, (r"a pre-trained assistant model",), ()),
    "The paper's assistant learns": (FEEDBACK, (r"multiple runs of the unassisted",), ()),
    "An opinion that names no party": (FEEDBACK, (r"Ground_truth XOR Debater",), ()),
    "In a later round debaters know": (FEEDBACK, (r"t_\{ne\}\(x\), t_\{po\}\(x\)",), ()),
    "The authors' repository lists": (FEEDBACK, ("CaseLaw",), ("train.json",)),
    "For Tables 2 and 3 the paper": (
        FEEDBACK,
        ("2-4 debaters",),
        (r"(?i)threshold (of|was|is) \d",),
    ),
    "The paper states neither the number": (FEEDBACK, ("Few-shot",), (r"\d+-shot", r"\d+ shots")),
    "Ours asks for a prediction in JSON": (FEEDBACK, (), ("JSON",)),
    "The paper prints no prompt of this method and": (FEEDBACK, (r"CoT \(4-steps\)",), ()),
    "The paper prints no prompt of this method, no": (FEEDBACK, ("Reflexion",), (r"reflections",)),
    "By section 4.2 a case": (FEEDBACK, (r"Article prediction is a multi-label",), ()),
    "Cases can have several": (FEEDBACK, (r"multiple labels of different relevant law",), ()),
    "Ours is Chinese, explains": (FEEDBACK, ("CAIL18",), ("[\u4e00-\u9fff]",)),
    "The prompt in the authors' code": (FEEDBACK, ("CAIL18",), ("[\u4e00-\u9fff]",)),
    "The authors' code has one round": (FEEDBACK, ("one round and three debaters",), ()),
    "Articles with fewer": (FEEDBACK, ("CAIL18",), ("63 articles",)),
    "The paper prints no prompt and names": (
        HELLER,
        (),
        (NO_TEMPERATURE, r"maximum of \w+ rounds"),
    ),
    "The paper prints its issue": (HELLER, (r"develop a set of criteria for assessing",), ()),
    "In Figure A2 participant 1": (HELLER, (r"Debate \\in message_content", "in a loop"), ()),
    "The paper does not say which model": (HELLER, (r"select five decisions from the judge",), ()),
    "The paper names no temperature": (HELLER, (), (NO_TEMPERATURE,)),
    "Our prompt explains the labels": (HELLER, (r"using a basic prompt",), ()),
    "The open models are Ollama's": (HELLER, ("Gemma 2 9B",), (r"(?i)quanti[sz]", "4-bit")),
}
"""The start of a departure to a paper, patterns that its text has, and patterns that it lacks."""
PROMPTS_OF_OURS = {
    "Ours calls the court a simulation": ("panel/base.jinja", "is being simulated"),
    "Ours asks to cite cases": ("panel/base.jinja", "where any are known"),
    "Ours asks for a heading": ("panel/script.jinja", "heading"),
    "All prompts are ours": ("courtroom/statement.jinja", "three or four sentences"),
    "The paper's prompt asks whether": ("prompting/base.jinja", "task.question"),
    "Our prompt explains the labels": ("stance/base.jinja", "task.meaning[label]"),
}


def rows() -> list[dict[str, str]]:
    path = PROJECT / "data" / "published" / "departures.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def start_of(departure: str) -> str:
    starts = [start for start in EVIDENCE if departure.startswith(start)]
    assert len(starts) == 1, departure
    return starts[0]


def item(name: str) -> PaperItem:
    papers_by_name = read_papers(items_file(PROJECT))
    items = papers_by_name[name.partition("/")[0]].items
    return next(each for each in items if each.name == name)


def departures_of(name: str, plan: Plan | None = None) -> str:
    paper = read_papers(items_file(PROJECT))[name.partition("/")[0]]
    run = view_paper(plan or paper_plan(PROJECT), paper)
    return "\n".join(departures(run, item(name)))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["departure"][:40])
def test_a_departure_agrees_with_the_paper(row: dict[str, str], papers: Path) -> None:
    paper, present, absent = EVIDENCE[start_of(row["departure"])]
    text = " ".join((papers / f"{paper}.txt").read_text("utf-8").split())
    assert [pattern for pattern in present if not re.search(pattern, text)] == []
    assert [pattern for pattern in absent if re.search(pattern, text)] == []


def test_each_departure_has_evidence_a_run_and_a_known_part() -> None:
    assert {start_of(row["departure"]) for row in rows()} == EVIDENCE.keys()
    assert {row["part"] for row in rows()} == {"", "prompts"}
    plan = paper_plan(PROJECT)
    pairs = set()
    for run in plan.experiments.values():
        loader = plan.datasets[run.config.dataset].loader or run.config.dataset
        pairs.add((run.config.protocol, loader))
    for row in rows():
        assert row["departure"].endswith(".")
        for protocol in row["protocols"].split():
            assert {(protocol, data) for data in row["data"].split()} & pairs, row


def test_what_departures_say_of_our_prompts_is_in_them() -> None:
    for start, (template, words) in PROMPTS_OF_OURS.items():
        assert start in EVIDENCE
        assert words in (PROMPTS / template).read_text("utf-8"), start


def test_the_scripts_have_as_many_words_as_is_said() -> None:
    text = (PROJECT / "data/samples/opinions.yaml").read_text("utf-8")
    counts = []
    for record in yaml.safe_load(text):
        for scripts in record["statements"].values():
            counts += [len(str(script).split()) for script in scripts]
    assert (min(counts), max(counts)) == (225, 242)


@pytest.mark.parametrize(
    ("name", "entry", "expected", "changed"),
    [
        ("courtroom/table4", {"params": {"shots": 12}}, "our 30 are", "our 12 are"),
        ("decision_conference/table1", {"params": {"temperature": 0.4}}, "is 0.", "is 0.4."),
        ("feedback/table3", {"params": {"reflections": 1}}, "are 2 reflections", "are 1 reflect"),
        ("decision_conference/table5", {"params": {"rounds": 5}}, "3 rounds a", "5 rounds a"),
        ("feedback/table2", {"repeats": 3}, "from 2 debates of each of 600", "from 3 debates"),
    ],
)
def test_a_departure_has_the_values_of_the_run(
    name: str, entry: dict[str, Any], expected: str, changed: str
) -> None:
    experiments = {
        "courtroom/table4": "paper-n-shot-cot",
        "decision_conference/table1": "paper-stance-vast",
        "feedback/table3": "paper-reflexion-caselaw",
        "decision_conference/table5": "paper-conference",
        "feedback/table2": "paper-feedback-training-caselaw",
    }
    assert expected in departures_of(name)
    plan = make_plan({"experiments": {experiments[name]: entry}}, paper=True)
    assert changed in departures_of(name, plan)


def test_counts_of_the_papers_design_and_data_are_not_those_of_a_run() -> None:
    text = departures_of("courtroom/table5")
    assert "runs the 20 that" in text and "ask for 16384 tokens" in text
    changes = {"experiments": {"paper-courtroom": {"models": ["smollm2-135m"]}}}
    assert departures_of("courtroom/table5", make_plan(changes, paper=True)) == text
    assert "fewer than 10 cases" in departures_of("feedback/table2")
    data = {"datasets": {"paper-cail18": {"source": "sample", "min_cases": 0}}}
    assert "714 test cases" not in departures_of("feedback/table2", make_plan(data, paper=True))


def test_a_departure_of_a_value_that_the_design_lacks_is_left_out() -> None:
    assert "paper-feedback-training-caselaw" in departures_of("feedback/table2")
    assert "paper-feedback-training-caselaw" not in departures_of("feedback/table5")


def test_prompts_in_the_papers_words_depart_in_no_words(papers: Path, tmp_path: Path) -> None:
    folder = "triem/panel"
    words = printed_prompts(papers)[folder]
    target = copy_with_words(folder, words, tmp_path / "typed")
    entry = {"paper-multiagent-panel": {"prompts": str(target)}}
    text = departures_of("appellate/figure6", make_plan({"experiments": entry}, paper=True))
    assert "our paraphrases" in text
    assert "calls the court a simulation" not in text
    assert "calls the court a simulation" in departures_of("appellate/figure6")


def test_training_on_eval_json_is_what_the_data_set_does() -> None:
    files = dict(paper_plan(PROJECT).datasets["paper-caselaw"].files)
    with (PROJECT / "data/versions.csv").open(encoding="utf-8", newline="") as file:
        addresses = {
            row["path"]: row["url"] for row in csv.DictReader(file) if row["role"] == "primary"
        }
    assert "eval.json" in addresses[files["train"]] and "test.json" in addresses[files["test"]]
