"""The random sample of statements for labelling, its probabilities, and the final labels."""

from itertools import chain, product
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

EMPTY_SAMPLE = read_sample(None)


def make_units(sizes: list[float]) -> "pd.Series[float]":
    return pd.Series(sizes, index=[f"unit-{number:03}" for number in range(len(sizes))])


def draw_sample(
    sizes: "pd.Series[float]", count: int, seed: int = 1, sample: pd.DataFrame = EMPTY_SAMPLE
) -> pd.DataFrame:
    return draw_more(sample, sizes, pd.Series(1, index=sizes.index), count, seed)


def drawn_units(sample: pd.DataFrame) -> set[str]:
    return set(sample.loc[sample["batch"].notna(), "unit"])


def test_inverse_probabilities_estimate_the_number_of_units() -> None:
    """The mean over many seeds is right for all units and for the units of large size."""
    sizes = make_units([0.6] * 20 + [0.2] * 60)
    sums = []
    for seed in range(400):
        sample = draw_sample(sizes, 16, seed)
        weights = 1 / inclusion(sample, sizes.index, drawn_units(sample))
        assert len(weights) == 16 and weights.min() >= 1
        sums.append([weights[weights.index.isin(sizes.index[:20])].sum(), weights.sum()])
    assert np.mean(sums, axis=0) == pytest.approx([20, 80], rel=0.03)


def test_a_larger_sample_contains_the_smaller_one() -> None:
    sizes = make_units([0.3, 0.5] * 20)
    first = draw_sample(sizes, 10)
    # another seed or other labels change no unit of the first sample
    second = draw_sample(sizes, 25, seed=2, sample=first)
    assert (
        len(drawn_units(first)) == 10
        and len(drawn_units(second)) == 25
        and drawn_units(first) < drawn_units(second)
    )
    assert draw_sample(sizes * 2, 25, sample=second).equals(second)
    assert inclusion(first, sizes.index, drawn_units(first)).equals(
        inclusion(second, sizes.index, drawn_units(first))
    )
    with_more = inclusion(second, sizes.index, drawn_units(second))
    assert set(with_more.index) == drawn_units(second)
    assert (
        with_more
        >= inclusion(second, sizes.index, drawn_units(first)).reindex(with_more.index).fillna(0)
    ).all()
    everything = draw_sample(sizes, 100)
    assert (inclusion(everything, sizes.index, sizes.index) == 1).all()


def test_labels_count_only_when_a_batch_is_complete() -> None:
    sizes = make_units([0.3] * 30)
    sample = draw_sample(sizes, 10)
    incomplete = sorted(drawn_units(sample))[:-1]
    assert inclusion(sample, sizes.index, incomplete).empty
    assert inclusion(
        sample, sizes.index, {*incomplete, *(set(sizes.index) - drawn_units(sample))}
    ).empty, "chosen, not drawn"
    assert set(inclusion(sample, sizes.index, sizes.index).index) == drawn_units(sample), (
        "nor do they enter beside it"
    )


def test_new_debates_must_be_drawn_before_labels_count() -> None:
    """New debates are drawn like the others, and labelled units stay in the sample."""
    sizes = make_units([0.3] * 40)
    first = draw_sample(sizes[:30], 10)
    assert inclusion(first, sizes.index, sizes.index).empty
    second = draw_sample(sizes, 10, sample=first)
    assert drawn_units(first) < drawn_units(second) and drawn_units(second) - drawn_units(
        first
    ) <= set(sizes.index[30:])
    assert inclusion(second, sizes.index, drawn_units(first)).empty
    assert set(inclusion(second, sizes.index, drawn_units(second)).index) == drawn_units(second)
    assert not inclusion(second, sizes.index[:20], drawn_units(second)).empty, (
        "debates that were removed do no harm"
    )


def test_a_sample_is_read_back_and_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "abc.sample.csv"
    sample = draw_sample(make_units([1 / 3, 0.7] * 10), 7)
    write_sample(path, sample)
    pd.testing.assert_frame_equal(read_sample(path), sample, check_dtype=False, check_exact=True)
    modification_time = path.stat().st_mtime_ns
    write_sample(path, sample)
    assert path.stat().st_mtime_ns == modification_time, (
        "an unchanged file is left alone: the labels depend on it"
    )
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1], "unit-x,many,0.5,1", *lines[2:]]) + "\n")
    with pytest.raises(UserError, match=r"abc\.sample\.csv: row 2: expected numbers"):
        read_sample(path)


