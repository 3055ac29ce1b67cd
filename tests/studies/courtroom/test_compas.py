"""COMPAS: the published counts, the tool's own verdict kept from models, narratives, and faulty
files.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up_compas import compas_table
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.studies.courtroom.data_compas import FILE, PHRASES, CompasOptions, load
from moot.studies.courtroom.people.compas_narrative import DEGREES, RACES, narrate
from narrative_checks import check_narrative

MakeContext = Callable[..., LoadContext]


def test_the_published_table_has_the_published_counts(
    shared_data: Path, load_context: MakeContext
) -> None:
    loaded = load(CompasOptions(source="local"), load_context("compas", data_root=shared_data))
    assert loaded.features is not None
    assert Counter(case.target for case in loaded.cases) == {"no": 3363, "yes": 2809}
    assert loaded.features["sex"].value_counts().to_dict() == {"male": 4997, "female": 1175}
    assert loaded.features["c_charge_degree"].value_counts().to_dict() == {"F": 3970, "M": 2202}
    assert Counter(case.attributes["decile_score"] for case in loaded.cases)["1"] == 1286
    assert loaded.task.notes == ()


def test_the_generator_makes_the_shipped_sample_which_is_called_synthetic(
    load_context: MakeContext,
) -> None:
    context = load_context("compas")
    table = compas_table(seed=1, rows=240)
    assert (context.shipped / "data" / "samples" / FILE).read_text() == table.to_csv(index=False)
    loaded = load(CompasOptions(), context)
    assert any("synthetic" in note for note in loaded.task.notes)
    assert all(case.case_id.startswith("synthetic-") for case in loaded.cases)
    assert LOADERS["compas"].options is CompasOptions


def test_generated_defendants_resemble_the_published_ones(shared_data: Path) -> None:
    published, generated = pd.read_csv(shared_data / FILE), compas_table(seed=5, rows=2000)
    assert set(generated.columns) == set(published.columns)
    for name in ("sex", "race", "c_charge_degree", "two_year_recid"):
        ours = generated[name].value_counts(normalize=True)
        theirs = published[name].astype(str).value_counts(normalize=True)
        assert (ours.reindex(theirs.index).fillna(0) - theirs).abs().max() < 0.04
    for name in ("age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"):
        spread = published[name].std()
        assert abs(generated[name].astype(int).mean() - published[name].mean()) < 0.3 * spread
    rearrested = generated["two_year_recid"] == "1"
    verdicts = generated["decile_score"].astype(int)
    assert verdicts[rearrested].mean() > verdicts[~rearrested].mean() + 0.5


@pytest.mark.parametrize("form", ["list", "prose"])
def test_the_narrative_has_no_outcome_and_no_verdict(form: Any, load_context: MakeContext) -> None:
    loaded = load(CompasOptions(narrative=form), load_context())
    assert loaded.features is not None
    assert not {"decile_score", "two_year_recid"} & set(loaded.features.columns)
    changed = compas_table(seed=1, rows=240).assign(decile_score="7")
    path = load_context().data_root / FILE
    path.parent.mkdir()
    changed.to_csv(path, index=False)
    changed_cases = load(CompasOptions(narrative=form, source="local"), load_context())
    assert [case.text for case in changed_cases.cases] == [case.text for case in loaded.cases]
    assert {case.attributes["decile_score"] for case in changed_cases.cases} == {"7"}
    assert not any("decile" in case.text or "COMPAS" in case.text for case in loaded.cases)


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "sex": st.sampled_from(["male", "female"]),
    "race": st.sampled_from(list(RACES)),
    "c_charge_degree": st.sampled_from(list(DEGREES)),
    **{name: st.integers(0, 9) for name in PHRASES if name.endswith("count")},
    "age": st.integers(18, 96),
}


@given(
    st.fixed_dictionaries(_VALUES),
    st.sets(st.sampled_from(list(PHRASES)), min_size=1),
    st.sampled_from(["list", "prose"]),
    st.data(),
)
def test_every_fact_is_in_the_narrative(
    person: dict[str, Any], names: set[str], form: str, data: st.DataObject
) -> None:
    facts = {name: person[name] for name in PHRASES if name in names}
    check_narrative(narrate, facts, form, _VALUES, data)


def test_prose_reads_as_written() -> None:
    person: dict[str, object] = {
        "sex": "female",
        "age": 80,
        "race": "Other",
        "c_charge_degree": "M",
        "priors_count": 1,
    }
    person |= {"juv_fel_count": 0, "juv_misd_count": 1, "juv_other_count": 2}
    assert (
        narrate(person, "prose")
        == "The defendant is an 80-year-old woman whose race or ethnicity is recorded as other. She"
        " is charged with a misdemeanor. She has one prior offense on record. Her juvenile"
        " record lists no felonies, one misdemeanor, and 2 other offenses."
    )
    assert (
        narrate({name: 0 for name in PHRASES if name.startswith("juv")}, "prose")
        == "The defendant has no juvenile record."
    )


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (
            "two_year_recid",
            "2",
            "row 30, column 'two_year_recid': found '2', expected one of: 0, 1",
        ),
        ("sex", "M", "row 30, column 'sex': found 'M', expected one of: Male, Female"),
        ("priors_count", "x", "row 30, column 'priors_count': found 'x', expected a whole number"),
        ("age", "", "row 30, column 'age': found '', expected a whole number"),
    ],
)
def test_a_faulty_value_is_refused(
    column: str, value: str, message: str, tmp_path: Path, load_context: MakeContext
) -> None:
    table = compas_table(seed=2, rows=30)
    table.loc[30, column] = value
    (tmp_path / FILE).parent.mkdir()
    table.to_csv(tmp_path / FILE, index=False)
    with pytest.raises(UserError, match=re.escape(message)):
        load(CompasOptions(source="local"), load_context())


def test_a_missing_file_or_column_is_refused(tmp_path: Path, load_context: MakeContext) -> None:
    with pytest.raises(UserError, match="no such file; put the filtered COMPAS table there"):
        load(CompasOptions(source="download"), load_context())
    (tmp_path / FILE).parent.mkdir()
    compas_table(seed=2, rows=30).drop(columns="decile_score").to_csv(tmp_path / FILE, index=False)
    with pytest.raises(UserError, match="missing column decile_score"):
        load(CompasOptions(source="local"), load_context())
