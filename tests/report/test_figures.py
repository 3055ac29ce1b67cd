"""Test that the note below a figure fits into its width."""

import pytest

from moot.report.figures import WIDTH, new_figure, note_below
from moot.report.notes import REHEARSAL_NOTE


@pytest.mark.parametrize("width", [WIDTH, WIDTH * 0.75])
@pytest.mark.parametrize("notes", [[REHEARSAL_NOTE], ["Bars: 95 % intervals.", "word " * 60]])
def test_a_long_note_is_wrapped_into_lines_that_fit(notes: list[str], width: float) -> None:
    drawing, _ = new_figure(width=width)
    note_below(drawing, notes)
    drawing.canvas.draw()
    [note] = [text for text in drawing.texts if text.get_text().startswith(notes[0][:10])]
    assert note.get_window_extent().x1 <= drawing.bbox.x1
