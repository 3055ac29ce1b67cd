"""The instructions that people at the desk read with each task.

Each run copies the text that the configuration names to `data/instructions.txt`, where the desk
finds it: the desk does not read the configuration.
"""

from pathlib import Path

from moot.core.config import PeopleConfig
from moot.core.durable import write_atomically
from moot.core.text_files import read_text

INSTRUCTIONS = Path("data/instructions.txt")


def load_instructions(config: PeopleConfig) -> str:
    """Return the text of the file that the configuration names; "" if it names none.

    Raises:
        UserError: the file is missing, empty, or not text.
    """
    if not config.instructions:
        return ""
    remedy = "write the text there, or leave people.instructions out of the configuration."
    return read_text(Path(config.instructions), get=remedy)


def copy_instructions(config: PeopleConfig) -> None:
    """Copy the instructions into the working directory, over an earlier copy."""
    if config.instructions or INSTRUCTIONS.exists():
        write_atomically(INSTRUCTIONS, load_instructions(config))


def read_instructions(folder: Path) -> str:
    """Return the instructions that the last run copied into a folder; "" without any."""
    path = folder / INSTRUCTIONS
    return path.read_text(encoding="utf-8") if path.exists() else ""
