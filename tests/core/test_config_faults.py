"""Faults are collected once each, in their order."""

import pytest

from moot.core.config_errors import Faults
from moot.core.errors import UserError


@pytest.mark.parametrize(
    ("messages", "further_messages", "expected"),
    [
        ([], [], []),
        (["a"], [], ["a"]),
        ([], ["a", "b"], ["a", "b"]),
        (["b"], ["a", "b", "c"], ["b", "a", "c"]),
        (["a"], ["a"], ["a"]),
    ],
)
def test_faults_of_another_collection_are_added(
    messages: list[str], further_messages: list[str], expected: list[str]
) -> None:
    faults, further_faults = Faults(), Faults()
    for message in messages:
        faults.add(message)
    for message in further_messages:
        with further_faults.noting():
            raise UserError(message)
    faults.add_all(further_faults)
    assert faults.messages == expected
    assert further_faults.messages == further_messages
