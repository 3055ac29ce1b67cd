"""How much of each prompt an earlier one begins with, and where that ends: from a run's own transcripts and calls."""

from pathlib import Path

import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from fault_server import FaultServer
from moot.commands.prefixes import ALL, Earlier, common, compare_prefixes, write_prefixes
from moot.core.errors import UserError
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan


def commonprefix(texts: list[str]) -> str:
    same = [len(set(signs)) == 1 for signs in zip(*texts, strict=False)]
    return texts[0][: (*same, False).index(False)]


@pytest.mark.parametrize(("one", "other"), [("", "a"), ("abc", "abd"), ("ab", "abab"), ("x" * 999 + "y", "x" * 1200)])
def test_what_two_texts_begin_with(one: str, other: str) -> None:
    assert common(one, other) == len(commonprefix([one, other])) == common(other, one)


def test_the_longest_of_all_earlier_beginnings_is_found() -> None:
    texts = ["b", "abc", "abd", "ab", "abdx", "c", "abdxy"]
    earlier = Earlier()
    found = [earlier.longest(text) for text in texts]
    assert found[0] is None
    assert [length or 0 for length in found] == [
        max(len(commonprefix([text, one])) for one in [*texts[:n], ""]) for n, text in enumerate(texts)
    ]


def test_a_trial_says_where_each_of_its_prompts_leaves_what_was_sent_before(tmp_path: Path) -> None:
    results, debates = tmp_path / "results", 3
    cases = people(tmp_path / "cases.parquet", debates)
    with FaultServer() as server:
        config = configuration(server.url, tmp_path, experiment={"repeats": 2})
        shard = results / "transcripts" / EXPERIMENT / MODEL / "0.parquet"
        shard.parent.mkdir(parents=True)
        hold(config, cases, shard)
    plan = Plan.from_yaml(config, PROJECT)
    with pytest.raises(UserError, match="holds no call of this run"):
        compare_prefixes(plan, results)
    calls = results / "calls" / EXPERIMENT / f"{MODEL}.parquet"
    write_predictions(plan, EXPERIMENT, cases, [shard], tmp_path / "predictions.parquet", calls)
    frame = compare_prefixes(plan, results)
    turns = frame[frame["turn"] != ALL].set_index("turn")
    assert len(turns) == 16 and set(turns["calls"]) == {2 * debates}
    assert turns["same_in_debate"].between(0, 1).all()
    assert (turns["same_in_case"] >= turns["same_in_debate"]).all(), "a debate is of its case"
    assert (turns["same_in_run"] >= turns["same_in_case"]).all()
    assert (turns.loc[1, "same_in_debate"], turns.loc[1, "breaks_in"]) == (0, ""), "nothing came before it"
    assert turns.loc[1, "same_in_case"] > 0.4, "the second repeat asks the same"
    verdict = turns.loc[16]
    assert (verdict["seat"], verdict["kind"]) == ("judge", "verdict")
    assert verdict["same_in_debate"] > 0.5
    assert verdict["breaks_in"] == "message 2 of 2 (user)" and (verdict["after"], verdict["at"]) == (
        "</notes>",
        "<notes>",
    )
    write_prefixes(frame, tmp_path)
    lines = (tmp_path / "prefixes.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(frame)
    page = (tmp_path / "prefixes.html").read_text(encoding="utf-8")
    assert "&lt;/notes&gt;" in page and "</notes>" not in page
