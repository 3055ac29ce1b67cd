"""Labels of statements: who gives them, which one counts, and what is refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from in_process import default_configuration
from messages import refusal
from moot.core.artifacts import describe, read_metadata, write_cases, write_rows
from moot.core.cases import Case, Task
from moot.core.rubric import Rubric
from moot.core.schemas import SCHEMAS
from moot.jobs.statement_labels import (
    LabelJob,
    calls_of_labels,
    effective_labels,
    known_items,
    label_all,
    label_statements,
    labels_by_rules,
    list_judges,
    statements_of,
    write_drawn_sheet,
)
from moot.labels.sheets import FAULTS, SheetContents
from moot.labels.statements import sheet_id
from moot.plan.plan import Plan
from project_copy import PROJECT

SHARD, CASES = Path("0.parquet"), Path("cases.parquet")
JOB = LabelJob("trial", "mine", CASES, {("trial", "mine"): [SHARD]})


@pytest.fixture(autouse=True)
def debate_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the transcript of a debate with two statements and a verdict, and its case."""
    monkeypatch.chdir(tmp_path)
    debate: dict[str, Any] = {
        **dict.fromkeys(SCHEMAS["transcripts"].names),
        **{"experiment": "trial", "model": "mine", "debate_id": "c1#0", "case_id": "c1"},
        **{"round": 1, "speaker": "defense", "source": "model", "visibility": "public"},
    }
    rows = [
        {**debate, "turn": 0, "kind": "opening", "text": "It is in the lease."},
        {**debate, "turn": 1, "kind": "closing", "text": "That is unfair."},
        {**debate, "turn": 2, "kind": "verdict", "text": "Yes.", "prediction": "yes"},
    ]
    write_rows(SHARD, "transcripts", rows, describe("trial"))
    case = Case(
        case_id="c1", dataset="nlsy97", split="test", text="Facts.", target="yes",
        labels=("no", "yes"),
    )  # fmt: skip
    task = Task(noun="it", question="Is it?", labels=("no", "yes"))
    write_cases(CASES, [case], task, describe())


def make_plan(*labelers: str, **rubric: Any) -> Plan:
    """Return the plan of a trial whose statements are about the lease or about nothing."""
    labels = {"lease": "on the lease", "none": "on nothing"}
    rubric = {"labels": labels, "neutral": "none", "rules": {"lease": "lease"}, **rubric}
    trial = {"protocol": "courtroom", "dataset": "nlsy97", "models": "mine"}
    if labelers:
        trial |= {"rubric": "grounds", "labelers": labelers}
    model = {"model": "m", "base_url": "http://127.0.0.1:9"}
    config = {
        "run": "trial", "min_debates": 1, "models": {"mine": model, "other": model},
        "rubrics": {"grounds": rubric}, "experiments": {"trial": trial},
    }  # fmt: skip
    return Plan.from_yaml(default_configuration(config), PROJECT)


def test_rules_and_people_label_statements_and_a_person_counts_more() -> None:
    plan = make_plan("rules", "human")
    (sheet,) = known_items(plan, {("trial", "mine"): [SHARD]}).values()
    first, second = statements_of(plan, "trial", [SHARD])["item"]
    assert sheet == SheetContents({first, second}, ("lease", "none"))
    assert known_items(plan, {("trial", "mine"): []}) == {
        sheet_id("trial", "mine"): SheetContents(set(), ("lease", "none"))
    }
    sheet_of_ann = Path("ann.csv")
    sheet_of_ann.write_text(f"item,label\n{first},none\n{second},fair\n")
    job = LabelJob("trial", "mine", CASES, JOB.shards, [sheet_of_ann])
    outputs = Path("labels.parquet"), Path("all.parquet")
    label_statements(plan, job, *outputs)
    columns = ["turn", "label", "code", "labeler", "evidence"]
    labels, all_labels = (pd.read_parquet(path) for path in outputs)
    by_rules = [[0, "lease", 0, "rules", "lease"], [1, "none", 1, "rules", ""]]
    by_person = [0, "none", 1, "human:ann", "ann.csv, row 1"]
    assert all_labels[columns].to_numpy().tolist() == [by_person, *by_rules]
    assert labels[columns[:4]].to_numpy().tolist() == [by_person[:4], by_rules[1][:4]]
    assert "row 2, column 'label': found 'fair'" in read_metadata(outputs[0])[FAULTS]
    with refusal():
        label_all(make_plan("human"), JOB)


