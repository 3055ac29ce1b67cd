"""The reader: a page per study with all its debates, which needs no server and no network.

The page contains a small index, its code, and chunks of JSON with debates, case texts and calls.
Each chunk is compressed (gzip, base64) and opened when it is needed. With many debates, the chunks
are scripts in a folder next to the page, since a local page can load nothing else. An index of
words tells a search which chunks to open. `page/` has the page's HTML, style and code. All text of
models, people and data sets is inside chunks and enters the page as text. A content security policy
blocks all other code and all loading.
"""

import base64
import hashlib
from collections.abc import Collection, Iterator, Mapping
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
"""The page's code files in the order in which they run. They form one module, so that no server is
needed.
"""
MOST_CHARACTERS = 400_000
"""Maximum characters of a chunk before compression: some 100 kilobytes after it, opened in a few
milliseconds.
"""
MOST_TURNS = 100_000
"""Maximum number of utterances in one file: a browser opens it within two seconds
(docs/reading.md).

With more, chunks are separate files.
"""


def page_files() -> list[Path]:
    """Return the files from which every page is built."""
    return [PAGE / name for name in ("reader.html", "reader.css", *CODE)]


def render_reader(
    study: str,
    experiments: Mapping[str, ExperimentResults],
    parts: Path,
    left_out: Collection[str] = (),
) -> Iterator[str]:
    """Yield the page of a study's debates, in pieces.

    Args:
        study: its name.
        experiments: its experiments, by name, in the order in which they are shown.
        parts: the folder next to the page for chunks and the index of words, if the page cannot
            hold all of them.
        left_out: the analyses whose marks are not shown.
    """
    chunks = dict[str, str]()
    turns = sum(results.transcript_shards.turns for results in experiments.values())
    fits_in_page = turns <= MOST_TURNS

    def write(name: str, packed: str) -> None:
        (parts / f"{name}.js").write_text(f'arrived.set("{name}", "{packed}");\n', encoding="ascii")

    packing = Packing(
        MOST_CHARACTERS, chunks.__setitem__ if fits_in_page else write, indexed=not fits_in_page
    )
    effects = effects_of_study(experiments, left_out)
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
    """Return some of the page's files as the content of an inline element."""
    return "\n".join(["", *((PAGE / name).read_text(encoding="utf-8") for name in names)])


def _source(text: str) -> str:
    """Return the name of an inline element with this content in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
