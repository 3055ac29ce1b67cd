"""Decision conferences, each a YAML file with the issue, the topics in order, and the clusters.

A conference is one case. Its text has the issue and the topics as Markdown; any other text can also
be debated in a conference, as one topic. The clusters are used only for scoring.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, StringConstraints, ValidationError

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.natural_order import natural_key
from moot.core.strict_model import StrictModel
from moot.core.text_files import read_text
from moot.core.yaml_text import load_yaml
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.topics import MAX_TOPIC_CHARS, source_folder, source_notes
from moot.studies.conference.data_agreement import AGREEMENT, OPEN

Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TOPIC_CHARS)
]
Title = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\n#\[\]]+$"
    ),
]
ClusterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z ]*$")]


class TopicEntry(StrictModel):
    """A topic in a file."""

    title: Title
    stage: Title = "discussion"
    question: Words


class ConferenceFile(StrictModel):
    """A conference in a file."""

    issue: Words
    topics: tuple[TopicEntry, ...] = Field(min_length=1)
    clusters: Mapping[ClusterName, tuple[Words, ...]] = Field(default_factory=dict)


class ConferenceOptions(DatasetOptions):
    """Options of the data set `conference`."""

    files: tuple[str, ...] = Field(
        (), description="names of the conferences (file names without .yaml); default: all"
    )


TASK = Task(
    noun="the conference",
    question="Does the conference end with agreement on every topic?",
    labels=(OPEN, AGREEMENT),
    positive=AGREEMENT,
    meaning={
        OPEN: "at least one topic is left without agreement",
        AGREEMENT: "the participants agree on every topic",
    },
)


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of an agenda: its title, the stage of the conference, and its question."""

    title: str
    stage: str
    question: str


@dataclass(frozen=True, slots=True)
class Agenda:
    """The agenda of a conference: the issue and its topics, in order."""

    issue: str
    topics: tuple[Topic, ...]


@dataset("conference", ConferenceOptions, labels=TASK.labels, shipped=("data/samples/conference",))
def load(options: ConferenceOptions, context: LoadContext) -> Loaded:
    """Load the conferences of the folder `conference` as test cases with the target `agreement`.

    Attributes of a case: `clusters` (JSON: the words of each cluster), "" if the file has none.

    Raises:
        UserError: there is no file, a key is missing or unknown, or a text is empty or too long.
    """
    folder = source_folder(options.source, context) / "conference"
    names = options.files
    if not names:
        names = tuple(sorted((path.stem for path in folder.glob("*.yaml")), key=natural_key))
    if not names:
        raise UserError(
            f"{folder}: found no .yaml file, expected one for each conference. "
            "scripts/moot/studies/conference/README.md shows one."
        )
    paths = [folder / f"{Path(name).name}.yaml" for name in names]
    cases = [_build_case(path, row, context.name) for row, path in enumerate(paths, start=1)]
    task = replace(TASK, notes=source_notes(options.source))
    return Loaded(cases, task, cleaning={"conferences": len(cases)}, sources=paths)


def read_conference(path: Path) -> ConferenceFile:
    """Read and check a conference's file.

    Raises:
        UserError: the file has a fault; names file, key, the value found and the value expected.
    """
    try:
        return ConferenceFile.model_validate(load_yaml(read_text(path)))
    except yaml.YAMLError as error:
        raise UserError(
            f"{path}: not YAML ({' '.join(str(error).split())}). Correct the file."
        ) from None
    except ValidationError as error:
        fault = error.errors()[0]
        value = str(fault["input"])
        key = ".".join(map(str, fault["loc"])) or "the file"
        raise UserError(
            f"{path}: {key}: found {len(value)} characters ({value[:60]!r}); {fault['msg']}."
            " Correct the file."
        ) from None


def format_agenda(agenda: Agenda) -> str:
    """Return an agenda as the Markdown that `read_agenda` reads."""
    parts = [agenda.issue]
    parts += [f"## {topic.title} [{topic.stage}]\n\n{topic.question}" for topic in agenda.topics]
    return "\n\n".join(parts)


def read_agenda(text: str, question: str) -> Agenda:
    """Return the agenda in a case's text.

    A text without topics becomes one topic that asks `question`.

    >>> read_agenda("A bridge.\\n\\n## Need [discussion]\\n\\nDo we need it?", "").topics
    (Topic(title='Need', stage='discussion', question='Do we need it?'),)
    """
    issue, *rest = re.split(r"^## ([^\n\[\]]+) \[([^\n\[\]]+)\]\n\n", text, flags=re.MULTILINE)
    parts = [part.strip() for part in rest]
    topics = tuple(map(Topic, parts[::3], parts[1::3], parts[2::3]))
    return Agenda(issue.strip(), topics or (Topic("The question", "discussion", question),))


def _build_case(path: Path, row: int, name: str) -> Case:
    conference = read_conference(path)
    agenda = Agenda(
        conference.issue,
        tuple(Topic(entry.title, entry.stage, entry.question) for entry in conference.topics),
    )
    clusters = {cluster: list(words) for cluster, words in conference.clusters.items()}
    attributes = {"clusters": json.dumps(clusters) if clusters else ""}
    return Case(
        f"{name}-{path.stem}",
        name,
        "test",
        format_agenda(agenda),
        AGREEMENT,
        TASK.labels,
        attributes,
        row,
    )
