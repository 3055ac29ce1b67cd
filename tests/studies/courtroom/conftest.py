"""One study's results for all tests of a module."""

from dataclasses import replace

import pytest

from courtroom_results import PROTOCOLS, debate_rows, study_of
from results_on_disk import (
    REARREST,
    case,
    experiment_view,
    prediction,
    write_results,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three methods by two models on ten synthetic cases; the published dolphin-3, and one that the
    paper has not.
    """
    folder = tmp_path_factory.mktemp("results")
    truth = dict(zip("abcdefghij", ["yes"] * 4 + ["no"] * 6, strict=True))
    cases = [case(c, truth[c], sex="male" if c in "abcde" else "female") for c in truth]
    task = replace(REARREST, notes=("Synthetic records, not people.",))
    experiments = []
    for protocol in PROTOCOLS:
        tokens = 9000 if protocol == "courtroom" else 700
        rows = [
            prediction(
                c,
                truth[c],
                "yes" if c in "abcef" else "no",
                confidence=70.0,
                prompt_tokens=tokens - 10,
            )
            for c in truth
        ]
        talk = []
        if protocol == "courtroom":
            for case_id, target in truth.items():
                talk += debate_rows(case_id, target)
        experiments.append(
            write_results(
                folder,
                cases,
                {"dolphin-3": rows, "tiny": rows},
                {"dolphin-3": talk, "tiny": talk},
                task=task,
                experiment=f"{protocol}-x",
                config=experiment_view(
                    protocol, "nlsy97", ("dolphin-3", "tiny"), params={"answer": "generation"}
                ),
            )
        )
    return study_of(experiments)
