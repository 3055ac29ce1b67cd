"""Test the choice of cases by the shares of labels and by a seed."""

import pytest

from moot.core.cases import Case, Task, choose_cases, positive_of_two, stratified_splits
from moot.core.config import Config, ExperimentConfig


def make_cases(counts: dict[str, int]) -> list[Case]:
    cases: list[Case] = []
    for target, size in counts.items():
        for number in range(size):
            case_id = f"{target}-{number}"
            cases.append(Case(case_id, "toy", "test", "Facts.", target, tuple(counts)))
    return cases


@pytest.mark.parametrize(
    "counts", [{"no": 204, "yes": 79}, {"con": 50, "pro": 50}, {"a": 120, "b": 60, "c": 20}]
)
@pytest.mark.parametrize("seed", [0, 20261121])
def test_a_subset_of_cases_keeps_the_shares_of_labels(counts: dict[str, int], seed: int) -> None:
    cases = make_cases(counts)
    for count in (1, 2, 6, 20, 100):
        labels = [case.target for case in choose_cases(cases, count, seed)]
        for target, size in counts.items():
            assert abs(labels.count(target) - count * size / len(cases)) <= 1, (count, target)


def test_a_larger_subset_includes_the_smaller_one_in_any_order() -> None:
    cases = make_cases({"no": 30, "yes": 11})
    everything = choose_cases(cases, None, seed=3)
    assert len({case.case_id for case in everything}) == len(cases)
    for count in range(len(cases)):
        assert choose_cases(cases[::-1], count, seed=3) == everything[:count]


def test_another_seed_chooses_other_cases() -> None:
    cases = make_cases({"no": 30, "yes": 11})
    assert choose_cases(cases, 6, seed=1) != choose_cases(cases, 6, seed=2)


@pytest.mark.parametrize(("cases", "is_trial"), [(3, True), (4, False), (None, False)])
def test_an_experiment_of_few_debates_is_a_trial(cases: int | None, is_trial: bool) -> None:
    experiment = ExperimentConfig.model_construct(cases=cases, repeats=3)
    assert Config.model_construct(min_debates=12).is_trial(experiment) is is_trial


def test_each_target_is_split_into_three_fifths_and_two_fifths() -> None:
    targets = {case.case_id: case.target for case in make_cases({"no": 10, "yes": 10})}
    splits = stratified_splits(targets, seed=1)
    assert splits.keys() == targets.keys()
    for target in ("no", "yes"):
        names = [split for case_id, split in splits.items() if targets[case_id] == target]
        assert [names.count(name) for name in ("train", "validation", "test")] == [6, 2, 2]
    backwards = dict(reversed(targets.items()))
    assert stratified_splits(backwards, seed=1) == splits != stratified_splits(targets, seed=2)
    assert positive_of_two(Task("it", "Is it?", ("no", "yes"), "yes")) == "yes"
    assert positive_of_two(Task("it", "Is it?", ("a", "b", "c"), "c")) == ""
