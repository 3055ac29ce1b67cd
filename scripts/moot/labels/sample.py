"""The random sample of statements whose labels by people correct labels by rules and models.

A unit of the sample is all statements of one judge in one debate, so that changes between rounds
can be corrected as well. Units are drawn by priority sampling (Duffield, Lund and Thorup 2007,
"Priority sampling for estimation of arbitrary subset sums", J. ACM 54): each unit has a size and a
uniform draw, and the sample is the units with the smallest draw over size. The next unit's draw
over size is the threshold t; a unit of size s was drawn with the probability min(1, s t). Therefore
a larger sample includes each smaller one, and labels are kept when more units are drawn.

Sizes are Neyman's: the expected standard deviation of a unit's errors, by the shares in
`EXPECTED_ERRORS`. These shares are assumptions. Wrong shares widen intervals but cause no bias.
"""

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.cases import stable_fraction
from moot.core.durable import write_if_changed
from moot.core.errors import UserError
from moot.core.input_files import read_csv
from moot.labels.statements import sheet_id, unit_id

EXPECTED_ERRORS = {
    "labellers differ": 0.35,
    "no position, or another one than in the round beside": 0.2,
    "else": 0.08,
}
"""The expected error rates of the labeler whose label counts, by the kind of statement."""
COLUMNS = ("unit", "size", "draw", "batch")
_STATEMENT = ["debate_id", "turn"]


def sample_file(folder: Path, experiment: str, model: str) -> Path:
    """Return the file of the sample of an experiment and model, in the folder of annotation
    sheets.
    """
    return folder / f"{sheet_id(experiment, model)}.sample.csv"


def name_units(statements: pd.DataFrame) -> "pd.Series[str]":
    """Return the unit of each statement, under a name that hides model, case and speaker."""
    keys = statements[["experiment", "model", "debate_id", "speaker"]].itertuples(
        index=False, name=None
    )
    return pd.Series([unit_id(*key) for key in keys], index=statements.index, dtype=object)


def has_text(statements: pd.DataFrame) -> "pd.Series[bool]":
    """Return which statements have a text.

    The others (missing judges) take no position and get no label.
    """
    return statements["text"].str.strip() != ""


def unit_sizes(
    statements: pd.DataFrame, labels: pd.DataFrame, predicted: pd.DataFrame, no_position: int
) -> "pd.Series[float]":
    """Return the size of each unit with text.

    Args:
        statements: as returned by `read_statements`.
        labels: the labels by all rules and models, columns debate_id, turn, code, labeler.
        predicted: for each statement, the label that counts among `labels`.
        no_position: the code of statements that take no position.
    """
    keys = pd.MultiIndex.from_frame(statements[_STATEMENT])
    code = predicted.set_index(_STATEMENT)["code"].reindex(keys).fillna(no_position).to_numpy()
    kinds = labels.groupby(_STATEMENT)["code"].nunique().reindex(keys).fillna(1).to_numpy()
    rows = statements.assign(unit=name_units(statements), code=code).sort_values(["unit", "turn"])
    codes = rows.groupby("unit")["code"]
    moves = (rows["code"] != codes.shift().fillna(rows["code"])) | (
        rows["code"] != codes.shift(-1).fillna(rows["code"])
    )
    differ, doubtful, else_ = EXPECTED_ERRORS.values()
    differs = pd.Series(kinds > 1, index=statements.index)[rows.index]
    errors = np.where(
        differs, differ, np.where(moves | (rows["code"] == no_position), doubtful, else_)
    )
    with_text = rows.assign(variance=errors * (1 - errors))[has_text(rows)]
    variances: pd.Series[float] = with_text.groupby("unit")["variance"].sum()
    return variances**0.5


