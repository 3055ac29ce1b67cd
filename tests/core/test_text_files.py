"""Test texts of files by their encoding."""

from pathlib import Path

from messages import refusal
from moot.core.text_files import read_text

TEXT = "Größe und Maß der Wohnung\n" * 9


def test_a_damaged_text_is_refused_and_one_of_another_encoding_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    assert read_text(path) == TEXT
    path.write_bytes(TEXT.encode() + b"caf\xe9")
    with refusal():
        read_text(path)
    with refusal():
        read_text(path, encoding="ascii")