# From statements to final labels

POSITIONS = {
    "d1": ("AFFIRM", "AFFIRM"),
    "d2": ("AFFIRM", "REVERSE"),
    "d3": ("NONE", "NONE"),
    "d4": ("REVERSE", "REMAND"),
}


def make_panel() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the statements of one judge in two rounds of each debate, and the labels by rules.

    The second statement in d5 is missing.
    """
    positions = {**POSITIONS, "d5": ("AFFIRM", "NONE")}
    rows = []
    for debate, turn in product(positions, (1, 2)):
        row = {
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
        rows.append(row)
    statements = pd.DataFrame(rows)
    label_list = list(chain.from_iterable(positions.values()))
    labels = statements.assign(label=label_list, labeler="rules", evidence="")
    return statements, labels.assign(code=labels["label"].map(CODES))[ALL_COLUMNS]


def labels_by_person(
    labels: pd.DataFrame, label: str, *debates: str, labeler: str = "human:ann"
) -> pd.DataFrame:
    rows = labels[(labels["labeler"] == "rules") & labels["debate_id"].isin(debates)]
    return rows.assign(label=label, code=CODES[label], labeler=labeler)


def test_units_on_which_labelers_differ_are_drawn_more_often() -> None:
    statements, labels = make_panel()
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


def test_final_labels_keep_drawn_and_predicted_labels() -> None:
    """People label a drawn unit, a unit of their choice, and a unit with a missing statement."""
    statements, labels = make_panel()
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
    people = pd.concat(
        [labels_by_person(labels, "REMAND", "d2", "d5"), labels_by_person(labels, "AFFIRM", "d3")]
    )
    everyone = pd.concat(
        [
            labels,
            people[people["debate_id"] != "d5"],
            people[people["turn"] == 1].query("debate_id == 'd5'"),
        ]
    )
    final = final_labels(statements, everyone, sample, ("human", "rules"), "NONE").set_index(
        ["debate_id", "turn"]
    )
    assert final.loc["d3", "label"].tolist() == ["AFFIRM", "AFFIRM"], "it counts in the mixture"
    assert final["inclusion"].dropna().to_dict() == {
        ("d2", 1): 0.3,
        ("d2", 2): 0.3,
        ("d5", 1): 0.3,
        ("d5", 2): 1.0,
    }
    assert final["drawn_label"].dropna().to_dict() == {
        ("d2", 1): "REMAND", ("d2", 2): "REMAND", ("d5", 1): "REMAND", ("d5", 2): "NONE",
    }  # fmt: skip
    assert final.loc["d2", "predicted"].tolist() == ["AFFIRM", "REVERSE"]
    assert set(final["predicted_by"]) == {"rules"}
    is_second_label = (everyone["debate_id"] == "d2") & (everyone["turn"] == 2)
    incomplete = everyone[(everyone["labeler"] == "rules") | ~is_second_label]
    final = final_labels(statements, incomplete, sample, ("human", "rules"), "NONE")
    assert final["inclusion"].isna().all()


def test_a_decision_takes_precedence_over_annotators() -> None:
    statements, labels = make_panel()
    people = [
        labels_by_person(labels, "REMAND", "d2", labeler=f"human:{name}") for name in ("ann", "bob")
    ]
    decided = labels_by_person(labels, "REVERSE", "d2", labeler="adjudicated:zoe")
    final = final_labels(
        statements, pd.concat([labels, *people, decided]), EMPTY_SAMPLE, ("rules", "human"), "NONE"
    )
    assert final.set_index("debate_id").loc["d2", "label"].tolist() == [
        "AFFIRM",
        "REVERSE",
    ], "the configured order"
    final = final_labels(
        statements, pd.concat([labels, *people, decided]), EMPTY_SAMPLE, ("human", "rules"), "NONE"
    )
    assert set(final.set_index("debate_id").loc["d2", "labeler"]) == {"adjudicated:zoe"}
