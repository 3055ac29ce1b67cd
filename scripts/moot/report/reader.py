"""The reader: one page a study with all its debates, which works from the disk, without a server or
a network.

The page holds a small index, the code that shows it, and the debates, case texts and calls in
chunks of JSON, each compressed (gzip, base64) and opened when it is needed. Of many debates the
chunks are scripts in a folder beside the page, since a page from the disk may load nothing else; an
index of words tells a search which of them to open. `page/` has the page's HTML, style and code.
Everything that a model, a person or a data set wrote travels inside chunks and enters the page as
text; a content security policy lets no other code run and nothing be loaded.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from moot.report.escaping import PAGE, page_template
from moot.report.reader_chunks import compress
from moot.report.reader_debates import Packing, pack_debates
from moot.report.turn_effects import effects_of_study
from moot.scores.results import ExperimentResults

CODE = (
    "dom.js",
    "data.js",
    "filters.js",
    "chart.js",
    "turns.js",
    "debate.js",
    "list.js",
    "main.js",
)
"""The page's code, in the order in which it runs: one module, so that it needs no server."""
MOST_CHARACTERS = 400_000
"""Of a chunk before compression: some 100 kilobytes after it, opened in a few milliseconds."""
MOST_TURNS = 100_000
"""Utterances in one file: what a browser opens within two seconds (docs/reading.md).

Of more, chunks are files.
"""


def page_files() -> list[Path]:
    """Return the files that every page is made of."""
    return [PAGE / name for name in ("reader.html", "reader.css", *CODE)]


def render_reader(
    study: str, experiments: Mapping[str, ExperimentResults], parts: Path
) -> Iterator[str]:
    """Yield the page of a study's debates, in pieces.

    Args:
        study: its name.
        experiments: its experiments, by name, in the order in which they are shown.
        parts: the folder for chunks and the index of words, where the page cannot hold all of them;
            beside the page.
    """
    chunks = dict[str, str]()
    fits_in_page = sum(results.turns for results in experiments.values()) <= MOST_TURNS

    def write(name: str, packed: str) -> None:
        (parts / f"{name}.js").write_text(f'arrived.set("{name}", "{packed}");\n', encoding="ascii")

    packing = Packing(
        MOST_CHARACTERS, chunks.__setitem__ if fits_in_page else write, indexed=not fits_in_page
    )
    effects = effects_of_study(experiments)
    for name, results in experiments.items():
        if name not in effects.measured_by:
            pack_debates(packing, results, effects.debates)
    packing.end()
    style, code = _inline("reader.css"), _inline(*CODE)
    chunk_sources = "" if fits_in_page else " 'self' file:"
    notes = chain.from_iterable(results.notes for results in experiments.values())
    yield from page_template("reader.html").generate(
        study=study,
        notes=dict.fromkeys(notes),
        style=style,
        code=code,
        policy=(
            f"default-src 'none'; script-src {_source(code)}{chunk_sources}; style-src"
            f" {_source(style)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        index=compress(
            {"study": study, "parts": "" if fits_in_page else parts.name, **packing.index()}
        ),
        chunks=chunks.items(),
    )


def _inline(*names: str) -> str:
    """Return some of the page's files as the content of one inline element."""
    return "\n".join(["", *((PAGE / name).read_text(encoding="utf-8") for name in names)])


def _source(text: str) -> str:
    """What a content security policy calls an inline element of this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
