"""What every data set is checked for when it is loaded, and the clusters of its cases."""

from typing import Any

import pytest

from messages import refusal
from moot.core.cases import Case, Task
from moot.datasets import Loaded
from moot.jobs.load import check_cases, set_cluster


def make_loaded(*changes: dict[str, Any], **task_fields: Any) -> Loaded:
    """Return a case for each change, of a data set with two labels."""
    labels = ("no", "yes")
    case = {"case_id": "17", "dataset": "d", "split": "test", "text": "t", "target": "no"}
    cases = [Case(**{**case, "labels": labels, "source_row": 4, **change}) for change in changes]
    return Loaded(cases, Task("it", "Is it?", labels, **task_fields))


@pytest.mark.parametrize(
    ("changes", "task_fields"),
    [
        ([], {}),
        ([{"source_row": 2}, {}], {}),
        *(([{"text": text}], {}) for text in ("", " ", "\n\t", "a \ud800 b")),
        ([{"attributes": {"topic": "\udfff"}}], {}),
        ([{"target": "yes;no"}], {}),
        ([{"target": "yes;maybe"}], {"multilabel": True}),
        ([{"case_id": "1"}, {"target": ""}], {}),
        ([{}], {"positive": "maybe"}),
        ([{}], {"meaning": {"maybe": "it may be"}}),
    ],
)
def test_a_fault_that_no_data_set_may_have_is_named(
    changes: list[dict[str, Any]], task_fields: dict[str, Any]
) -> None:
    with refusal():
        check_cases("d", make_loaded(*changes, **task_fields))


def test_cases_without_labels_or_with_several_may_be_debated() -> None:
    check_cases("d", make_loaded({"target": ""}, {"case_id": "1", "target": ""}))
    meaning = {"no": "not so", "yes": "so"}
    loaded = make_loaded({"target": "no;yes"}, multilabel=True, positive="yes", meaning=meaning)
    check_cases("d", loaded)


def test_the_configuration_can_change_or_remove_the_cluster() -> None:
    loaded = make_loaded({"attributes": {"court": "a", "judge": ""}}, cluster="court")
    assert set_cluster("toy", loaded, None).cluster == "court"
    assert set_cluster("toy", loaded, "").cluster == ""
    with refusal():
        set_cluster("toy", loaded, "judge")
