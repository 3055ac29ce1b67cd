"""Files of the user that jobs read: answers, annotations, frozen plans."""

from pathlib import Path

from moot.labels.sheets import filled_files

INBOX, FROZEN = Path("data/inbox"), Path("data/frozen")
ANNOTATIONS, SHEETS = Path("data/annotations"), Path("data/annotation_sheets")


def answer_files(experiment: str, model: str) -> list[Path]:
    """Return the answers of people who sit in an experiment's debates."""
    return sorted((INBOX / experiment / model).glob("*/*.answer.txt"))


def annotation_files() -> list[Path]:
    """Return the files in the folder of annotations, including unreadable ones."""
    return filled_files(ANNOTATIONS)


def frozen_files() -> list[Path]:
    """Return the frozen plans of the working directory (plan-1.yaml, ...), oldest first."""
    return sorted(FROZEN.glob("plan-*.yaml"), key=lambda path: (len(path.name), path.name))
