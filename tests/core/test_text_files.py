"""Test texts of files by their encoding."""

from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.core.text_files import read_text

TEXT = "Größe und Maß der Wohnung\n" * 9


def test_a_damaged_text_is_refused_and_one_of_another_encoding_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    assert read_text(path) == TEXT
    path.write_bytes(TEXT.encode() + b"caf\xe9")
    with pytest.raises(UserError, match="as the rest of the file is"):
        read_text(path)
    with pytest.raises(UserError, match="expected a text file in ASCII"):
        read_text(path, encoding="ascii")
