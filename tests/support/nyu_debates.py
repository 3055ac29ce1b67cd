"""Invented debates in the form of the NYU human debates, and a web server that offers them."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from file_servers import serve_folder
from moot.datasets.download import COLUMNS

STORY_TEXT = "The lamp was lit by the keeper at nine and put out by the wind before ten"
STORY = STORY_TEXT.split()
RIGHT_ANSWER = "The wind put the lamp out."
WRONG_ANSWER = "The keeper put the lamp out."
BELIEFS = ([0.5, 0.5], [0.4, 0.6], [0.7, 0.3])
"""The live judge's beliefs: before the first speech, and after each of two rounds."""


def speech(text: str, span: tuple[int, int]) -> dict[str, Any]:
    """Return a debater's speech: a text and a quotation."""
    return {
        "speaker": "Ada Invented",
        "content": [{"Text": {"text": text}}, {"Quote": {"span": list(span)}}],
    }


def feedback(belief: list[float]) -> dict[str, Any]:
    """Return a judge's belief."""
    speech_of_judge = {"speaker": "Jo Invented", "content": [{"Text": {"text": "Go on."}}]}
    return {
        "JudgeFeedback": {"distribution": belief, "feedback": speech_of_judge, "endDebate": False}
    }


def debate(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a debate's metadata and record: two rounds; the first answer is right."""
    name = f"the-lamp-{number}"
    rounds = [feedback(BELIEFS[0])]
    for belief in BELIEFS[1:]:
        speeches = {
            "0": speech(f"The text says who did it ({number}).", (8, 14)),
            "1": speech("No.", (5, 7)),
        }
        rounds += [{"SimultaneousSpeeches": {"speeches": speeches}}, feedback(belief)]
    story = {"articleId": "1", "title": "The Lamp", "contents": STORY}
    record = {
        "setup": {
            "answers": [RIGHT_ANSWER, WRONG_ANSWER],
            "correctAnswerIndex": 0,
            "sourceMaterial": {"QuALITYSourceMaterial": story},
        },
        "rounds": rounds,
    }
    judging_info = {"correctAnswerIndex": 0, "finalJudgement": BELIEFS[-1]}
    metadata = {
        "name": name,
        "setting": {"isHuman": True, "isDebate": True},
        "sourceMaterialId": {"QuALITYStory": {"id": str(number), "title": "The Lamp"}},
        "question": "Who put the lamp out?",
        "roleAssignments": {"Judge": "Jo Invented"},
        "status": {"Complete": {"result": {"judgingInfo": judging_info}}},
        "includedInPaper": True,
    }
    return metadata, record


@contextmanager
def published_debates(folder: Path, count: int, versions: Path) -> Iterator[None]:
    """Serve debates from a folder, and write their addresses and checksums to `versions`."""
    pairs = [debate(number) for number in range(count)]
    files = {"nyu_debates-metadata.jsonl": "".join(json.dumps(line) + "\n" for line, _ in pairs)}
    files |= {f"nyu_debates/{line['name']}.json": json.dumps(record) for line, record in pairs}
    rows = [",".join(COLUMNS)]
    with serve_folder(folder) as address:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            digest = hashlib.sha256(text.encode()).hexdigest()
            url = f"{address}/{path}"
            rows.append(f"nyu_debates,recorded/{path},primary,{url},sha256:{digest},,invented,")
        versions.write_text("\n".join(rows) + "\n")
        yield
