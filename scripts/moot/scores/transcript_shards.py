"""The shards of an experiment's transcripts: read whole, or in parts that save memory."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from moot.core.artifacts import count_rows, find_waiting_rows, read_frames, read_table
from moot.core.errors import UserError
from moot.core.schemas import SCHEMAS
from moot.core.utterance_kinds import CONCLUSION

TURN = ["model", "debate_id", "turn"]
KEYS = (*TURN, "case_id")
_MAX_UTTERANCES_PER_READ = 100_000


class TranscriptShards:
    """The transcripts of an experiment, in one folder of shards for each model.

    Args:
        folder: of the experiment.
        models: of the experiment.
        files: the files that may be read, as a rule names them; None for all files of the folder.
    """

    def __init__(self, folder: Path, models: Sequence[str], files: Collection[Path] | None) -> None:
        self._folder = folder
        self._models = models
        self._files = files
        self._waiting_debates: dict[tuple[Path, str], set[str]] = {}

    @property
    def turns(self) -> int:
        """The number of utterances, including waiting debates and validation cases."""
        return sum(count_rows(shard) for shard in self._list_shards())

    def read(self) -> pd.DataFrame:
        """Return the utterances of all debates that have ended, in the order of turns."""
        frame = _in_order(read_frames(self._list_shards()))
        self._refuse_twice(frame[frame.duplicated(TURN)])
        waits = find_waiting_rows(frame)
        return frame[~waits].reset_index(drop=True) if waits.any() else frame

    def parts(
        self, columns: Collection[str], model: str = "", *, include_waiting: bool = False
    ) -> Iterator[pd.DataFrame]:
        """Yield the utterances shard by shard, and large shards in parts.

        Args:
            columns: the columns of the transcripts schema that are needed in addition to `KEYS`.
            model: the model; "" for all models, one after the other.
            include_waiting: whether to include debates that wait for a person or for replies.

        Yields:
            Whole debates of one model in the order of ids and turns. Missing text is "".
        """
        column_names = list(dict.fromkeys([*KEYS, *columns]))
        debates: set[tuple[str, str]] = set()
        for shard, condition in _debate_chunks(self._list_shards(model)):
            part = read_table(shard, column_names, condition).to_pandas()
            if not include_waiting:
                part = part[~part["debate_id"].isin(self._find_waiting_debates(shard, condition))]
            part = _in_order(part)
            keys = part[["model", "debate_id"]].drop_duplicates()
            part_debates = set(keys.itertuples(index=False, name=None))
            known_debates = [debate for _, debate in part_debates & debates]
            self._refuse_twice(part[part.duplicated(TURN) | part["debate_id"].isin(known_debates)])
            debates |= part_debates
            yield part

    def _find_waiting_debates(self, shard: Path, condition: pc.Expression) -> set[str]:
        """Return the waiting debates in a part of a shard. Each part is read for this once."""
        key = shard, str(condition)
        if key not in self._waiting_debates:
            outcomes = condition & (pc.field("kind") == CONCLUSION) & (pc.field("parsed") != "")
            conclusions = read_table(shard, ["model", "debate_id", "kind", "parsed"], outcomes)
            waiting_rows = conclusions.to_pandas().loc[find_waiting_rows]
            self._waiting_debates[key] = set(waiting_rows["debate_id"])
        return self._waiting_debates[key]

    def _list_shards(self, model: str = "") -> list[Path]:
        shards: list[Path] = []
        for name in [model] if model else self._models:
            shards += self._shards_of(self._folder / name)
        if not shards:
            raise UserError(
                f"{self._folder}: no transcripts found; expected one folder per model. Run the"
                " debates first."
            )
        return shards

    def _shards_of(self, folder: Path) -> list[Path]:
        if self._files is None:
            return sorted(folder.glob("*.parquet"))
        files = [file for file in self._files if file.parent == folder]
        return sorted(files, key=lambda file: int(file.stem))

    def _refuse_twice(self, rows: pd.DataFrame) -> None:
        """Raise an error about the first of some rows, which two shards have."""
        if len(rows):
            row = rows.iloc[0]
            raise UserError(
                f"{self._folder}/{row['model']}: turn {row['turn']} of debate {row['debate_id']} is"
                " in two shards. This happens if `shards` was changed. Remove this folder and run"
                " again; the replies are in the ledger."
            )


def _debate_chunks(shards: Iterable[Path]) -> Iterator[tuple[Path, pc.Expression]]:
    """Yield shards, and which of their debates to read at once.

    These are all debates, or those between two ids if the shard is large.
    """
    for shard in shards:
        rows = count_rows(shard)
        if rows <= _MAX_UTTERANCES_PER_READ:
            yield shard, pc.scalar(value=True)
            continue
        debates = sorted(read_table(shard, ["debate_id"])["debate_id"].unique().to_pylist())
        size = max(1, len(debates) * _MAX_UTTERANCES_PER_READ // rows)
        for start in range(0, len(debates), size):
            chunk = debates[start : start + size]
            yield shard, (pc.field("debate_id") >= chunk[0]) & (pc.field("debate_id") <= chunk[-1])


def _in_order(utterances: pd.DataFrame) -> pd.DataFrame:
    """Sort transcripts by model, debate and turn; missing text becomes ""."""
    utterances = utterances.sort_values(TURN, kind="stable", ignore_index=True)
    texts = [
        field.name
        for field in SCHEMAS["transcripts"]
        if field.type == "string" and field.name in utterances
    ]
    utterances[texts] = utterances[texts].fillna("")
    return utterances
