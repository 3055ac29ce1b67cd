"""The texts that people at the desk are shown."""

from pathlib import Path

from moot.core.config import PeopleConfig
from moot.core.input_files import read_text


def texts_for_people(config: PeopleConfig) -> dict[str, str]:
    """The instructions and the consent text, by key, those that the configuration names.

    Raises:
        UserError: a file is not there, is empty, or no text.
    """
    files = {key: file for key in ("instructions", "consent") if (file := getattr(config, key))}
    how = "write the text there, or leave people.{} out of the configuration."
    return {key: read_text(Path(file), get=how.format(key)) for key, file in files.items()}
