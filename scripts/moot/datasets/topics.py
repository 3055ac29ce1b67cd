"""Shared code of data sets with texts about topics: folders, layout of the text, and checks."""

from pathlib import Path

from moot.core.types import Column
from moot.datasets import LoadContext
from moot.datasets.reading.checks import refuse_values

MAX_TOPIC_CHARS = 1000


def source_folder(source: str, context: LoadContext) -> Path:
    """Return the parent of a data set's folder: the shipped samples, or else `data_root`."""
    return context.shipped / "data" / "samples" if source == "sample" else context.data_root


def source_notes(source: str) -> tuple[str, ...]:
    """Return the notes that every table shows about a source: that a sample is a sample."""
    return ("a small sample, written for moot",) if source == "sample" else ()


def topic_and_text(topic: str, kind: str, text: str) -> str:
    """Return a case's text: the topic on the first line, then the text after its kind ("Post")."""
    return f"Topic: {' '.join(topic.split())}\n\n{kind}: {text.strip()}"


def extract_topic(text: str) -> str:
    """Return the topic on the first line of a case's text, "" if there is none.

    >>> extract_topic(topic_and_text("zoos", "Post", "Close them."))
    'zoos'
    """
    return text.partition("\n\n")[0].removeprefix("Topic: ") if text.startswith("Topic: ") else ""


def extract_body(text: str) -> str:
    """Return a case's text without its topic.

    >>> extract_body(topic_and_text("zoos", "Post", "Close them."))
    'Post: Close them.'
    """
    return text.partition("\n\n")[2] if text.startswith("Topic: ") else text


def check_texts(path: Path, values: Column, *, topic: bool = False) -> None:
    """Refuse blank texts and, for topics, texts that are too long (a sign of shifted columns).

    Raises:
        UserError: with file, row and column.
    """
    refuse_values(path, values, values.str.strip() == "", "a text", "Fill it in or remove the row.")
    lengths = values.str.len()
    is_long = lengths > MAX_TOPIC_CHARS
    if topic and is_long.any():
        expected = (
            f"a topic of at most {MAX_TOPIC_CHARS} characters (it has {lengths[is_long].iloc[0]}"
            " characters)"
        )
        refuse_values(path, values, is_long, expected, "Is the text in the topic's column?")
