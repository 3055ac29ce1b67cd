"""De-identification and loading of opinions: invented ones for each rule, and the real ones if a
machine has them.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import UserError
from moot.datasets import LoadContext
from moot.studies.appellate.data_opinions import (
    SAMPLE,
    OpinionsOptions,
    describe_problems,
    load,
    load_human_statements,
)
from moot.studies.appellate.deidentify import Opinion, deidentify, recogniser
from moot.studies.appellate.deidentify.caption import (
    add_caption_names,
    extract_margins,
    find_parties,
)
from moot.studies.appellate.deidentify.entities import collect_record_words, introduces_party
from moot.studies.appellate.deidentify.gates import (
    find_marked_sentences,
    run_gates,
)
from moot.studies.appellate.deidentify.lexicon import Lexicon
from moot.studies.appellate.deidentify.recogniser import recognise_names
from moot.studies.appellate.deidentify.references import replace_references, show_letters
from moot.studies.appellate.legal.rules import label_statement
from moot.studies.appellate.legal.segments import extract_majority, extract_part, split_opinion
from moot.studies.appellate.opinion_reading import find_announced_outcome, read_opinions
from scripted_model import PROJECT

Context = Callable[..., LoadContext]
FACTS = (
    "Plaintiff Ann Brightwater appeals from a judgment in favor of Halvorsen Mills, Inc. She worked"
    " at the mill in Duluth for ten years. On March 3, 1994, Dr. Lena Quist told her that dust had"
    " harmed her lungs. Brightwater asked Halvorsen Mills for other work, and Mr. Odell of"
    " Halvorsen Mills refused it. The mill had been warned twice before, and the warnings were"
    " known to its manager. She sued in the district court, which granted summary judgment. We"
    " affirm."
)
TEXT = (
    "ANN BRIGHTWATER, Plaintiff-Appellant, v. HALVORSEN MILLS, INC., Defendant-Appellee.\n\nJane"
    f" R. Tolliver, for appellant.\n\nOPINION\nSTURM, Judge.\n\n{FACTS}\n\nDISCUSSION\n\nWe review"
    " the grant of summary judgment. See Doe v. Roe, 12 F.3d 345 (8th Cir. 1993). The warnings do"
    " not matter.\n\nCONCLUSION\n\nFor these reasons, we affirm the judgment.\n\nIT IS SO"
    " ORDERED.\n\nWE CONCUR: PELHAM, Chief Judge, and ISOLDE KRAY, Judge."
)
NAMES = (
    "brightwater",
    "halvorsen",
    "tolliver",
    "sturm",
    "pelham",
    "kray",
    "quist",
    "odell",
    "duluth",
)


def made_up() -> Opinion:
    return Opinion(
        "made-up",
        TEXT,
        outcome="affirm",
        marked_sentences=("We affirm.", "For these reasons, we affirm the judgment."),
    )


def test_parts_of_an_opinion() -> None:
    spans = split_opinion(TEXT)
    assert [span.part for span in spans] == [
        "caption",
        "background",
        "reasoning",
        "disposition",
        "after",
    ]
    assert extract_part(TEXT, spans, "background").startswith("Plaintiff Ann Brightwater")
    assert "affirm the judgment" in extract_majority(TEXT)
    assert "CONCUR" not in extract_majority(TEXT)


def test_caption_and_signatures_name_everybody() -> None:
    complete = add_caption_names(made_up())
    assert ("ANN BRIGHTWATER", "plaintiff") in complete.parties
    assert ("HALVORSEN MILLS, INC.", "defendant") in complete.parties
    words = collect_record_words(complete, Lexicon([complete.text]))
    assert {"sturm", "pelham", "isolde", "kray", "tolliver"} <= words


def test_a_caption_may_have_several_lines() -> None:
    text = (
        "NO. 7\nORRIN ANDROSS,\nAppellant\nV.\nMEYAH MILLS NO. 2, LTD.,\nAppellee\nOPINION\nHe"
        " fell.\nDiscussion\nWe look.\n"
    )
    parties = add_caption_names(Opinion("lines", text)).parties
    assert ("ORRIN ANDROSS", "appellant") in parties
    assert ("MEYAH MILLS NO. 2, LTD.", "appellee") in parties


def test_an_opinion_without_a_caption_introduces_its_parties() -> None:
    for text in (
        "Plaintiff Mia Prieskow sued.",
        "Stella Bustamo (Mother) appeals.",
        "It had sued Orrin Andross.",
    ):
        background = f"There was a defendant. {text}"
        assert introduces_party(background, Lexicon([background]))
    background = "Defendant was there, and the plaintiff sued. Plaintiff Defendant left."
    assert not introduces_party(background, Lexicon([background]))


def test_names_and_outcomes_are_removed_and_facts_stay() -> None:
    deidentified = deidentify(made_up(), 6000)
    assert deidentified.report.passed, describe_problems(deidentified)
    assert not [name for name in NAMES if name in deidentified.facts.lower()]
    assert "affirm" not in deidentified.facts.lower()
    assert "Doctor A told her that dust had harmed her lungs" in deidentified.facts
    assert "1994" not in deidentified.facts


def test_replacement_is_consistent() -> None:
    deidentified = deidentify(made_up(), 6000)
    assert deidentified.names["ANN BRIGHTWATER"] == deidentified.names["Brightwater"]
    assert deidentified.facts.count(deidentified.names["ANN BRIGHTWATER"]) >= 2


def test_the_gate_sees_a_name_that_the_chain_left(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = add_caption_names(made_up())
    assert "brightwater" in collect_record_words(complete, Lexicon([complete.text]))
    report = run_gates(complete, "The appellant, one BRIGHTWATER, worked at a mill. " * 5)
    assert len(report.names) == 5
    assert not report.passed


def test_the_gate_sees_an_outcome_that_the_chain_left() -> None:
    text = "She worked at the mill. For these reasons, we affirm the judgment. She was ill."
    report = run_gates(add_caption_names(made_up()), text)
    assert report.outcomes
    assert find_marked_sentences(["For these reasons, we affirm the judgment."], text)
    assert not find_marked_sentences(["We affirm."], "She worked at the mill, as we know.")


def test_initials_of_a_minor_are_a_name() -> None:
    text = (
        TEXT.replace("ANN BRIGHTWATER", "T.A., a Minor")
        .replace("Ann Brightwater", "T.A.")
        .replace("Brightwater", "T.A.")
    )
    deidentified = deidentify(Opinion("minor", text), 6000)
    assert "T.A." not in deidentified.facts


def test_references_become_letters() -> None:
    text = (
        "On May 3, 1994, and again on May 3, 1994, he broke 18 U.S.C. § 2511(1)(a) in No. 93-1234."
        " His number is 585-33-7993."
    )
    assert (
        show_letters(replace_references(text))
        == "on date A, and again on date A, he broke statute A in docket A. His number is number A."
    )


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (
            "STATE, Plaintiff-Appellee, v. LEE CARVER, Defendant-Appellant",
            ("LEE CARVER", "defendant"),
        ),
        ("In re Estate of Holm", ("Estate of Holm", "")),
        ("Hale v. Kirsch Bros., LLC", ("Kirsch Bros., LLC", "")),
    ],
)
def test_parties_of_a_style(style: str, expected: tuple[str, str]) -> None:
    assert expected in find_parties(style)


@pytest.mark.parametrize(
    "signature",
    [
        "WE CONCUR: EASTER, WOOD, and TILL, Circuit Judges.",
        "IT IS SO ORDERED.\n\nEASTER, Chief Judge.\nTILL and WOOD, JJ., concur.",
    ],
)
def test_signatures_are_in_the_margins(signature: str) -> None:
    text = TEXT[: TEXT.index("IT IS SO ORDERED")] + signature
    margins = extract_margins(text).lower()
    assert "easter" in margins and "wood" in margins and "sturm" in margins
    assert "duluth" not in margins


# Loading


def _write(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "opinions.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def _records(count: int = 10, **changes: Any) -> list[dict[str, Any]]:
    outcomes = ("Affirm", "Reverse")
    return [
        {"id": str(number), "text": TEXT, "label": outcomes[number % 2], **changes}
        for number in range(count)
    ]


def test_the_sample_has_the_five_cases_as_the_paper_states(load_context: Context) -> None:
    loaded = load(OpinionsOptions(source="sample"), load_context("opinions"))
    outcomes = {int(case.attributes["number"]): case.attributes["outcome"] for case in loaded.cases}
    assert outcomes == {1: "affirm", 2: "affirm", 3: "mixed", 4: "reverse", 5: "affirm"}
    assert [case.target for case in loaded.cases].count("affirm") == 3
    assert not [case.case_id for case in loaded.cases if "affirm" in case.text.lower()]


def test_every_statement_of_the_bank_takes_its_stance(load_context: Context) -> None:
    for case in load(OpinionsOptions(source="sample"), load_context("opinions")).cases:
        for stance, statements in load_human_statements(case.case_id).items():
            assert len(statements) >= 3
            assert [label_statement(statement).code for statement in statements] == [
                int(stance == "affirm")
            ] * len(statements)


STATUTE = re.compile(r"\b\d+ U\.S\.C\. § \d+\w*(?:\(\d\))?")
CASE = re.compile(
    r"(?:In re [A-Z]\w+|[A-Z][\w.&,' ]+ v\. [A-Z][\w.&,' ]+?), \d+ U\.S\. \d+ \(\d{4}\)"
)


def script_comments() -> dict[str, list[str]]:
    """The authorities in the comments of each case of the sample, each with its holding."""
    text = (PROJECT / SAMPLE).read_text("utf-8")
    comments = {}
    for block in re.split(r"(?m)^- case_id: ", text)[1:]:
        lines = re.findall(r"(?m)^  #(.*)$", block)
        text_of_case = " ".join(line.strip() for line in lines)
        comments[block.split("\n")[0]] = re.split(r" - (?=[A-Z0-9])", text_of_case)[1:]
    return comments


@pytest.mark.parametrize("case_id", list(script_comments()))
def test_each_script_has_the_length_and_the_citations_of_the_papers(case_id: str) -> None:
    comments = script_comments()[case_id]
    authorities = tuple({re.split(r": (?=\w|\()", line)[0] for line in comments})
    assert all(len(line) > len(line.split(": ")[0]) + 2 for line in comments), "each has a holding"
    for stance, statements in load_human_statements(case_id).items():
        assert len(statements) == 3
        for statement in statements:
            assert 200 <= len(statement.split()) <= 270, (stance, statement)
            cited = {*STATUTE.findall(statement), *map(str.strip, CASE.findall(statement))}
            assert 2 <= len(cited) <= 4, (stance, cited)
            for citation in cited:
                assert citation.endswith(authorities), citation


REPLIES_TO_OTHERS = (
    r"(?i)\b(?:my|our) (?:dear |learned )?(?:colleagues?|brothers?|sisters?)\b"
    r"|\bI have (?:heard|listened)\b"
    r"|\bI am told\b|\bwe are told\b|\b(?:said|heard|argued) here\b|\bJudge \w+ (?:says|argues)\b"
    r"|\bas (?:the other|another) judge\b|\bI (?:still|remain)\b|\bI agree\b"
)


def test_no_script_replies_to_others() -> None:
    for case_id in script_comments():
        for statements in load_human_statements(case_id).values():
            for text in statements:
                assert not list(re.finditer(REPLIES_TO_OTHERS, text))


def test_models_see_no_names_of_local_opinions(tmp_path: Path, load_context: Context) -> None:
    _write(tmp_path, _records())
    loaded = load(
        OpinionsOptions(source="local", path="opinions.jsonl"),
        load_context("opinions", data_root=tmp_path),
    )
    assert len(loaded.cases) == 10
    assert {case.target for case in loaded.cases} == {"affirm", "not affirm"}
    visible_text = " ".join(
        [case.text + json.dumps(dict(case.attributes)) for case in loaded.cases]
    ).lower()
    assert not [name for name in NAMES if name in visible_text]
    assert loaded.cleaning["excluded: a gate failed"] == 0


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"id": "1", "text": "   "}], "the opinion is empty"),
        ([{"id": "1", "text": "x" * 2_000_000}], "2,000,000 characters"),
        ([{"id": "1", "text": TEXT}, {"id": "1", "text": TEXT}], "taken by"),
        ([{"id": "1", "text": TEXT, "label": "Perhaps"}], "outcome 'perhaps'"),
        ([{"id": "1"}], "missing field 'text'"),
    ],
)
def test_bad_opinions_get_one_clear_message(
    records: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = _write(tmp_path, records)
    with pytest.raises(UserError, match=message) as error:
        list(read_opinions(path))
    assert str(path) in str(error.value)


def test_an_opinion_without_names_is_not_used(tmp_path: Path, load_context: Context) -> None:
    bare = "The plaintiff fell on the stairs. " * 20 + "We affirm."
    _write(tmp_path, [*_records(), {"id": "bare", "text": bare, "label": "Affirm"}])
    options = OpinionsOptions(source="local", path="opinions.jsonl")
    loaded = load(options, load_context("opinions", data_root=tmp_path))
    assert "bare" not in {case.case_id for case in loaded.cases}
    assert loaded.cleaning["excluded: a gate failed"] == 1
    with pytest.raises(UserError, match="no party found"):
        load(
            options.model_copy(update={"failed_cases": "error"}),
            load_context("opinions", data_root=tmp_path),
        )


def test_a_missing_folder_and_source_get_one_clear_message(
    tmp_path: Path, load_context: Context
) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        load(
            OpinionsOptions(source="local", path="nowhere"),
            load_context("opinions", data_root=tmp_path),
        )
    with pytest.raises(UserError, match="expected sample or local"):
        load(OpinionsOptions(source="download"), load_context("opinions", data_root=tmp_path))


@given(st.text(max_size=300))
@settings(max_examples=50)
def test_any_text_can_be_deidentified(text: str) -> None:
    deidentified = deidentify(Opinion("any", text), 1000)
    assert deidentified.report.passed <= (len(deidentified.facts) >= 200)


def test_real_opinions_pass_the_gates_and_show_no_doubles(shared_data: Path) -> None:
    opinions = list(read_opinions(shared_data / "opinions" / "nm_appeals_250.jsonl"))[::10]
    finished = [deidentify(opinion, 6000) for opinion in opinions]
    assert sum(deidentified.report.passed for deidentified in finished) / len(finished) >= 0.85
    for facts in (deidentified.facts for deidentified in finished if deidentified.report.passed):
        assert not re.search(
            r"\b(?:the the|a the|Person Person|(?:Mr|Ms|Dr)\.)|\b(Person|City|County|Judge) \1\b",
            facts,
        )
        assert not re.search(r"\b\d+ (?:N\.M\.|P\.[23]d|U\.S\.) \d+|Inc\.|\bCorp\b", facts)


def test_real_records_of_the_caselaw_access_project(shared_data: Path) -> None:
    opinions = list(read_opinions(shared_data / "opinions" / "cap_illinois_sample.jsonl"))
    assert len(opinions) == 10
    assert all(
        opinion.parties and opinion.judges and opinion.counsel and opinion.outcome
        for opinion in opinions
    )
    for opinion in opinions:
        deidentified = deidentify(opinion, 6000)
        assert deidentified.report.passed, describe_problems(deidentified)


def test_the_text_that_the_loader_reads_gives_the_outcome(shared_data: Path) -> None:
    opinions = list(read_opinions(shared_data / "opinions" / "nm_appeals_250.jsonl"))
    are_correct = [find_announced_outcome(opinion.text) == opinion.outcome for opinion in opinions]
    assert sum(are_correct) / len(are_correct) >= 0.92


def test_a_source_outcome_wins_over_the_rules() -> None:
    assert replace(made_up(), outcome="mixed").outcome == "mixed"


def test_a_recogniser_finds_names_that_no_caption_has() -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra `ner` is not installed")
    names = dict(
        recognise_names("Barbara Johnson drove from Chicago to Milwaukee to see her doctor.")
    )
    assert names["Barbara Johnson"] == "person"
    assert {"Chicago", "Milwaukee"} <= {name for name, kind in names.items() if kind == "place"}


def test_what_a_recogniser_knows_counts_where_the_rules_know_no_role() -> None:
    facts = FACTS.replace(
        "a judgment", "a judgment. The foreman was Stone. He said that stone is hard; a judgment"
    )
    deidentified = deidentify(
        replace(made_up(), text=TEXT.replace(FACTS, facts)),
        6000,
        lambda facts: [("Ed Stone", "person")],
    )
    assert "stone is hard" in deidentified.facts
    assert "Stone" not in deidentified.facts


def test_without_the_recogniser_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    recogniser._analyzer.cache_clear()
    with pytest.raises(UserError, match="make env EXTRAS=ner"):
        recognise_names("Barbara Johnson drove from Chicago.")
