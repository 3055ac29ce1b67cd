"""Texts of opinions of a court, and their de-identified facts."""

from dataclasses import replace

from moot.studies.appellate.deidentify import Opinion, deidentify

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


def facts_of(facts: str, *, caption: str = "") -> str:
    full_opinion = opinion(f"{facts} {PLAIN}")
    text = f"{caption}{full_opinion.text}"
    finished_facts = deidentify(replace(full_opinion, text=text), 2000).facts
    return finished_facts.partition("The truck was stopped")[0].strip()
