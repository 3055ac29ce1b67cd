"""Figure 3's x is a median of medians over the statements of a debate; a debate has a row."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from moot.papers.items import items_file, read_papers
from moot.papers.parts import ItemRun, OwnRow
from moot.scores import score_experiment
from moot.studies.courtroom.papers import debates, tokens_of_statement
from project_copy import PROJECT
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results


def test_the_median_over_places_of_median_tokens() -> None:
    """Worked by hand: the places have 110, 220 and 330 tokens; the judge has none."""
    prompts = {"a": [100, 200, 300], "b": [90, 200, 300], "c": [900, 200, 300]}
    replies = {"a": [10, 20, 30], "b": [10, 90, 30], "c": [10, 0, 30]}
    speakers = ["prosecutor", "defense", "prosecutor", "judge"]
    parts = []
    for name, counts in prompts.items():
        columns = {
            "debate_id": name,
            "speaker": speakers,
            "call_id": [f"{name}{place}" for place in range(4)],
            "prompt_tokens": [*counts, 9999],
            "completion_tokens": [*replies[name], 9999],
        }
        parts.append(pd.DataFrame(columns))
    rows = pd.concat(parts)
    statements = rows[["debate_id", "speaker", "call_id"]]
    calls = rows[["call_id", "prompt_tokens", "completion_tokens"]]
    results = SimpleNamespace(
        public_statements=lambda columns, model: [statements],
        calls_of=lambda model: [calls[:5], calls[5:]],
    )
    run: Any = SimpleNamespace(results=results, model="m")
    assert tokens_of_statement(run) == 220


def test_a_debate_has_a_row_of_its_model(tmp_path: Path) -> None:
    items = read_papers(items_file(PROJECT))["courtroom"].items
    view = experiment_view(params={"silent_judge": True})
    answers = {"tiny": [prediction("a", "yes", "yes")]}
    talk = {"tiny": [utterance("a#0", 1, "judge", kind="verdict")]}
    results = write_results(tmp_path, [case("a", "yes")], answers, talk, config=view)
    [item] = [item for item in items if item.key == "table5"]
    [row] = debates(ItemRun(item, study_of(results, scores=score_experiment(results))))
    assert isinstance(row, OwnRow) and row.heads == ("tiny (authors' program)",)
