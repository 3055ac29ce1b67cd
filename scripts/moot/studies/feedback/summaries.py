"""A model's summaries of opinions, written as the CaseLaw data set reads them."""

import json
from collections.abc import Sequence
from pathlib import Path

from moot.core.artifacts import atomic_path, read_frames
from moot.core.errors import UserError
from moot.studies.feedback.protocol_summaries import summary_records


def write_summaries(shards: Sequence[Path], output: Path) -> None:
    """Write a model's usable summaries (protocol `case_summary`) as the CaseLaw loader reads them,
    `summaries/{experiment}/{model}.jsonl` of `case_background` and `labels`; raises `UserError` where there is none.
    """
    said = read_frames(shards)
    lines = [json.dumps(record, ensure_ascii=False) for record in summary_records(said)]
    if not lines:
        raise UserError(f"{output.stem}: none of {len(said)} utterances is a usable summary. Use a larger model.")
    with atomic_path(output) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
