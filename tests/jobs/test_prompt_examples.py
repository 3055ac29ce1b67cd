"""Examples of n-shot prompts come from training cases that resemble no test case."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from courtroom_runs import configuration, hold, people
from fault_server import FaultServer
from moot.core.artifacts import describe, read_cases, write_cases
from moot.core.cases import NEAR_DUPLICATE_OF
from moot.llm.ledger.ledger import Ledger


def test_no_example_resembles_a_test_case(tmp_path: Path) -> None:
    path = people(tmp_path / "people.parquet", 12)
    cases, task = read_cases(path)
    training = [
        replace(
            case,
            split="train",
            text=f"A similar person. File {number}." if number < 4 else case.text,
            attributes={NEAR_DUPLICATE_OF: cases[-1].case_id} if number < 4 else {},
        )
        for number, case in enumerate(cases[:10])
    ]
    write_cases(path, [*training, *cases[10:]], task, describe())
    with FaultServer() as server:
        experiment = {"protocol": "n_shot_cot", "params": {"shots": 4}}
        debates = hold(
            configuration(server.url, tmp_path, experiment=experiment),
            path,
            tmp_path / "0.parquet",
        )
    with closing(Ledger(str(tmp_path / "ledger"))) as ledger:
        requests = [entry.request for entry in ledger.entries(list(filter(None, debates.call_id)))]
    assert len(requests) == 2
    for request in requests:
        assert request.count("prior arrests") == 5, "four examples and the case"
        assert "A similar person" not in request
