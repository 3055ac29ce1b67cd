"""What must not survive de-identification, and what the independent gate says of a text that keeps
it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from moot.core.artifacts import read_frame
from moot.datasets import LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, load
from moot.studies.appellate.deidentification import write_deidentification
from moot.studies.appellate.deidentify import Opinion, deidentify, recogniser
from moot.studies.appellate.deidentify.caption import add_caption_names
from moot.studies.appellate.deidentify.entities import find_party_rules
from moot.studies.appellate.deidentify.hints import states_general_rule, tells_outcome
from moot.studies.appellate.deidentify.lexicon import Lexicon
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.replacing import remove_repetitions
from moot.studies.appellate.deidentify.survivors import find_survivors
from moot.studies.appellate.deidentify.words import list_english_lemmas
from moot.studies.appellate.legal.segments import extract_majority
from moot.studies.appellate.opinion_reading import find_announced_outcome, read_opinions

Context = Callable[..., LoadContext]
PLAIN = (
    "The truck was stopped on the road near a house. The officer asked for the papers, and the"
    " driver gave them to him. The clerk of the store was told about the stone wall. A price was"
    " paid for the lease of the land. "
)


def opinion(facts: str, ending: str = "For these reasons, we affirm the judgment.") -> Opinion:
    return Opinion(
        "made-up",
        f"OPINION\nSTURM, Judge.\n\n{facts}\n\nDISCUSSION\n\nWe review"
        f" it.\n\nCONCLUSION\n\n{ending}",
    )


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("It was OPINION, ZEMBLE who wrote it.", "capitalised word"),
        ("Respondent, United Nuclear Corporation (Name A), mined it.", "capitalised word"),
        ("The gas came from LP Gas Equipment, Inc. in the spring.", "capitalised word"),
        ("He saw Dr. Sean Name A on the road.", "capitalised word"),
        ("The house of Mr. And Ms. Ostrander was sold.", "capitalised word"),
        ("He lived at 18 Jenkins Road for a year.", "capitalised word"),
        ('The driver was J.E. "Gene" Statute A of the store.', "initials"),
        ("It was written by Kilbraith, justice.", "capitalised word"),
        ("The driver told Odette Person A of it.", "capitalised word"),
        ("Ronald and Person A, Plaintiffs, sold it.", "unknown word opens a sentence"),
        ("The minor was called T.A. by the clerk.", "initials"),
        ("The clerk of G & G was told.", "initials"),
        ("This was decided in 132 N.M. 433, 50 P.3d 182 before.", "citation"),
        ("The case was No. 98-1234 of the court.", "docket number"),
        ("Defendant told Stone that the wall was his.", "capitalised word"),
        ("Stone testified that the wall was his.", "a name opens a sentence"),
        ("Zemke testified that the wall was his.", "unknown word opens a sentence"),
        ("He wrote to gene@example.org about the wall.", "personal number"),
        ("The truck was stopped by Deputy House on the road.", "customary word as a name"),
        ("The driver lived in Pueblo, and left.", "customary word as a name"),
        ("A mile on, June testified that the wall was his.", "customary word as a name"),
        ("The driver went to los University A on the road.", "part of a name"),
        ("La Officer A saw the driver on the road.", "part of a name"),
        ("The clerk of Person A & G was told of it.", "part of a name"),
        ("It was sold to U S Company A for a price.", "part of a name"),
        ("The driver told Person A House of it.", "part of a name"),
        ("The truck was stopped behind the Name A K by the officer.", "part of a name"),
        ("The truck was seen at Company A American, and left.", "part of a name"),
        ("The driver had a policy of National General, and paid.", "name of customary words"),
        ("For a year National had failed to pay, and left.", "customary word as a name"),
        ("The price was paid to Bank of America in the spring.", "name of customary words"),
        ("He was seen at the Family Medical Center in the spring.", "name of customary words"),
        (
            "The truck was stopped near Indian School Road by the officer.",
            "name of customary words",
        ),
    ],
)
def test_the_independent_gate_sees_what_an_extractor_left(sentence: str, reason: str) -> None:
    text = f"{PLAIN}{sentence} The driver left."
    assert reason in {survivor.reason for survivor in find_survivors(text, Lexicon([PLAIN]))}


def test_the_independent_gate_lets_facts_without_names_pass() -> None:
    text = (
        f"{PLAIN}Defendant and Person B drove to City A on date A. Thereafter, Officer A stopped"
        " Person B's truck. The State charged Defendant under statute A in docket B, Count II."
        " However, the District Court of County A dismissed it."
    )
    assert not find_survivors(text, Lexicon([PLAIN]))


def test_customary_words_alone_name_companies_and_streets() -> None:
    facts = (
        "Plaintiff Ann Lee sued Defendant National General over a policy. She had stopped at the"
        " store in School District 187, near a 7-Eleven on Indian School Road, when a truck hit"
        " her. The American driver left. National General denied the claim under Resolution 98-12."
        " She lived at 2936 Vista Grande, was seen at the Family Medical Center and then at the"
        " Medical Center of the city, and was insured by State Ranch Insurance (State Ranch) and"
        f" the 3M Company, which paid Bank of America. The State Road was wet. {PLAIN}"
    )
    deidentified = deidentify(opinion(facts), 6000)
    assert deidentified.report.passed, deidentified.report
    name_pattern = (
        r"National|General|187|[Ee]leven|School|98-12|2936|3M|America\b|Family|State (?!Road)"
    )
    assert not re.search(name_pattern, deidentified.facts), deidentified.facts
    for phrase in ("The American driver", "The State Road was wet", "the Medical Center"):
        assert phrase in deidentified.facts


def test_a_term_that_the_opinion_defines_has_the_pseudonym_of_its_name() -> None:
    facts = (
        "Plaintiff Ann Lee had an account at the First State Bank of Tarnow (First State). First"
        " State sued United Harbor Life Insurance Company (United). United paid nothing. Rex Moon"
        " and Dora Vigil (together, Defendants) left. Defendants were told of the joint venture"
        f" (the Joint Venture). He failed the breath alcohol test (BAT). {PLAIN}"
    )
    deidentified = deidentify(opinion(facts), 6000)
    assert deidentified.report.passed, deidentified.report
    assert "Defendant paid nothing" in deidentified.facts, deidentified.facts
    assert deidentified.names["First State"] == deidentified.names["First State Bank of Tarnow"]
    assert (
        deidentified.names["United"] == deidentified.names["United Harbor Life Insurance Company"]
    )
    assert "Defendants were told" in deidentified.facts and "(BAT)" in deidentified.facts, (
        deidentified.facts
    )


def test_all_capitals_next_to_a_name_belong_to_it_and_a_broken_name_is_whole() -> None:
    facts = (
        "Defendant Rex Moon saw Officers Hale, Moss, and Zemke of the Tarnow City Fire Department."
        " Officer Hale drove along Tarnow Boulevard to 4th Street, in Township 12 North, in case"
        ' CR 95-1234. Ann Brightwater told him, "Go home, Al." Bright water left. Brandishing a'
        f" bat, he followed Brightwater. {PLAIN}"
    )
    deidentified = deidentify(opinion(facts), 6000)
    assert deidentified.report.passed, deidentified.report
    assert "Defendant saw Officer A, Officer B, and Officer C" in deidentified.facts
    assert not re.search(
        r"Fire|Tarnow|4th|Township|95-1234|Al\b|Bright|\bwater\b", deidentified.facts
    ), deidentified.facts
    assert "Brandishing a bat" in deidentified.facts


def test_an_officer_is_no_agency_and_a_road_no_bank() -> None:
    facts = (
        "Plaintiff Ann Lee sued the Tarnow Bank. Officer Tarnow stopped her truck on Tarnow Road."
        f" The Tarnow Police Department asked Plaintiff's Fordham of it. {PLAIN}"
    )
    names = deidentify(opinion(facts), 6000).names
    assert (
        len(
            {
                names[name]
                for name in ("Tarnow Bank", "Tarnow", "Tarnow Road", "Tarnow Police Department")
            }
        )
        == 4
    )
    assert names["Tarnow"].startswith("Officer") and names["Tarnow Road"].startswith("Road")
    assert names["Fordham"] != names["Ann Lee"]


def test_a_name_behind_that_is_a_name() -> None:
    facts = (
        "Dr. Sue Land treated Plaintiff Ann Lee. Lee complained that Land's note was false, and"
        " the land was sold. The Ninth Judicial District Attorney wrote of it to the second"
        f" judicial district. {PLAIN}"
    )
    facts = deidentify(opinion(facts), 6000).facts
    assert "complained that Doctor A's note was false, and the land was sold" in facts, facts
    assert not re.search("ninth|second", facts, re.IGNORECASE), facts


def test_a_party_may_bear_a_customary_word_for_a_name() -> None:
    facts = f"The State charged Street. Street was seen near the street, and left. {PLAIN}"
    deidentified = deidentify(replace(opinion(facts), parties=[("Street", "defendant")]), 6000)
    assert "Street" not in deidentified.facts and "near the street" in deidentified.facts


def test_customary_words_are_names_by_their_neighbours() -> None:
    facts = (
        "Plaintiff Ann Lee sued Defendant Rex Moon. Deputy House stopped the truck near Los"
        " Alamos, and House told Lee of it. Lee moved to the Pueblo of Laguna. The State "
        "sent Officer Gina La Brosse to the house. La Brosse asked for the papers under "
        f"N.M. law and 1978 N.M. Laws ch. 12, and under Section 30-2-l(B). {PLAIN}"
    )
    deidentified = deidentify(opinion(facts), 6000)
    assert deidentified.report.passed, deidentified.report
    assert not re.search(
        r"House|Alamos|\b[Ll]os\b|Laguna|Brosse|La |N\.M|30-2", deidentified.facts
    ), deidentified.facts
    assert "to the house" in deidentified.facts


def test_a_recogniser_judges_the_finished_text_too() -> None:
    text = f"{PLAIN} Price went home."
    assert not find_survivors(text, Lexicon([PLAIN]))
    survivors = find_survivors(
        text, Lexicon([PLAIN]), lambda facts: [("Price", "person")] if "Price" in facts else []
    )
    assert [survivor.reason for survivor in survivors] == ["recogniser"]


def test_only_a_caption_or_a_definition_makes_a_party() -> None:
    facts = (
        "Defendant John Garcia appeals his conviction. According to Defendant, Smith struck the"
        " store clerk while he waited in the truck. Maria Garcia corroborated Defendant's version."
        " Officer Lee Hall watched Defendant's truck from the road. Garcia drove the truck to the"
        " house of Smith. Defendant Garcia was arrested there. John Garcia said that he had been"
        " asleep, and his mother Rosa Vigil said so, too."
    )
    deidentified = deidentify(opinion(facts), 6000)
    assert deidentified.report.passed, deidentified.report
    assert (
        "According to Defendant, Name A struck" in deidentified.facts
        or "According to Defendant, Person" in deidentified.facts
    )
    assert re.search(r"Person [A-Z] corroborated Defendant's version", deidentified.facts)
    assert "Officer A watched Defendant's truck" in deidentified.facts
    assert deidentified.names["John Garcia"] == "Defendant"
    assert deidentified.names["Maria Garcia"].startswith("Person")
    assert not re.search(r"Garcia|Smith|Hall|Vigil|Rosa", deidentified.facts)


@pytest.mark.parametrize(
    ("caption", "facts", "rule"),
    [
        (
            "ANN LEE, Plaintiff-Appellant, v. ROAD WORKS, INC., Defendant-Appellee.\n\n",
            "She fell.",
            "caption",
        ),
        ("In the Matter of the Estate of RALPH HOBBS, Deceased.\n\n", "He died.", "matter"),
        (
            "STATE ex rel. DORA VIGIL, Petitioner, v. HON. REX MOON, Respondent.\n\n",
            "She asked for a writ.",
            "caption",
        ),
        ("", "Worker Dora Vigil fell from a roof and could not work again.", "definition"),
        (
            "",
            (
                "That day Defendant left. The police saw Defendant there, and the State charged"
                " Defendant."
            ),
            "role nouns",
        ),
    ],
)
def test_parties_are_found_by_more_than_one_rule(caption: str, facts: str, rule: str) -> None:
    text = (
        f"{caption}OPINION\nSTURM, Judge.\n\n{facts}\n\nDISCUSSION\n\nWe review"
        " it.\n\nCONCLUSION\n\nWe affirm."
    )
    opinion_with_names = add_caption_names(Opinion("made-up", text))
    assert rule in find_party_rules(opinion_with_names, Lexicon([text]))
    if rule == "matter":
        assert ("RALPH HOBBS", "") in opinion_with_names.parties
    if "ex rel" in caption:
        assert any("DORA VIGIL" in name for name, _ in opinion_with_names.parties)


def test_replacing_leaves_no_doubles() -> None:
    assert remove_repetitions("He met the the driver.") == "He met the driver."
    assert (
        remove_repetitions("Person Person B and Person A (Person A) met County County A.")
        == "Person B and Person A met County A."
    )
    assert (
        remove_repetitions("Defendant, Defendant, left with Mr. Person A and Officer Officer B.")
        == "Defendant, left with Person A and Officer B."
    )
    assert (
        remove_repetitions("It was sold to Name B-berg by the Person A's son.")
        == "It was sold to Name B by Person A's son."
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "We proposed to affirm in a calendar notice.",
        "Because the order is not final, this Court does not have jurisdiction.",
        "The district court, on remand, should consider the claim for fees.",
        "These facts provide no basis for reversal.",
        "The district court properly concluded that the claim was barred.",
        "Our review of the record shows no evidence of it.",
        "Here, the process was begun within the prescribed period.",
        "The lease remains in full force and effect.",
        "Its admission unfairly prejudiced Defendant.",
        "As a consequence, the order is void, as are the proceedings conducted under it.",
        (
            "The right to approve or deny shall be governed instead by a general standard of"
            " reasonableness."
        ),
        (
            "Further, her assertion that she was entitled to a hearing is a factual question to be"
            " decided by a jury."
        ),
        "The opinion filed on date A is hereby withdrawn.",
        "The motion for rehearing is denied.",
        (
            "Defendant appeals the denial of a motion for mistrial after impermissible evidence was"
            " introduced."
        ),
        (
            "The question is whether a judge may consider that counsel engaged in the permissible"
            " practice of writing."
        ),
        "The evidence supports the conviction.",
        '"It is appropriate that a jury decide it."',
        "As for the lease, the County cannot now protest that the court did not read it.",
        "The district court's extensive and thoughtful explanation reveals a number of reasons.",
        "Since the petition alleged a loss, the district court was required to review it.",
        "The State makes an important point.",
        "The denial of the allowance was arbitrary.",
        "A. The Court did not err in awarding the arrearages.",
        "Precedent clearly supports the position of Defendant.",
        "Unlike that lease, however, the lease before the court names no price.",
        '"As a general rule, we will indulge in all presumptions in support of the ruling."',
    ],
)
def test_hints_of_the_outcome_are_seen(sentence: str) -> None:
    assert tells_outcome(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        (
            "Defendant argues that the district court erred in denying the motion, which requires"
            " reversal."
        ),
        "The Court of Appeals affirmed the order, and the State appeals.",
        'She told the officer, "we went to the store together."',
        "The district court granted the motion and dismissed the complaint with prejudice.",
        "The trial court found that the order was void and the notice untimely.",
        "Plaintiff argues that the erroneous instruction prejudiced her.",
        "Statute A requires the Department to hold a hearing, which must be public.",
        "Therefore, she requested the assistance of Person B.",
        "There was no other agreement as to the sentence.",
    ],
)
def test_history_and_arguments_are_no_hints(sentence: str) -> None:
    assert not tells_outcome(sentence)


def test_the_courts_reading_of_the_law_is_no_fact() -> None:
    law = (
        "This language states that commencement of trial within the stated period is mandatory.",
        "However, the scope of the Commission's jurisdiction is defined by statute.",
        "Subsection C deals with persons driving on lands of another.",
            "The movant bears the burden to show it.",
        "New Mexico follows the rule of the majority.",
            "Generally, a negligence claim requires the existence of a duty.",
    )  # fmt: skip
    assert not [sentence for sentence in law if not states_general_rule(sentence)]


def test_what_is_told_of_somebody_or_provided_is_a_fact() -> None:
    sentences = (
        "Plaintiff is a carrier.",
            "The house is known as Vista House.", "He owns the land, which is dry.",
        "Section 3 provides that the notice must be public.",
            "The affidavit states that the house is occupied.",
        "The rule was amended, and requires a notice now.",
    )  # fmt: skip
    assert not [sentence for sentence in sentences if states_general_rule(sentence)]


def test_an_introduction_asserts_nothing_and_a_holding_is_not_explained() -> None:
    text = (
        "OPINION\nSTURM, Judge.\n\n{1} Plaintiff Ann Lee appeals an order of the district court."
        " The covenant is a burden on the land. We hold that it binds Defendant. An owner who buys"
        " it is bound.\n\nBACKGROUND\n\n{2} Defendant is an owner of land."
        f" {PLAIN}\n\nDISCUSSION\n\nWe review it.\n\nCONCLUSION\n\nWe affirm."
    )
    facts = deidentify(Opinion("made-up", text), 6000).facts
    assert facts.startswith(
        "Plaintiff appeals an order of the district court. Defendant is an owner of land."
    ), facts


def test_facts_end_where_the_court_begins_to_reason() -> None:
    facts = f"Plaintiff Ann Lee sued Defendant Rex Moon. {PLAIN * 3}"
    reasons = (
        "A carrier owes a duty of care. It must be shown that the duty was breached. The rule"
        " requires a notice. He had driven on. A notice bars the claim. The law follows the same"
        " rule for a lease. "
    )
    assert "He had driven on" not in deidentify(opinion(f"{facts}{reasons}"), 6000).facts
    assert "He had driven on" in deidentify(opinion(f"{facts}{reasons}{PLAIN * 5}"), 6000).facts


def test_ordinary_prose_ends_no_opinion() -> None:
    ending = (
        "It was so ordered. See id. We concur with the district court that the wall was his. It is"
        " so ordered in most cases, and all concur in that. We reverse the judgment.\n\nIT IS SO"
        " ORDERED.\n\nWE CONCUR: PELHAM, Chief Judge."
    )
    opinion_text = opinion(f"Plaintiff sued. {PLAIN}", ending)
    assert extract_majority(opinion_text.text).rstrip().endswith("We reverse the judgment.")
    assert find_announced_outcome(opinion_text.text) == "reverse"


def test_a_mixed_introduction_outweighs_an_end_that_names_one_half() -> None:
    introduction = (
        f"Plaintiff appeals. We affirm the verdict and reverse the award of interest. {PLAIN * 8}"
    )
    assert (
        find_announced_outcome(
            opinion(introduction, f"{PLAIN * 6}We reverse the award of interest.").text
        )
        == "mixed"
    )
    assert (
        find_announced_outcome(opinion(f"{PLAIN}We affirm.", "The wall was his.").text) == "affirm"
    )


def test_citations_are_seen_by_library_and_by_form() -> None:
    assert cites_cases("See Lee v. Hall, 12 F.3d 345, 350 (8th Cir. 1993).")
    assert cites_cases("The rule is that of 2003-NMCA-012 and of N.M. 4 , 132 N.M. 433.")
    assert not cites_cases("He paid $1,500 in 12 months and left for 3 days under Section 30-2-1.")


def _write(folder: Path, records: list[dict[str, object]]) -> None:
    (folder / "opinions.jsonl").write_text(
        "\n".join(json.dumps(record) for record in records), encoding="utf-8"
    )


def _records() -> list[dict[str, object]]:
    facts = f"Plaintiff Ann Lee sued Defendant Rex Moon. {PLAIN * 2}"
    records: list[dict[str, object]] = [
        {"id": str(number), "text": opinion(facts).text, "label": ("Reverse", "Affirm")[number % 2]}
        for number in range(10)
    ]
    records[3]["outcome_sentences"] = ["For these reasons, we affirm the judgment."]
    return records


def test_a_record_without_optional_fields_hides_those_of_no_other(
    tmp_path: Path, load_context: Context
) -> None:
    records = _records()
    del records[0]["label"]
    _write(tmp_path, records)
    opinions = list(read_opinions(tmp_path / "opinions.jsonl"))
    assert [opinion_with_names.outcome for opinion_with_names in opinions] == [
        "affirm",
        *["affirm", "reverse"] * 4,
        "affirm",
    ]
    assert opinions[3].marked_sentences
    options = OpinionsOptions(source="local", path="opinions.jsonl")
    account = load(options, load_context("opinions", data_root=tmp_path)).cleaning
    assert (account["outcome from the source"], account["outcome from the rules"]) == (9, 1)


def test_every_exclusion_is_counted_with_its_reason(
    tmp_path: Path, load_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = opinion(f"The plaintiff was tired. {PLAIN * 2}").text
    _write(tmp_path, [*_records(), {"id": "bare", "text": bare, "label": "Affirm"}])
    options = OpinionsOptions(source="local", path="opinions.jsonl", ner=False)
    account = load(options, load_context("opinions", data_root=tmp_path)).cleaning
    assert (account["excluded: a gate failed"], account["excluded for: no party found"]) == (1, 1)
    assert account["parties found by definition"] == 10
    assert account["opinions read by the trained recogniser"] == 0
    monkeypatch.setattr(recogniser, "is_installed", lambda: True)
    monkeypatch.setattr(recogniser, "recognise_names", lambda facts: [("The", "person")])
    auto = load(
        OpinionsOptions(source="local", path="opinions.jsonl"),
        load_context("opinions", data_root=tmp_path),
    )
    assert auto.cleaning["opinions read by the trained recogniser"] == 11


def test_the_file_beside_the_cases_says_why_each_opinion_fell_out(
    tmp_path: Path, load_context: Context
) -> None:
    bare = opinion(f"The plaintiff was tired. {PLAIN * 2}").text
    _write(tmp_path, [*_records(), {"id": "bare", "text": bare, "label": "Affirm"}])
    options = OpinionsOptions(source="local", path="opinions.jsonl")
    write_deidentification(
        options, load_context("opinions", data_root=tmp_path), tmp_path / "beside.parquet"
    )
    frame = read_frame(tmp_path / "beside.parquet").set_index("case_id")
    assert json.loads(frame.loc["bare", "reasons"]) == ["no party found"]
    assert frame.loc["1", "outcome_from"] == "source"
    assert json.loads(frame.loc["1", "party_rules"]) == ["definition"]
    assert json.loads(frame.loc["1", "names"])["Ann Lee"] == "Plaintiff"


# Kinds of pseudonyms, words that are no names, sides and outcomes


def _facts_of(facts: str, *, caption: str = "") -> str:
    full_opinion = opinion(f"{facts} {PLAIN}")
    text = f"{caption}{full_opinion.text}"
    finished_facts = deidentify(replace(full_opinion, text=text), 2000).facts
    return finished_facts.partition("The truck was stopped")[0].strip()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            "Plaintiff Ann Lee lived in Dunmore. She had a loan from the Dunmore Bank. She left"
            " Dunmore in the spring.",
            "Plaintiff lived in Place A. She had a loan from Bank A. She left Place A in the"
            " spring.",
        ),
        (
            "Dr. Sue Alvarez, a psychiatrist, saw Plaintiff Ann Lee. The hearing was before Judge"
            " Ruth Alvarez. Judge Alvarez listened to the psychiatrist Ruben Alvarado.",
            "Doctor A, a psychiatrist, saw Plaintiff. The hearing was before Judge A. Judge A"
            " listened to the psychiatrist Person A.",
        ),
        (
            "Defendant Rex Moon paid the Citizens for Clean Rivers, an advocacy group. The Tarnow"
            " Preservation Alliance and the Tarnow Conservation League wrote to him.",
            "Defendant paid Organization A, an advocacy group. Organization B and Organization C"
            " wrote to him.",
        ),
        (
            "Bob Hale (Father) appeals. Father lived with his son Kirby Hale. Kirby went to school"
            " with Mia Hale.",
            "Father lived with his son Person A. Person A went to school with Person B.",
        ),
        (
            "Plaintiff Ann Lee was a student at Kirtland Middle School and at the University of"
            " Tarnow. She was seen at St. Mary's Hospital in Mora County, near the City of"
            " Dunmore and Elm Street.",
            "Plaintiff was a student at School A and at University A. She was seen at Hospital A"
            " in County A, near City A and Street A.",
        ),
        (
            "Plaintiff Ann Lee called Acme Corp. and the Gundersen Company. Officer Kim Zemke saw"
            " her at the Acme warehouse.",
            "Plaintiff called Company A and Company B. Officer A saw her at Company A warehouse.",
        ),
    ],
)
def test_a_pseudonym_names_a_kind_that_the_text_tells(facts: str, expected: str) -> None:
    finished_facts = _facts_of(facts)
    assert finished_facts.removeprefix("Father appeals. ") == expected


def test_a_word_that_stands_in_lower_case_elsewhere_is_no_name() -> None:
    facts = (
        "Plaintiff Ann Lee asked about the Lease. The driver got a Deed, and a deed was filed. A"
        " notice of rotation was sent. Rotation was late. He called it a Price."
    )
    assert _facts_of(facts).endswith(
        "asked about the Lease. The driver got a Deed, and a deed was filed. A notice of rotation"
        " was sent. Rotation was late. He called it a price."
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            "The State charged Defendant Rex Moon under the Traffic Enforcement Act.",
            "under the traffic enforcement Act.",
        ),
        (
            "Defendant Rex Moon filed a Motion for Reconsideration and a Petition for Declaratory"
            " Judgment.",
            "Motion for reconsideration and a Petition for declaratory Judgment.",
        ),
        ("Absent a permit, Defendant Rex Moon left.", "Absent a permit, Defendant left."),
        ('Defendant Rex Moon told her, "Good morning."', 'told her, "Good morning."'),
        ("Early that day Defendant Rex Moon left.", "Early that day Defendant left."),
    ],
)
def test_english_words_are_no_names(facts: str, expected: str) -> None:
    if not list_english_lemmas():
        pytest.skip("the extra `ner`, which brings the dictionary, is not installed")
    assert _facts_of(facts).endswith(expected)


@pytest.mark.parametrize(
    ("caption", "facts", "expected"),
    [
        (
            "ROAD WORKS, INC., Appellant,\nv.\nFIRST BANK OF TARNOW, Appellee.\n\n",
            "Plaintiff First Bank of Tarnow sued Defendant Road Works, Inc. Road Works paid"
            " nothing. First Bank of Tarnow wrote to it.",
            "Plaintiff sued Defendant. Defendant paid nothing. Plaintiff wrote to it.",
        ),
        (
            "Moon v. Lee\n\n",
            "Ann Lee sued Rex Moon over a wall. Lee had paid for the wall, and Moon had built it.",
            "Plaintiff sued Defendant over a wall. Plaintiff had paid for the wall, and Defendant"
            " had built it.",
        ),
        (
            "REX MOON, Defendant-Appellant, v. ANN LEE, Plaintiff-Appellee.\n\n",
            "Lee had paid for the wall, and Moon had built it.",
            "Plaintiff had paid for the wall, and Defendant had built it.",
        ),
        (
            "ANN LEE, Plaintiff-Appellee, v. REX MOON, Defendant-Appellant.\n\n",
            "Lee had paid for the wall, and Moon had built it.",
            "Plaintiff had paid for the wall, and Defendant had built it.",
        ),
    ],
)
def test_the_order_of_a_caption_does_not_exchange_the_sides(
    caption: str, facts: str, expected: str
) -> None:
    assert _facts_of(facts, caption=caption) == expected


@pytest.mark.parametrize(
    "disposition",
    [
        "We affirm.",
        "We reverse and remand for a new trial.",
        "The judgment of the district court is affirmed.",
        "For these reasons, we dismiss the appeal.",
    ],
)
@pytest.mark.parametrize("mark", ["{%d} ", "(%d) ", "", "[%d] "])
def test_the_paragraph_that_states_the_disposition_goes(mark: str, disposition: str) -> None:
    numbers = [mark % number if mark else "" for number in (1, 2)]
    text = (
        f"OPINION\nSTURM, Judge.\n\n{numbers[0]}Defendant Rex Moon appeals. The wall was long."
        f" {disposition}\n\n{numbers[1]}Moon built a house of stone. {PLAIN}\n\nDISCUSSION\n\nWe"
        " review it."
    )
    facts = deidentify(Opinion("made-up", text), 2000).facts
    assert "The wall was long" not in facts
    assert facts.startswith("Defendant built a house of stone."), facts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "The appeal is dismissed. The clerk shall send a copy to all parties.",
            "single sentences",
        ),
        ("Affirmed.", "single sentences"),
        (
            "No. 95-1. Lee v. Moon. Petition for writ of certiorari denied.\nNo. 95-2. Hale v."
            " Zemke. Petition for writ of certiorari granted.\nNo. 95-3. State v. Kray. Motion for"
            " rehearing denied.\n",
            "a list of orders",
        ),
        (
            "ORDER LIST\n\n19-1 Lee v. Moon\nThe petition for a writ of certiorari is denied. A"
            " judge took no part in this petition.\n\n19-2 Hale v. Zemke\nThe motion for leave to"
            " proceed is granted.\n\n19-3 In re Oak\nThe petition for a writ is dismissed.",
            "a list of orders",
        ),
    ],
)
def test_a_text_that_is_no_opinion_is_excluded_with_that_reason(text: str, reason: str) -> None:
    report = deidentify(Opinion("made-up", text), 2000).report
    assert not report.passed
    assert any("no opinion" in text and reason in text for text in report.reasons)


@pytest.mark.parametrize("heading", ["\n\n", "\n\nFOOTNOTES\n\n", "\n\nNotes:\n", "\n\n----\n\n"])
@pytest.mark.parametrize("mark", ["1. ", "[1] ", "1 ", "* "])
@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("We therefore reverse the judgment of the district court.", "reverse"),
        ("The judgment is affirmed.", "affirm"),
        ("AFFIRMED.", "affirm"),
    ],
)
def test_an_outcome_before_footnotes_is_found(
    heading: str, mark: str, ending: str, outcome: str
) -> None:
    notes = "The statute was amended twice since then. The court in Doe vacated such an order. "
    text = f"{opinion(PLAIN * 6, ending).text}{heading}{mark}{notes * 20}"
    assert find_announced_outcome(text) == outcome


def test_the_independent_gate_sees_a_name_in_lower_case() -> None:
    lexicon = Lexicon(["He lived in Zemblia and met Ostrander."])
    survivors = find_survivors(f"{PLAIN}The zemblia program was late.", lexicon)
    assert [survivor.words for survivor in survivors] == ["zemblia"]


def test_the_acronym_of_a_law_stays_and_that_of_a_company_goes() -> None:
    facts = (
        "Plaintiff Ann Lee sued United Nuclear Corporation (UNC) under the Uniform Arbitration Act"
        " (UAA). The mine of UNC was closed, and the UAA was amended."
    )
    finished_facts = _facts_of(facts)
    assert "UNC" not in finished_facts
    assert not list_english_lemmas() or "the UAA was amended" in finished_facts
