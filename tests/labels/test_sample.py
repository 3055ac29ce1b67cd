"""The drawn sample: known probabilities, larger samples that hold smaller ones, and labels that
count only as drawn.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.jobs.statement_labels import ALL_COLUMNS, final_labels
from moot.labels.sample import (
    draw_more,
    has_text,
    inclusion,
    name_units,
    read_sample,
    unit_sizes,
    write_sample,
)
from moot.labels.statements import statement_id
from moot.studies.appellate.legal.rubric import CODES, NO_STANCE_CODE

NOTHING = read_sample(None)


def units(sizes: list[float]) -> "pd.Series[float]":
    return pd.Series(sizes, index=[f"unit-{number:03}" for number in range(len(sizes))])


def draw(
    sizes: "pd.Series[float]", wanted: int, seed: int = 1, sample: pd.DataFrame = NOTHING
) -> pd.DataFrame:
    return draw_more(sample, sizes, pd.Series(1, index=sizes.index), wanted, seed)


def drawn(sample: pd.DataFrame) -> set[str]:
    return set(sample.loc[sample["batch"].notna(), "unit"])


def test_what_was_drawn_stands_for_all_by_its_probabilities() -> None:
    """Over many seeds the inverse probabilities sum to the number of units, those of large size and
    of small.
    """
    sizes = units([0.6] * 20 + [0.2] * 60)
    sums = []
    for seed in range(400):
        sample = draw(sizes, 16, seed)
        weights = 1 / inclusion(sample, sizes.index, drawn(sample))
        assert len(weights) == 16 and weights.min() >= 1
        sums.append([weights[weights.index.isin(sizes.index[:20])].sum(), weights.sum()])
    assert np.mean(sums, axis=0) == pytest.approx([20, 80], rel=0.03)


def test_drawing_more_keeps_what_was_drawn_and_counts_batch_by_batch() -> None:
    sizes = units([0.3, 0.5] * 20)
    first = draw(sizes, 10)
    second = draw(
        sizes, 25, seed=2, sample=first
    )  # another seed or other labels move nothing that is drawn
    assert len(drawn(first)) == 10 and len(drawn(second)) == 25 and drawn(first) < drawn(second)
    assert draw(sizes * 2, 25, sample=second).equals(second)
    assert inclusion(first, sizes.index, drawn(first)).equals(
        inclusion(second, sizes.index, drawn(first))
    )
    with_more = inclusion(second, sizes.index, drawn(second))
    assert set(with_more.index) == drawn(second)
    assert (
        with_more >= inclusion(second, sizes.index, drawn(first)).reindex(with_more.index).fillna(0)
    ).all()
    everything = draw(sizes, 100)
    assert (inclusion(everything, sizes.index, sizes.index) == 1).all()


def test_labels_count_only_once_all_of_a_batch_is_labelled() -> None:
    sizes = units([0.3] * 30)
    sample = draw(sizes, 10)
    some = sorted(drawn(sample))[:-1]
    assert inclusion(sample, sizes.index, some).empty
    assert inclusion(sample, sizes.index, {*some, *(set(sizes.index) - drawn(sample))}).empty, (
        "chosen, not drawn"
    )
    assert set(inclusion(sample, sizes.index, sizes.index).index) == drawn(sample), (
        "nor do they enter beside it"
    )


def test_after_more_debates_nothing_counts_until_some_of_them_are_drawn() -> None:
    """Then they are drawn with the same right as the others, and what was labelled stays in the
    sample.
    """
    sizes = units([0.3] * 40)
    first = draw(sizes[:30], 10)
    assert inclusion(first, sizes.index, sizes.index).empty
    second = draw(sizes, 10, sample=first)
    assert drawn(first) < drawn(second) and drawn(second) - drawn(first) <= set(sizes.index[30:])
    assert inclusion(second, sizes.index, drawn(first)).empty
    assert set(inclusion(second, sizes.index, drawn(second)).index) == drawn(second)
    assert not inclusion(second, sizes.index[:20], drawn(second)).empty, (
        "debates that were removed do no harm"
    )


def test_a_sample_comes_back_as_it_was_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "abc.sample.csv"
    sample = draw(units([1 / 3, 0.7] * 10), 7)
    write_sample(path, sample)
    pd.testing.assert_frame_equal(read_sample(path), sample, check_dtype=False, check_exact=True)
    written = path.stat().st_mtime_ns
    write_sample(path, sample)
    assert path.stat().st_mtime_ns == written, (
        "an unchanged file is left alone: the labels depend on it"
    )
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1], "unit-x,many,0.5,1", *lines[2:]]) + "\n")
    with pytest.raises(UserError, match=r"abc\.sample\.csv: row 2: expected numbers"):
        read_sample(path)


# From statements to what corrects their labels

POSITIONS = {
    "d1": ("AFFIRM", "AFFIRM"),
    "d2": ("AFFIRM", "REVERSE"),
    "d3": ("NONE", "NONE"),
    "d4": ("REVERSE", "REMAND"),
}


def panel() -> tuple[pd.DataFrame, pd.DataFrame]:
    """One judge's two rounds in each debate, as rules label them; in d5 the second statement is
    missing.
    """
    said_in = {**POSITIONS, "d5": ("AFFIRM", "NONE")}
    rows = [
        {
            "experiment": "e",
            "model": "m",
            "debate_id": debate,
            "case_id": debate,
            "turn": turn,
            "round": turn,
            "speaker": "judge_1",
            "kind": "statement",
            "text": "" if (debate, turn) == ("d5", 2) else "Words.",
            "source": "model",
            "item": statement_id("e", "m", debate, turn, "Words."),
        }
        for debate in said_in
        for turn in (1, 2)
    ]
    statements = pd.DataFrame(rows)
    labels = statements.assign(
        label=[label for pair in said_in.values() for label in pair], labeler="rules", evidence=""
    )
    return statements, labels.assign(code=labels["label"].map(CODES))[ALL_COLUMNS]


def by_person(
    labels: pd.DataFrame, label: str, *debates: str, kind: str = "human:ann"
) -> pd.DataFrame:
    rows = labels[(labels["labeler"] == "rules") & labels["debate_id"].isin(debates)]
    return rows.assign(label=label, code=CODES[label], labeler=kind)


def test_what_labellers_doubt_is_drawn_more_readily() -> None:
    statements, labels = panel()
    judged = labels.assign(
        labeler="judge:m", code=labels["code"].where(labels["debate_id"] != "d4", CODES["AFFIRM"])
    )
    sizes = unit_sizes(statements, pd.concat([labels, judged]), labels, NO_STANCE_CODE)
    size = dict(zip(statements["debate_id"], name_units(statements).map(sizes), strict=True))
    assert size["d1"] < size["d3"] == size["d2"] < size["d4"], (
        "agreed; no position or a change; the labellers differ"
    )
    assert set(unit_sizes(statements, labels[:0], labels[:0], NO_STANCE_CODE)) == {
        size["d3"],
        size["d3"] / 2**0.5,
    }
    assert not has_text(statements).all()


def test_labels_beside_the_ones_that_count() -> None:
    """A drawn judge whom people labelled whole, one whom they chose themselves, and a statement
    that is missing.
    """
    statements, labels = panel()
    unit = dict(zip(statements["debate_id"], name_units(statements), strict=True))
    ranks = {"d2": 0.1, "d5": 0.2, "d1": 0.3, "d3": 0.4, "d4": 0.5}
    sample = pd.DataFrame(
        {
            "unit": [unit[debate] for debate in ranks],
            "size": 0.5,
            "draw": list(ranks.values()),
            "batch": [1, 1, *[np.nan] * 3],
        }
    )
    people = pd.concat([by_person(labels, "REMAND", "d2", "d5"), by_person(labels, "AFFIRM", "d3")])
    everyone = pd.concat(
        [
            labels,
            people[people["debate_id"] != "d5"],
            people[people["turn"] == 1].query("debate_id == 'd5'"),
        ]
    )
    found = final_labels(statements, everyone, sample, ("human", "rules"), "NONE").set_index(
        ["debate_id", "turn"]
    )
    assert found.loc["d3", "label"].tolist() == ["AFFIRM", "AFFIRM"], "it counts in the mixture"
    assert found["inclusion"].dropna().to_dict() == {
        ("d2", 1): 0.3,
        ("d2", 2): 0.3,
        ("d5", 1): 0.3,
        ("d5", 2): 1.0,
    }
    assert found["drawn_label"].dropna().to_dict() == {
        ("d2", 1): "REMAND", ("d2", 2): "REMAND", ("d5", 1): "REMAND", ("d5", 2): "NONE",
    }  # fmt: skip
    assert found.loc["d2", "predicted"].tolist() == ["AFFIRM", "REVERSE"] and set(
        found["predicted_by"]
    ) == {"rules"}
    fewer = everyone[
        ~(
            (everyone["labeler"] != "rules")
            & (everyone["debate_id"] == "d2")
            & (everyone["turn"] == 2)
        )
    ]
    assert (
        final_labels(statements, fewer, sample, ("human", "rules"), "NONE")["inclusion"]
        .isna()
        .all()
    )


def test_a_decision_counts_before_all_annotators() -> None:
    statements, labels = panel()
    people = [by_person(labels, "REMAND", "d2", kind=f"human:{name}") for name in ("ann", "bob")]
    decided = by_person(labels, "REVERSE", "d2", kind="adjudicated:zoe")
    found = final_labels(
        statements, pd.concat([labels, *people, decided]), NOTHING, ("rules", "human"), "NONE"
    )
    assert found.set_index("debate_id").loc["d2", "label"].tolist() == [
        "AFFIRM",
        "REVERSE",
    ], "the configured order"
    found = final_labels(
        statements, pd.concat([labels, *people, decided]), NOTHING, ("human", "rules"), "NONE"
    )
    assert set(found.set_index("debate_id").loc["d2", "labeler"]) == {"adjudicated:zoe"}
