"""The schema of the form that the analysis sends to servers is pinned."""

from moot.analyses.contamination.protocol import Named
from sent_schemas import assert_schema_is_pinned


def test_the_schema_of_the_form_is_pinned() -> None:
    assert_schema_is_pinned("Named", Named, "1aa7475a47b89756")