def read_sample(path: Path | None) -> pd.DataFrame:
    """Read the sample with all of its units; empty if nothing was drawn yet.

    The columns are `COLUMNS`.

    `draw` is between 0 and 1; `batch` is the number of the drawing that took the unit, from 1; it
    is missing for other units.

    Raises:
        UserError: the file is not such a table, or a number is missing.
    """
    if path is None or not path.exists():
        return pd.DataFrame({"unit": [], "size": [], "draw": [], "batch": []}).astype(
            {"unit": object}
        )
    frame = read_csv(path, COLUMNS, unique="unit")
    numbers = frame[["size", "draw", "batch"]].apply(pd.to_numeric, errors="coerce")
    broken = numbers[["size", "draw"]].isna().any(axis=1) | (
        numbers["batch"].isna() & (frame["batch"] != "")
    )
    if broken.any():
        raise UserError(
            f"{path}: row {broken.idxmax()}: expected numbers in size, draw and batch. Restore "
            "the file that moot wrote: it records which labels of people belong to the random "
            "sample."
        )
    sample: pd.DataFrame = numbers.assign(unit=frame["unit"].astype(object))[list(COLUMNS)]
    return sample.reset_index(drop=True)


def write_sample(path: Path, sample: pd.DataFrame) -> None:
    """Store a sample so that its numbers are read back exactly.

    A file with the same content is not changed.
    """
    write_if_changed(
        path, sample.astype({"batch": "Int64"}).to_csv(index=False, lineterminator="\n")
    )


def draw_more(
    sample: pd.DataFrame,
    sizes: "pd.Series[float]",
    counts: "pd.Series[int]",
    min_statements: int,
    seed: int,
) -> pd.DataFrame:
    """Draw further units until the sample has at least `min_statements` statements.

    Args:
        sample: the present one; its sizes and draws stay. Units of later debates are added to it.
        sizes: of each unit of the run, by its name.
        counts: the number of statements to label in each unit.
        min_statements: the required number of statements in the sample.
        seed: the configuration's seed.
    """
    new = sizes.drop(sample["unit"], errors="ignore").sort_index()
    draws = [stable_fraction("sample", seed, unit) for unit in new.index]
    added = pd.DataFrame(
        {"unit": new.index, "size": new.to_numpy(), "draw": draws, "batch": np.nan}
    )
    units = _ranked(pd.concat([sample, added]) if len(sample) else added)
    present = units[units["unit"].isin(counts.index)]
    statements_before = counts[present["unit"]].cumsum().shift(fill_value=0).to_numpy()
    last_before = np.flatnonzero(present["batch"].notna().to_numpy()).max(initial=-1)
    is_drawn = (statements_before < min_statements) | (np.arange(len(present)) <= last_before)
    new_rows = present.index[is_drawn & present["batch"].isna().to_numpy()]
    units.loc[new_rows, "batch"] = units["batch"].max() + 1 if units["batch"].notna().any() else 1
    return units


def inclusion(
    sample: pd.DataFrame, present: Collection[str], labelled: Collection[str]
) -> "pd.Series[float]":
    """Return the probability with which each unit of the sample was drawn.

    It is empty as long as nothing counts as a sample.

    A batch counts after people have labelled all of it and of earlier batches, since the order of
    labelling may depend on the content. Nothing counts if debates were held since the last drawing.

    Args:
        sample: as drawn.
        present: the units of the run.
        labelled: the units all of whose statements have labels by people.
    """
    no_probabilities = pd.Series(dtype=float)
    if set(present) - set(sample["unit"]):
        return no_probabilities
    ranked = _ranked(sample[sample["unit"].isin(set(present))])
    for batch in sorted(ranked["batch"].dropna().unique(), reverse=True):
        in_batches = (ranked["batch"] <= batch).to_numpy()
        count = int(in_batches.sum())
        if in_batches[:count].all() and ranked["unit"][:count].isin(set(labelled)).all():
            rank = (ranked["draw"] / ranked["size"]).to_numpy()
            threshold = rank[count] if count < len(rank) else np.inf
            first = ranked[:count]
            return pd.Series(
                np.minimum(1.0, first["size"].to_numpy() * threshold),
                index=first["unit"].to_numpy(),
            )
    return no_probabilities


def _ranked(sample: pd.DataFrame) -> pd.DataFrame:
    ranks = sample.assign(rank=sample["draw"] / sample["size"])
    return ranks.sort_values(["rank", "unit"], ignore_index=True).drop(columns="rank")
