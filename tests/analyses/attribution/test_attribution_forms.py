"""The schema of the form that the analysis sends to servers is pinned."""

import moot.analyses.attribution
from moot.analyses.attribution.protocol import stated_schema
from sent_schemas import assert_schema_is_pinned, form_names


def test_the_schema_of_the_form_is_pinned() -> None:
    assert_schema_is_pinned("stated_schema", stated_schema(6), "c4f1941f38c1fca4")


def test_the_analysis_has_no_other_form() -> None:
    assert set(form_names(moot.analyses.attribution)) == {"stated_schema"}
