"""Groups of claims: whether all take one side is known, and nothing else tells it."""

from collections import Counter
from pathlib import Path

from moot.datasets import LOADERS, LoadContext, Loaded
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from project_copy import PROJECT


def load(name: str, root: Path | None = None, seed: int = 7, **options: object) -> Loaded:
    loader = LOADERS[name]
    source = "local" if root else "sample"
    context = LoadContext(name, root or Path("nowhere"), PROJECT, seed)
    return loader.load(loader.options.model_validate({"source": source, **options}), context)


def test_a_case_names_the_topic_and_the_claims_in_speaking_order() -> None:
    case = load("agreement").cases[0]
    assert case.text.split("\n\n") == [
        f"Topic: {case.attributes['topic']}",
        "Participant 1: Let me put it this way: a city that moves everybody is worth more than the"
        " sum of its tickets.",
        "Participant 2: What matters most here: buses without fares let low-paid workers accept"
        " better jobs.",
    ]
    topic = "This house would make public transport free of charge"
    attributes = {"topic": topic, "size": "2", "stances": "pro;pro", "claims": "7;2"}
    assert (case.case_id, case.source_row) == ("agreement-7-2", 7)
    assert (case.split, case.target, case.attributes) == ("test", AGREEMENT, attributes)


def test_agreement_is_true_exactly_when_all_stances_are_the_same() -> None:
    stances = {case.case_id.rpartition("-")[2]: case.target for case in load("claim_stance").cases}
    loaded = load("agreement", sizes=(2, 3), per_topic=8)
    for case in loaded.cases:
        claim_stances = [stances[claim] for claim in case.attributes["claims"].split(";")]
        assert ";".join(claim_stances) == case.attributes["stances"]
        assert case.target == (AGREEMENT if len(set(claim_stances)) == 1 else OPEN)
        assert case.text.count("Participant ") == len(claim_stances) == int(case.attributes["size"])


def test_agreement_is_balanced_within_each_motion_and_disjoint_from_training(
    shared_data: Path,
) -> None:
    cases = load("agreement", shared_data).cases
    by_topic = Counter((case.attributes["topic"], case.target) for case in cases)
    assert all(by_topic[topic, AGREEMENT] == by_topic[topic, OPEN] for topic, _ in by_topic)
    sides = Counter(case.attributes["stances"] for case in cases if case.split == "test")
    assert abs(sides["pro;pro"] - sides["con;con"]) < 0.1 * (sides["pro;pro"] + sides["con;con"])
    assert abs(sides["pro;con"] - sides["con;pro"]) < 0.2 * (sides["pro;con"] + sides["con;pro"])
    claims: dict[str, set[str]] = {"train": set(), "validation": set(), "test": set()}
    for case in cases:
        claims[case.split].update(case.attributes["claims"].split(";"))
    assert not claims["train"] & claims["test"] and not claims["validation"] & claims["test"]
    assert len({case.case_id for case in cases}) == len(cases)


def test_agreement_depends_on_the_seed() -> None:
    assert [case.case_id for case in load("agreement", seed=1).cases] != [
        c.case_id for c in load("agreement", seed=2).cases
    ]
