"""Tables of recorded results, over invented records and over the shipped ones."""

import json
from pathlib import Path

from moot.report.reader_debates import CHANGED, Packing, pack_debates
from moot.scores.dynamics import stated_predictions
from moot.studies.recorded.runs import judged_runs, read_outcomes
from recorded_runs import recorded_study


def test_flips_of_a_recorded_judge_need_no_words(tmp_path: Path) -> None:
    study = recorded_study(
        tmp_path,
        {"loader": "nyu_debates", "source": "shipped"},
        {"people": "people debate"},
        {"human": "human judge"},
    )
    [run] = judged_runs(study)
    flips = read_outcomes(run)["flips"].dropna()
    assert len(flips) > 50 and flips.sum() > 0
    opinions = stated_predictions(run.results)
    moved = opinions[
        opinions["previous"].notna() & (opinions["previous"] != opinions["prediction"])
    ]
    assert len(moved) == flips.sum(), "the study counts the same flips as the scores do"
    assert (moved["heard"] > 0).all() and moved["shift"].notna().all()
    beliefs = run.results.transcripts.query("kind == 'belief'")
    shares = [json.loads(parsed)["distribution"]["a"] for parsed in beliefs["parsed"]]
    assert not any(0 < abs(share - 0.5) < 1e-6 for share in shares), "one half is exact"
    packing = Packing(1_000_000, {}.__setitem__)
    pack_debates(packing, run.results)
    change = packing.index()["debates"]["change"]
    assert sum(1 for flags in change if flags & CHANGED) == (flips > 0).sum(), (
        "the reader marks the same debates"
    )
