"""Test that scores resample whole clusters, count cases and debates, and name the cluster."""

import itertools
import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from moot.core.artifacts import describe, read_cases, write_cases
from moot.datasets import LOADERS
from moot.jobs.load import set_cluster
from moot.scores.classification_scores import classification
from results_on_disk import REARREST, case, prediction, study_of, write_results

BY_COURT = replace(REARREST, cluster="court")


def courts(per_court: int = 5) -> list:
    numbered_courts = itertools.product("abcd", range(per_court))
    return [case(f"{court}{n}", "yes", court=court) for court, n in numbered_courts]


def accuracy(results, experiment="toy-courtroom"):
    frame = classification(results)
    return frame[
        (frame["metric"] == "accuracy") & (frame["group"] == "overall") & (frame["model"] == "tiny")
    ].iloc[0]


def test_cases_of_one_cluster_do_not_narrow_the_interval(tmp_path):
    """Whole courts are right or wrong, so that twenty cases are worth four."""
    rows = [prediction(c.case_id, "yes", "yes" if c.case_id[0] in "ab" else "no") for c in courts()]
    independent = accuracy(write_results(tmp_path / "alone", courts(), {"tiny": rows}))
    clustered = accuracy(
        write_results(tmp_path / "together", courts(), {"tiny": rows}, task=BY_COURT)
    )
    assert independent["value"] == clustered["value"] == 0.5
    assert (
        independent["ci_high"] - independent["ci_low"]
        < 0.5
        < clustered["ci_high"] - clustered["ci_low"]
    )


def test_scores_count_cases_and_debates(tmp_path):
    cases = [case(str(n), "yes" if n % 2 else "no") for n in range(8)]
    rows = [
        prediction(c.case_id, c.target, "yes", repeat=repeat)
        for c, repeat in itertools.product(cases, range(2))
    ]
    frame = classification(write_results(tmp_path, cases, {"tiny": rows}))
    overall = frame[(frame["metric"] == "accuracy") & (frame["group"] == "overall")].set_index(
        "model"
    )
    assert overall.loc["tiny", ["n", "n_cases"]].tolist() == [16, 8]
    assert overall.loc["majority-class", ["n", "n_cases"]].tolist() == [8, 8]
    assert (frame["n_cases"] <= frame["n"]).all() and (
        frame.loc[frame["n"] > 0, "n_cases"] > 0
    ).all()


def test_the_notes_of_every_table_name_the_cluster(tmp_path):
    rows = [prediction(c.case_id, "yes", "yes") for c in courts()]
    results = write_results(tmp_path, courts(), {"tiny": rows}, task=BY_COURT)
    study = study_of(results, scores=classification(results))
    assert any("by court" in note for note in study.notes)


def test_case_files_of_earlier_versions_stay_readable(tmp_path):
    path = tmp_path / "cases.parquet"
    write_cases(path, courts(), BY_COURT, describe())
    assert read_cases(path)[1].cluster == "court"
    table = pq.read_table(path)
    task = json.loads(table.schema.metadata[b"task"])
    del task["cluster"]
    pq.write_table(
        table.replace_schema_metadata({**table.schema.metadata, b"task": json.dumps(task)}), path
    )
    assert read_cases(path)[1].cluster == ""


@pytest.mark.parametrize("name", ["claim_stance", "claim_polarity", "agreement", "vast"])
def test_texts_on_one_topic_form_a_cluster(name, load_context):
    loader = LOADERS[name]
    loaded = loader.load(loader.options(source="sample"), load_context(name))
    assert set_cluster(name, loaded, None).cluster == "topic"