def test_a_sheet_has_the_drawn_statements_with_the_facts_of_their_cases() -> None:
    arguments = "trial", "mine", CASES, [SHARD], Path("sheets")
    sheet, tasks = write_drawn_sheet(make_plan("human"), *arguments)
    assert sheet.stem == tasks.stem and sheet.parent == Path("sheets")
    rows = pd.read_csv(sheet).set_index("statement")
    assert rows["item"].to_dict() == {
        statement.text: statement.item
        for statement in statements_of(make_plan("human"), "trial", [SHARD]).itertuples()
    }
    assert set(rows["facts"]) == {"Facts."}


def test_each_labelling_model_is_asked_about_each_statement() -> None:
    plan = make_plan("rules", "judge", "judge:other")
    own_judge, other_judge = list_judges(plan, "trial", "mine")
    assert (own_judge.name, own_judge.config) == ("mine", plan.config.models["mine"])
    assert (other_judge.name, other_judge.config) == ("other", plan.config.models["other"])
    assert other_judge.rubric == plan.rubric("trial") and other_judge.ledger == plan.config.ledger
    assert len(calls_of_labels(make_plan("judge:other"), "trial", "mine", CASES, [SHARD])) == 2


def test_a_rubric_about_an_unused_kind_is_refused_with_a_list_of_kinds() -> None:
    with refusal():
        label_all(make_plan("rules", utterance_kinds="plea"), JOB)
    with refusal():
        statements_of(make_plan(), "trial", [SHARD])


def test_rules_in_code_leave_out_a_statement_or_get_a_message_for_an_unknown_label() -> None:
    statements = pd.DataFrame({"text": ["a", "b"], "case_id": ["c1", "c2"]})
    labels = {"yes": "", "no": ""}

    def rows(*rule_labels: str) -> list[Any]:
        by_rule = dict(zip("ab", rule_labels, strict=True))
        rubric = Rubric(labels=labels, neutral="no")
        rubric = rubric.with_rules(lambda text, facts: (by_rule[text], facts), {}, reads_facts=True)
        return list(labels_by_rules(statements, rubric, {"c1": "Facts."}))

    yes = {"label": "yes", "labeler": "rules", "evidence": "Facts."}
    assert rows("yes", "") == [{"text": "a", "case_id": "c1", **yes}]
    with refusal():
        rows("no", "perhaps")


def test_people_override_rules_in_the_configured_order() -> None:
    columns: dict[str, Any] = {"debate_id": "c1#0", "case_id": "c1"}
    rows = [
        {**columns, "turn": 1, "label": "NONE", "labeler": "rules"},
        {**columns, "turn": 1, "label": "AFFIRM", "labeler": "human:zoe"},
        {**columns, "turn": 1, "label": "AFFIRM", "labeler": "human:bob"},
        {**columns, "turn": 1, "label": "REVERSE", "labeler": "human:ann"},
        {**columns, "turn": 2, "label": "REMAND", "labeler": "rules"},
        {**columns, "turn": 2, "label": "NONE", "labeler": "judge:gpt"},
    ]
    effective = effective_labels(pd.DataFrame(rows), ("human", "rules", "judge"))
    assert effective["label"].tolist() == ["AFFIRM", "REMAND"]
    assert effective_labels(pd.DataFrame(rows), ("judge", "rules", "human"))["label"].tolist() == [
        "NONE",
        "NONE",
    ]


def test_a_decision_takes_precedence_over_annotators() -> None:
    labels = pd.DataFrame(
        [
            ("d1", 1, "AFFIRM", "rules"),
            ("d1", 1, "REMAND", "human:ann"),
            ("d1", 1, "REMAND", "human:bob"),
            ("d1", 1, "REVERSE", "adjudicated:zoe"),
            ("d1", 2, "NONE", "rules"),
        ],
        columns=["debate_id", "turn", "label", "labeler"],
    )
    by_people = effective_labels(labels, ("human", "rules"))
    assert by_people["label"].tolist() == ["REVERSE", "NONE"]
    assert effective_labels(labels, ("rules", "human"))["label"].tolist() == ["AFFIRM", "NONE"]
