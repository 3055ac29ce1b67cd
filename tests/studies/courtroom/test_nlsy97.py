"""NLSY97: the published table, cleaning, splits, rankings, raw extracts, and faulty files."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from messages import refusal
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.studies.courtroom.data_nlsy97 import FILE, Nlsy97Options, load
from moot.studies.courtroom.nlsy97_extracts import FOLDER
from moot.studies.courtroom.nlsy97_narrative import narrate
from moot.studies.courtroom.nlsy97_synthetic import generate_nlsy97
from moot.studies.courtroom.nlsy97_variables import (
    CATEGORIES,
    FEATURES,
    LABEL,
    read_variables,
)

MakeContext = Callable[..., LoadContext]


@pytest.fixture(scope="module")
def made_up() -> Loaded:
    context = LoadContext("nlsy97", Path("nowhere"), Path(__file__).resolve().parents[3], seed=42)
    return load(Nlsy97Options(), context)


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Loaded:
    return load(Nlsy97Options(source="local"), LoadContext("nlsy97", shared_data, Path(), seed=42))


def write(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)
    return path


def test_the_published_table_has_the_published_counts(published: Loaded) -> None:
    frame = published.features
    assert frame is not None
    assert len(frame) == len(published.cases) == 1412
    assert frame["label"].value_counts().to_dict() == {"no": 1019, "yes": 393}
    assert frame["sex"].value_counts().to_dict() == {"male": 1014, "female": 398}
    assert frame["race"].value_counts().to_dict() == {
        "white": 667,
        "black": 421,
        "hispanic": 273,
        "asian or pacific islander": 25,
        "mixed-race": 15,
        "american indian, eskimo or aleut": 11,
    }
    assert (frame["age"].min(), frame["age"].max()) == (18, 22)
    assert frame["marijuana_anydrug"].value_counts().to_dict() == {
        "marijuana_anydrug": 993,
        "none": 388,
        "marijuana": 31,
    }
    assert int((frame["parentrelations"] == "Unknown").sum()) == 181
    assert int((frame["urbanrural"] == "Unknown").sum()) == 375
    assert frame["height_total_inches"].isna().sum() == 5
    assert frame["num_weight"].isna().sum() == 11
    assert int(frame["num_weight"].min()) == 85
    assert {description: count for description, count in published.cleaning.items() if count} == {
        "rows read": 1412,
        "height_total_inches outside 48 to 84 inches, made missing": 5,
        "num_weight outside 80 to 700 pounds, made missing": 11,
        "marijuana_anydrug blank, read as no drugs": 388,
        "parentrelations Unknown, kept as a value": 181,
        "urbanrural Unknown, kept as a value": 375,
    }
    assert [path.name for path in published.sources] == ["nlsy97_full.csv"]
    assert published.task.notes == ()


@pytest.mark.parametrize("data", ["made_up", "published"])
def test_splits_are_stratified_seeded_and_disjoint(
    data: str, request: pytest.FixtureRequest
) -> None:
    loaded = request.getfixturevalue(data)
    counts = Counter((case.split, case.target) for case in loaded.cases)
    assert (counts["train", "yes"], counts["train", "no"]) == (236, 847 - 236)
    assert (counts["validation", "yes"], counts["validation", "no"]) == (78, 282 - 78)
    assert (counts["test", "yes"], counts["test", "no"]) == (79, 283 - 79)
    assert len({case.case_id for case in loaded.cases}) == 1412


def test_another_seed_splits_otherwise_and_the_same_seed_alike(load_context: MakeContext) -> None:
    options = Nlsy97Options(rows=60)
    first, second, third = (load(options, load_context(seed=seed)) for seed in (1, 1, 2))
    assert first.cases == second.cases
    assert [case.split for case in first.cases] != [case.split for case in third.cases]


def test_generated_people_are_called_synthetic_and_look_like_the_published_ones(
    made_up: Loaded,
) -> None:
    assert any("synthetic" in note for note in made_up.task.notes)
    assert all(case.case_id.startswith("synthetic-") for case in made_up.cases)
    frame = made_up.features
    assert frame is not None
    assert frame["label"].value_counts().to_dict() == {"no": 1019, "yes": 393}
    assert 0.68 < (frame["sex"] == "male").mean() < 0.76
    assert made_up.cleaning["height_total_inches outside 48 to 84 inches, made missing"] == 5
    assert made_up.cleaning["num_weight outside 80 to 700 pounds, made missing"] == 11
    rearrested = frame["label"] == "yes"
    assert (
        frame["numberofarrestsby2002"][rearrested].mean()
        > frame["numberofarrestsby2002"][~rearrested].mean() + 0.3
    )
    assert (
        rearrested[frame["sex"] == "male"].mean()
        > rearrested[frame["sex"] == "female"].mean() + 0.05
    )


def test_generated_people_have_the_published_columns_and_values(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / FILE, dtype=str, keep_default_na=False)
    table = generate_nlsy97(seed=3)
    assert set(table.columns) == set(raw.columns)
    for name in CATEGORIES:
        assert set(table[name]) <= set(raw[name])
        shares = pd.concat(
            [table[name].value_counts(normalize=True), raw[name].value_counts(normalize=True)],
            axis=1,
        )
        assert (shares.fillna(0).diff(axis=1).iloc[:, 1].abs() < 0.06).all(), shares


@pytest.mark.parametrize("form", ["list", "prose"])
def test_a_narrative_never_reveals_the_outcome(form: str, made_up: Loaded) -> None:
    loaded = made_up
    assert loaded.features is not None
    assert LABEL not in loaded.features.columns
    texts = [narrate(_facts(row), form) for row in loaded.features.head(50).to_dict("records")]
    flipped = loaded.features.assign(label=loaded.features["label"].map({"yes": "no", "no": "yes"}))
    assert texts == [narrate(_facts(row), form) for row in flipped.head(50).to_dict("records")]
    assert not any("rearrest" in text or "after 2002" in text or "again" in text for text in texts)


def _facts(row: dict[str, Any]) -> dict[str, object]:
    return {name: None if pd.isna(row[name]) else row[name] for name in FEATURES}


def test_options_that_do_nothing_are_refused() -> None:
    with pytest.raises(ValidationError, match="'rows' belongs to source 'synthetic'"):
        Nlsy97Options(source="local", rows=3)
    with pytest.raises(ValidationError, match="'outcome' belongs to source 'investigator'"):
        Nlsy97Options(outcome="incarcerated_2002")
    assert LOADERS["nlsy97"].options is Nlsy97Options


def _spoil(column: str, value: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda table: table.assign(**{column: [*table[column][:-1], value]})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda table: table.drop(columns="cocaine"),
        _spoil("id", "1"),
        _spoil("id", "x/../y"),
        _spoil(LABEL, "perhaps"),
        _spoil("sex", "unknown"),
        _spoil("age", "old"),
        lambda table: table.assign(**{LABEL: "False"}),
        lambda table: table.head(2).assign(**{LABEL: ["True", "False"]}),
    ],
)
def test_a_faulty_table_is_refused(
    spoil: Callable[[pd.DataFrame], pd.DataFrame],
    tmp_path: Path,
    load_context: MakeContext,
) -> None:
    write(tmp_path, spoil(generate_nlsy97(seed=1, rows=40)))
    with refusal():
        load(Nlsy97Options(source="local"), load_context())


def test_a_damaged_file_is_refused(tmp_path: Path, load_context: MakeContext) -> None:
    path = write(tmp_path, generate_nlsy97(seed=1, rows=40))
    content = path.read_bytes()
    for damaged, message in [
        (content[: -len(content) // 200], "line 41: unexpected end of data"),
        (content.replace(b"female", b"fem\xe4le", 1), r"row \d, column 'sex': found 'femäle'"),
        (b"", "the file is empty"),
    ]:
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=message):
            load(Nlsy97Options(source="local"), load_context())
    path.unlink()
    with pytest.raises(
        UserError, match=r"nlsy97_full.csv: no such file; put the released .* data/raw/README.md"
    ):
        load(Nlsy97Options(source="download"), load_context())


# Raw extracts of the NLS Investigator


def extract(folder: Path, content: str, name: str = "extract.csv") -> None:
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    (folder / FOLDER / name).write_text(content)


def arrests(respondents: int, **months: list[int]) -> str:
    """An extract with all arrest months: 0 but for those named, as `m2003_05=[...]`."""
    all_months = product(range(1992, 2006), range(1, 13))
    names = [f"ARREST_STATUS_{year}.{month:02}_XRND" for year, month in all_months]
    values = {name: [0] * respondents for name in names}
    values |= {
        f"ARREST_STATUS_{name[1:5]}.{name[6:]}_XRND": counts for name, counts in months.items()
    }
    rows = zip(range(1, respondents + 1), *values.values(), strict=True)
    return "\n".join([",".join(["R0000100", *names]), *(",".join(map(str, row)) for row in rows)])


INCARCERATED = Nlsy97Options(source="investigator", outcome="incarcerated_2002")


def context_of_extracts(folder: Path) -> LoadContext:
    return LoadContext("nlsy97", folder, Path(__file__).resolve().parents[3], seed=42)


@pytest.fixture(scope="module")
def incarcerated(shared_data: Path) -> Loaded:
    return load(INCARCERATED, context_of_extracts(shared_data))


def test_real_extracts_give_the_features_of_their_columns(incarcerated: Loaded) -> None:
    loaded = incarcerated
    frame = loaded.features
    assert frame is not None
    assert loaded.cleaning["respondents read"] == 8984
    assert loaded.cleaning["respondents kept"] == len(loaded.cases) == 8722
    assert loaded.cleaning["askgod missing: not interviewed"] == 1088
    assert loaded.cleaning["askgod missing: refusal"] == 38
    assert loaded.cleaning["godhasnothingtodo missing: do not know"] == 52
    assert loaded.cleaning["num_weight left out: no column S0905700 or YSAQ-000B_2002"] == 1
    assert any(line.startswith("victim left out: the question") for line in loaded.cleaning)
    assert list(frame.columns[3:]) == ["sex", "age", "race", "askgod", "godhasnothingtodo"]
    assert Counter(case.target for case in loaded.cases) == {"no": 8544, "yes": 178}
    assert loaded.task.notes[0] == "built from raw NLS Investigator extracts: 5 of the 22 features"
    assert "not the rearrest outcome" in loaded.task.notes[1]
    assert "nlsy97_variables.yaml" in [path.name for path in loaded.sources]


def test_an_extract_with_question_names_gives_the_same_people(
    shared_data: Path, tmp_path: Path
) -> None:
    """The names are those of the extract's codebook and of the Investigator's own rename lists."""
    for path in (shared_data / FOLDER).glob("*.csv"):
        first_lines = path.read_text().splitlines()[:1500]
        extract(tmp_path, "\n".join(first_lines), path.name)
    context = context_of_extracts(tmp_path)
    expected = load(INCARCERATED, context)
    with pytest.raises(
        UserError,
        match=r"needs column E8012301 or ARREST_STATUS_2003.01_XRND.*allow outcome: incarcerated",
    ):
        load(Nlsy97Options(source="investigator"), context)
    names = {
        "R0000100": "PUBID_1997",
        "R0536300": "KEY!SEX_1997",
        "R0536402": "KEY_BDATE_Y_1997",
        "R1482600": "KEY_RACE_ETHNICITY_1997",
        "S0919600": "YSAQ-282A4_2002",
        "S0919700": "YSAQ_282A5_2002",
        **{f"E80222{month:02}": f"INCARC_STATUS_2002.{month:02}_XRND" for month in range(1, 13)},
    }
    for path in (tmp_path / FOLDER).glob("*.csv"):
        header, _, rows = path.read_text().partition("\n")
        columns = header.replace('"', "").split(",")
        new_header = ",".join(names.get(column, column) for column in columns)
        extract(tmp_path, f"{new_header}\n{rows}", path.name)
    loaded = load(INCARCERATED, context)
    assert loaded.cases == expected.cases
    assert loaded.cleaning == expected.cleaning


def test_rearrest_is_built_from_arrest_months(tmp_path: Path, load_context: MakeContext) -> None:
    count = 40
    people = "\n".join(f"{i},{1 + i % 2},{1980 + i % 5},{1 + i % 4}" for i in range(1, count + 1))
    extract(
        tmp_path, f'"R0000100","R0536300","R0536402","R1482600"\n{people}', "people.csv"
    )  # quoted headers
    arrests_2001 = [1] * 30 + [99] * 5 + [-4] * 5  # 99: arrested in an earlier month
    arrests_1998 = [2] * 35 + [0] * 5
    arrests_2004 = [0] * 15 + [1] * 10 + [99] * 5 + [-4] * 10
    extract(
        tmp_path,
        arrests(count, m1998_03=arrests_1998, m2001_02=arrests_2001, m2004_07=arrests_2004),
        "arrests.csv",
    )
    loaded = load(Nlsy97Options(source="investigator", narrative="list"), load_context())
    assert Counter(case.target for case in loaded.cases) == {"no": 20, "yes": 10}
    assert (
        loaded.cleaning["respondents outside the question: numberofarrestsby2002 is 0 or unknown"]
        == 5
    )
    assert loaded.cleaning["rearrest unknown: no event seen, and some month not asked about"] == 10
    assert loaded.features is not None
    assert loaded.features["numberofarrestsby2002"].unique().tolist() == [3]
    assert loaded.cases[0].text.startswith(
        "sex is female; age is 21; race or ethnicity is Hispanic; number of arrests"
    )


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.csv": "R0000100,R0536300,R0536402\n1,1,1980\n"},
        {"a.csv": "R0000100,R0536300,R0536402,R1482600\n1,7,1980,1\n"},
        {"a.csv": "R0000100,R0536300,R0536402,R1482600\n1,1,-9,1\n"},
        {"a.csv": "R0000100,R0536300\n1,x\n"},
        {"a.csv": "R0000100,R0536300\n1,1\n1,2\n"},
        {"a.csv": "ID,R0536300\n1,1\n"},
        {"a.csv": "PUBID_1997,R0536300,KEY!SEX_1997\n1,1,1\n"},
        {"a.csv": "R0000100,R0536300\n1,1\n2,1\n", "b.csv": "R0000100,R0536300\n2,2\n"},
    ],
)
def test_a_faulty_extract_is_refused(
    files: dict[str, str], tmp_path: Path, load_context: MakeContext
) -> None:
    for name, content in files.items():
        extract(tmp_path, content, name)
    with refusal():
        load(Nlsy97Options(source="investigator", outcome="incarcerated_2002"), load_context())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("KEY_SEX_1997], codes", "KEY_SEX_1997], code"),
        ("  victim:", "  victims:"),
        ("  sex:", "  gender:"),
        ("read: years_until_2002", "read: years"),
        ("missing:", "missing: ["),
    ],
)
def test_a_faulty_variable_map_is_refused(
    old: str, new: str, tmp_path: Path, load_context: MakeContext
) -> None:
    text = (load_context().shipped / "config/nlsy97_variables.yaml").read_text()
    (tmp_path / "map.yaml").write_text(text.replace(old, new, 1))
    with refusal():
        read_variables(tmp_path / "map.yaml")
