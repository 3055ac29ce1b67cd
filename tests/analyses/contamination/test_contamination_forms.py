"""The schema of the form that the analysis sends to servers is pinned."""

import moot.analyses.contamination
from moot.analyses.contamination.protocol import Named
from sent_schemas import assert_schema_is_pinned, form_names


def test_the_schema_of_the_form_is_pinned() -> None:
    assert_schema_is_pinned("Named", Named, "1aa7475a47b89756")


def test_the_analysis_has_no_other_form() -> None:
    assert set(form_names(moot.analyses.contamination)) == {"Named"}
