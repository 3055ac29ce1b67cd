"""ConvoKit corpora: one folder of utterances, speakers and conversations in the form that its
`Corpus(FOLDER)` loads.

A debate is a conversation and a seat a speaker. Each utterance replies to the one before it. An
utterance that not all seats could read has `private` among its metadata.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from moot import __version__
from moot.core.kinds import PUBLIC
from moot.core.types import JsonObject
from moot.report.exports import Export, ExportedDebate, call_times, exporter, plain
from moot.scores.attribution import EFFECT

_TOLD = (
    "kind",
    "turn",
    "round",
    "visibility",
    "source",
    "prediction",
    "confidence",
    "probability",
    "parse_status",
)
_OUTCOME = (
    "prediction",
    "confidence",
    "probability",
    "status",
    "reason",
    "target",
    "repeat",
    "case_id",
)


@exporter("convokit")
def write(export: Export, folder: Path) -> None:
    """Write the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    seats: dict[str, JsonObject] = {}
    conversations: dict[str, JsonObject] = {}
    fields: set[str] = set()
    times = {name: call_times(call)[1].timestamp() for name, call in export.calls().items()}
    with (folder / "utterances.jsonl").open("w", encoding="utf-8") as lines:
        for debate in export.debates():
            case = {f"case_{name}": value for name, value in debate.case["attributes"].items()}
            told = plain({name: debate.outcome[name] for name in _OUTCOME})
            conversations[debate.name] = {
                "meta": {"text": debate.case["text"], **told, **case},
                "vectors": [],
            }
            for utterance in _utterances(debate, times):
                seats.setdefault(
                    utterance["speaker"], {"meta": {"seat": utterance["speaker"]}, "vectors": []}
                )
                fields |= set(utterance["meta"])
                lines.write(json.dumps(utterance, ensure_ascii=False) + "\n")
    about = {
        "name": f"{export.results.experiment}/{export.model}",
        "model": export.model_name,
        "protocol": export.results.config.protocol,
        "dataset": export.results.config.dataset,
        "question": export.results.task.question,
        "notes": list(export.results.task.notes),
        "moot_version": __version__,
    }
    index = {
        "utterances-index": _types(fields),
        "speakers-index": _types({"seat"}),
        "conversations-index": _types(
            {name for one in conversations.values() for name in one["meta"]}
        ),
        "overall-index": _types(set(about)),
        "vectors": [],
        "version": 1,
    }
    contents = {"speakers": seats, "conversations": conversations, "corpus": about, "index": index}
    for name, content in contents.items():
        text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _utterances(debate: ExportedDebate, times: Mapping[str, float]) -> Iterator[JsonObject]:
    """The turns in order; what took no call has the time of the turn before it, without any call
    the turn's number.
    """
    timed = [times[said["call_id"]] for said in debate.said if said["call_id"] in times]
    before, now = None, min(timed, default=0.0)
    for said in debate.said:
        now = max(now, times.get(said["call_id"], now)) if timed else float(said["turn"])
        # A conversation bears the name of its first utterance.
        name = debate.name if before is None else f"{debate.name}/{said['turn']}"
        meta = {
            **plain({field: said[field] for field in (*_TOLD, *EFFECT) if field in said}),
            "private": said["visibility"] != PUBLIC,
        }
        yield {
            "id": name,
            "conversation_id": debate.name,
            "text": said["text"],
            "speaker": said["speaker"],
            "reply-to": before,
            "timestamp": now,
            "meta": {**meta, "call_id": said["call_id"] or ""},
            "vectors": [],
        }
        before = name


def _types(fields: set[str]) -> dict[str, list[str]]:
    """The index of metadata: each field's type, which ConvoKit finds out by itself where none is
    named.
    """
    return {field: [] for field in sorted(fields)}
