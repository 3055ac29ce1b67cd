"""What data sets of texts about topics share: where their files are, how a topic is shown, and
checks of texts.
"""

from pathlib import Path

from moot.core.input_files import refuse
from moot.core.types import Column
from moot.datasets import LoadContext

LONGEST_TOPIC = 1000


def source_folder(source: str, context: LoadContext) -> Path:
    """The folder that holds a data set's own folder: the shipped samples, or `data_root` (local and
    downloaded).
    """
    return context.shipped / "data" / "samples" if source == "sample" else context.data_root


def source_notes(source: str) -> tuple[str, ...]:
    """What every table must say of a source: that a sample is one."""
    return ("a small sample, written for moot",) if source == "sample" else ()


def topic_and_text(topic: str, kind: str, text: str) -> str:
    """A case's text: the topic on the first line, then the text under its kind ("Post", "Claim")."""
    return f"Topic: {' '.join(topic.split())}\n\n{kind}: {text.strip()}"


def extract_topic(text: str) -> str:
    """The topic on the first line of a case's text, "" where there is none.

    >>> extract_topic(topic_and_text("zoos", "Post", "Close them."))
    'zoos'
    """
    return text.partition("\n\n")[0].removeprefix("Topic: ") if text.startswith("Topic: ") else ""


def extract_body(text: str) -> str:
    """A case's text without its topic.

    >>> extract_body(topic_and_text("zoos", "Post", "Close them."))
    'Post: Close them.'
    """
    return text.partition("\n\n")[2] if text.startswith("Topic: ") else text


def check_texts(path: Path, values: Column, *, topic: bool = False) -> None:
    """Require that no text is blank and, for topics, that none is longer than a topic can be (a
    shifted column).

        Raises:
            UserError: naming file, row and column.
    """
    refuse(path, values, values.str.strip() == "", "a text", "Fill it in or remove the row.")
    lengths = values.str.len()
    long = lengths > LONGEST_TOPIC
    if topic and long.any():
        expected = (
            f"a topic of at most {LONGEST_TOPIC} characters (it has {lengths[long].iloc[0]}"
            " characters)"
        )
        refuse(path, values, long, expected, "Is the text in the topic's column?")
