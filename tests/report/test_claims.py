"""Test published claims: the verdict of an interval, and messages about a faulty file."""

from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.protocols import PROTOCOLS
from moot.report import TABLES
from moot.report.published_claims import (
    CANNOT_TELL,
    COLUMNS,
    NOT_SUPPORTED,
    STATISTICS,
    SUPPORTED,
    Claim,
    Selector,
    read_claims,
)
from moot.scores.inference_scope import Estimate

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "published" / "claims.csv"


def row(**cells: str) -> list[str]:
    values = {
        "statistic": "difference",
        "metric": "accuracy",
        "data": "toy",
        "direction": "above",
        "threshold": "0",
        "first": "panel",
    } | cells
    return [values.get(name, "") for name in COLUMNS]


def write_claims(folder: Path, *rows: list[str], columns: tuple[str, ...] = COLUMNS) -> Path:
    path = folder / "claims.csv"
    path.write_text("\n".join(",".join(line) for line in [list(columns), *rows]) + "\n")
    return path


def claim(folder: Path, **cells: str) -> Claim:
    return read_claims(write_claims(folder, row(**cells)))[0]


@pytest.mark.parametrize(
    ("direction", "threshold", "interval", "cases", "word"),
    [
        ("above", "0", (0.01, 0.2), 50, SUPPORTED),
        ("above", "0", (-0.01, 0.2), 50, CANNOT_TELL),
        ("above", "0", (0.0, 0.2), 50, CANNOT_TELL),
        ("above", "0", (-0.2, -0.01), 50, NOT_SUPPORTED),
        ("above", "0", (0.01, 0.2), 9, CANNOT_TELL),
        ("below", "1", (0.5, 0.8), 50, SUPPORTED),
        ("below", "1", (1.1, 1.8), 50, NOT_SUPPORTED),
        ("within", "0.05", (-0.04, 0.04), 50, SUPPORTED),
        ("within", "0.05", (-0.08, 0.02), 50, CANNOT_TELL),
        ("within", "0.05", (0.06, 0.2), 50, NOT_SUPPORTED),
        ("within", "0.05", (-0.3, -0.06), 50, NOT_SUPPORTED),
        ("above", "0", (float("nan"), float("nan")), 50, CANNOT_TELL),
    ],
)
def test_an_interval_becomes_a_word(
    direction: str,
    threshold: str,
    interval: tuple[float, float],
    cases: int,
    word: str,
    tmp_path: Path,
) -> None:
    parsed_claim = claim(tmp_path, direction=direction, threshold=threshold)
    value = sum(interval) / 2
    estimate = Estimate(value, *interval, cases, cases, cases - 1)
    assert parsed_claim.judge(value, parsed_claim.p(estimate.p_of)) == word


def test_selectors_name_protocols_and_values(tmp_path: Path) -> None:
    parsed_claim = claim(
        tmp_path,
        first="courtroom | recorded(method=AI debate; dataset=mine)",
        second="feedback(assistant=)",
    )
    assert parsed_claim.first == (
        Selector("courtroom"),
        Selector("recorded", (("method", "AI debate"), ("dataset", "mine"))),
    )
    assert parsed_claim.second == (Selector("feedback", (("assistant", ""),)),)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            {"statistic": "luck"},
            f"line 2: statistic 'luck', expected one of {', '.join(STATISTICS)}",
        ),
        ({"metric": "charm"}, "line 2: metric 'charm', expected one of .*accuracy"),
        ({"data": ""}, "line 2: data is empty, expected the data sets that can judge the claim"),
        ({"direction": "up"}, "line 2: direction 'up', expected one of above, below, within"),
        ({"threshold": "much"}, "line 2: threshold 'much', expected a number"),
        ({"threshold": ""}, "line 2: threshold '', expected a number"),
        ({"first": "courtroom(roles)"}, r"line 2: first 'courtroom\(roles\)', expected PROTOCOL"),
        ({"second": "(x=1)"}, r"line 2: second '\(x=1\)', expected PROTOCOL"),
    ],
)
def test_a_fault_is_named_with_its_line(
    cells: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        claim(tmp_path, **cells)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'see' not found"):
        read_claims(write_claims(tmp_path, columns=COLUMNS[:-1]))


def test_the_shipped_claims_name_existing_protocols_tables_and_studies() -> None:
    for claim in read_claims(SHIPPED):
        assert claim.see in TABLES
        assert claim.study in {TABLES[name].study for name in TABLES}
        for selector in (*claim.first, *claim.second):
            condition_names = {"dataset", *PROTOCOLS[selector.protocol].params.model_fields}
            assert {name for name, _ in selector.conditions} <= condition_names, claim.question
