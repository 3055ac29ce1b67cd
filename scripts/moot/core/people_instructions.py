"""The instructions for people at the desk."""

from pathlib import Path

from moot.core.config import PeopleConfig
from moot.core.text_files import read_text


def load_instructions(config: PeopleConfig) -> str:
    """Return the text of the file that the configuration names; "" if it names none.

    Raises:
        UserError: the file is missing, empty, or not text.
    """
    if not config.instructions:
        return ""
    remedy = "write the text there, or leave people.instructions out of the configuration."
    return read_text(Path(config.instructions), get=remedy)
