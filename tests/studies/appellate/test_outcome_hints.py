"""Sentences that give the outcome away, and where the facts of an opinion end."""

import pytest

from moot.studies.appellate.deidentify import Opinion, deidentify
from moot.studies.appellate.deidentify.hints import states_general_rule, tells_outcome
from moot.studies.appellate.legal.segments import extract_majority
from moot.studies.appellate.opinion_reading import find_announced_outcome
from opinion_texts import PLAIN, opinion


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
def test_history_and_arguments_are_not_hints(sentence: str) -> None:
    assert not tells_outcome(sentence)


def test_the_courts_reading_of_the_law_is_not_a_fact() -> None:
    law = (
        "This language states that commencement of trial within the stated period is mandatory.",
        "However, the scope of the Commission's jurisdiction is defined by statute.",
        "Subsection C deals with persons driving on lands of another.",
            "The movant bears the burden to show it.",
        "New Mexico follows the rule of the majority.",
            "Generally, a negligence claim requires the existence of a duty.",
    )  # fmt: skip
    assert not [sentence for sentence in law if not states_general_rule(sentence)]


def test_statements_about_people_and_provisions_are_facts() -> None:
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
