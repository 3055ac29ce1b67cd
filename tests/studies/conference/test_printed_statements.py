"""The paper's printed statements, by which the limit of 220 words was chosen."""

import re
from pathlib import Path

from moot.core.yaml_text import load_yaml

PROJECT = Path(__file__).parents[3]


def test_the_limit_of_a_statement_is_that_of_the_printed_ones(shared_data: Path) -> None:
    text = (shared_data.parent / "papers" / "decision-conference-agreement.txt").read_text(
        encoding="utf-8"
    )
    turns = text.split("Next speaker:")[1:]
    lengths = set()
    for turn in turns:
        speaker, _, said = turn.strip().partition("\n")
        if speaker.startswith("Participant"):
            statement = said.partition("\n")[2].partition("\nFig. A")[0]
            lengths.add(len(re.findall(r"\S+", statement)))
    assert (min(lengths), max(lengths)) == (176, 217)
    design = load_yaml((PROJECT / "config/papers/decision_conference.yaml").read_text("utf-8"))
    assert design["experiments"]["paper-conference"]["params"]["words"] == 220
