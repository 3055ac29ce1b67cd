"""Records of debates as their loader reads them."""

from pathlib import Path

from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.debate_records import RecordedDebate, check_records
from moot.studies.recorded.data_nyu_debates import JUDGED_OFFLINE_BY

PROJECT = Path(__file__).resolve().parents[2]
SHARED = PROJECT.parent / "shared" / "data"


def load_with_records(
    loader: str, context: LoadContext, **options: object
) -> tuple[Loaded, list[RecordedDebate]]:
    """Return the cases and the recorded debates of a loader, which are checked."""
    entry = LOADERS[loader]
    validated = entry.options.model_validate(options)
    loaded = entry.load(validated, context)
    assert entry.records is not None
    debates = list(entry.records(validated, context))
    check_records(context.name, debates, loaded.cases, loaded.task)
    return loaded, debates


def read_records(
    loader: str, data_root: Path = SHARED, **options: object
) -> tuple[dict[str, str], list[RecordedDebate]]:
    """Return the target of each case, and its debates before judges who took part in them."""
    context = LoadContext("records", data_root, PROJECT, 1)
    loaded, debates = load_with_records(loader, context, **options)
    debates = [debate for debate in debates if debate.model != JUDGED_OFFLINE_BY]
    return {case.case_id: case.target for case in loaded.cases}, debates
