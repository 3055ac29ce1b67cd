"""A folder of the user may replace single prompt templates; each mistake in them is an error."""

from pathlib import Path

import pytest

from messages import refusal
from moot.llm.prompts import Prompts

SHIPPED = Path(__file__).resolve().parents[2] / "config" / "prompts"
VERDICT = '{% extends "courtroom/base.jinja" %}{% block instruction %}Decide.{% endblock %}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a template of the verdict, and a note."""
    monkeypatch.chdir(tmp_path)
    verdict = Path("plain", "courtroom", "verdict.jinja")
    verdict.parent.mkdir(parents=True)
    verdict.write_text(VERDICT)
    Path("plain", "README.md").write_text("Why we word it so.")
    return Path("plain")


def overlay(folder: Path) -> Prompts:
    return Prompts(SHIPPED).overlaid(folder, "courtroom/")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("courtroom/verdikt.jinja", VERDICT),
        ("verdict.jinja", VERDICT),
        ("panel/vote.jinja", VERDICT),
        ("courtroom/belief.jinja", "{% if %}"),
        ("courtroom/belief.jinja", '{% extends "courtroom/bass.jinja" %}'),
    ],
)
def test_an_unused_or_faulty_template_is_an_error(folder: Path, file: str, text: str) -> None:
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with refusal():
        overlay(folder)


def test_templates_for_a_language_and_included_templates_are_used(folder: Path) -> None:
    (folder / "courtroom" / "belief.zh.jinja").write_text('{% include "courtroom/note.jinja" %}')
    (folder / "courtroom" / "note.jinja").write_text("Note.")
    sources = overlay(folder).sources("courtroom/belief.zh")
    assert sources["courtroom/note.jinja"] == "Note."


def test_a_link_that_leaves_a_folder_of_templates_is_an_error(tmp_path: Path, folder: Path) -> None:
    inside, outside = folder / "courtroom", tmp_path / "secret.jinja"
    outside.write_text("My key.")
    (inside / "statement.jinja").symlink_to("verdict.jinja")
    overlay(folder)
    for name, target in (
        ("closing.jinja", outside),
        ("notes.md", outside),
        ("../other", tmp_path),
        ("x.jinja", "gone"),
    ):
        link = inside / name
        link.symlink_to(target)
        with refusal():
            overlay(folder)
        link.unlink()
