"""The first page of a run (`results/index.html`) or of one study.

It shows questions with their answers, and all outputs of the run.

The answers come from the tables `contrasts`, `methods` and `what_debate_adds`; this
module judges nothing. All links are relative, so that the
folder `results/` can be put on any server of static files.
"""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from types import MappingProxyType

import pandas as pd

from moot.core.amount_text import dollars_text
from moot.core.artifacts import read_frame
from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.experiment_config import COMPARISON
from moot.core.types import Fields
from moot.report import FIGURES, TABLES
from moot.report.escaping import capitalised, page_template
from moot.report.figures import count_phrase, has_content
from moot.report.notes import REHEARSAL_NOTE
from moot.report.study_questions import SIGNS, StudyQuestion, choose_questions
from moot.report.tables import missing_values
from moot.scores.contrasts import CANNOT_TELL, NOT_SUPPORTED, SUPPORTED

LEGEND = {
    SUPPORTED: "p is below 0.05 and the value is on the expected side",
    NOT_SUPPORTED: "p is below 0.05 and the value is on the other side",
    CANNOT_TELL: "p is not below 0.05, or there is no p; no evidence of equality",
}
"""The three answers and their meanings."""
PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_TEXTS, PREVIEW_CHARS = 4, 3, 2, 28
_ROWS_READ = 50
"""Rows that a preview is chosen from."""
NAMES_WITHOUT_PREVIEW = ("", "study", "voices")
"""Columns with the same value in every row of a table."""
ANSWERS_IN_SUMMARY = 2
_PROGRESS = re.compile(
    r'data-items="(\d+)" data-filled="(\d+)"(?: data-without-debates="(\d+)")?'
    r'(?: data-made-up="([A-Z, ]+)")?'
)
_NUMBER = re.compile(r"-?\d+\.\d{4,}")


@dataclass(frozen=True, slots=True)
class PaperProgress:
    """How many items of a paper this run fills with values.

    Attributes:
        address, name: the address and the name of its page.
        filled, open: the numbers of items with and without values of this run; None if unknown.
        without_debates: the number of items that need no debate, such as diagrams.
        made_up: the kinds of made-up inputs of its values, such as "SYNTHETIC DATA".
    """

    address: str
    name: str
    filled: int | None = None
    open: int | None = None
    without_debates: int = 0
    made_up: str = ""


def read_paper_progress(root: Path, address: str, name: str) -> PaperProgress:
    """Read from a paper's page how many of its items this run fills."""
    path = root / address
    match = _PROGRESS.search(path.read_text(encoding="utf-8")) if path.exists() else None
    if match is None:
        return PaperProgress(address, name)
    filled_count, without_debates = int(match[2]), int(match[3] or 0)
    open_count = int(match[1]) - filled_count - without_debates
    return PaperProgress(address, name, filled_count, open_count, without_debates, match[4] or "")


def summarise_run(questions: Sequence[StudyQuestion], debates: tuple[int, int]) -> list[str]:
    """Return sentences that summarise a run: its size, the answers below, the clearest ones.

    Args:
        questions: that the page shows.
        debates: the numbers of debates and experiments.
    """
    debate_count, experiment_count = debates
    counts = Counter(question.answer for question in questions)
    answers = ", ".join(f"{counts[word]} {word}" for word in SIGNS)
    verb = "is" if len(questions) == 1 else "are"
    sentences = [
        f"This run has {debate_count:,} debates in {count_phrase(experiment_count, 'experiment')}."
        f" Below {verb} {count_phrase(len(questions), 'question')}: {answers}."
    ]
    answered_questions = [question for question in questions if question.answer != CANNOT_TELL]
    sentences += map(_describe_answer, answered_questions[:ANSWERS_IN_SUMMARY])
    if not any(question.estimate for question in questions):
        sentences += [
            "No comparison has an interval, so no number here is a finding.",
            "Each question says what it lacks."
            if questions
            else "Planned comparisons (`contrasts`) bring answers.",
        ]
    return sentences


def _describe_answer(question: StudyQuestion) -> str:
    estimate = question.estimate
    if estimate is None:
        return ""
    numbers = f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]".replace("-", "−")
    return f"{question.text} {capitalised(question.answer_text)}: {numbers} ({question.about})."


def read_table_preview(root: Path, address: str) -> list[list[str]]:
    """Read the heading and the first rows of a table that look different.

    The columns are its first two columns of text and its first number. Texts in which the rows
    differ come first: without them rows of one debate look alike. So does a number with an
    interval: a value alone says little.
    """
    path = (root / address).with_suffix(".csv")
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(islice(csv.DictReader(file), _ROWS_READ))
    texts: list[str] = []
    numbers: list[str] = []
    for name in rows[0] if rows else ():
        cells = [row[name] for row in rows if row[name]]
        if cells and name not in NAMES_WITHOUT_PREVIEW:
            (numbers if all(map(_is_number, cells)) else texts).append(name)
    chosen_texts = _select_telling(texts, rows, PREVIEW_TEXTS)
    numbers.sort(key=lambda name: not _interval_ends(rows[0], name))
    names = [*chosen_texts, *numbers[: PREVIEW_COLUMNS - len(chosen_texts)]]
    if not names:
        return []
    different_rows = dict.fromkeys(tuple(_shorten_cells(row, names)) for row in rows)
    return [names, *map(list, islice(different_rows, PREVIEW_ROWS))]


def _select_telling(
    names: Sequence[str], rows: Sequence[Mapping[str, str]], limit: int
) -> list[str]:
    """Return some columns in their order, those in which the rows differ before others."""
    by_use = sorted(names, key=lambda name: len({row[name] for row in rows}) == 1)
    return sorted(by_use[:limit], key=names.index)


def _interval_ends(row: Mapping[str, str], name: str) -> list[str]:
    """Return the columns with the ends of a value's interval, the two behind it, if it has one."""
    columns = list(row)
    ends = columns[columns.index(name) + 1 :][:2]
    return ends if [end.rpartition(" ")[2] for end in ends] == ["low", "high"] else []


def _shorten_cells(row: Mapping[str, str], names: Sequence[str]) -> list[str]:
    cells = []
    for name in names:
        cell = _shorten(row[name] or "")
        ends = [_shorten(row[end]) for end in _interval_ends(row, name) if row[end]]
        cells.append(f"{cell} [{', '.join(ends)}]" if ends else cell)
    return cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _shorten(cell: str) -> str:
    text = _NUMBER.sub(lambda match: f"{float(match[0]):.3f}", cell)
    return text if len(text) <= PREVIEW_CHARS else f"{text[: PREVIEW_CHARS - 1]}…"


TRIAL_RUNS = "comparison/trial_runs"
STRICT = "accuracy, invalid = wrong"
DIFFERENCE = ("difference", "difference low", "difference high")


Built = Mapping[str, list[tuple[str, str]]]
"""The files of a study that the run built, as addresses and titles.

They are its figures, tables, empty figures, empty tables and readers.
"""


@dataclass(frozen=True, slots=True)
class RunRemarks:
    """Remarks that readers of a front page need before they read numbers.

    Attributes:
        is_rehearsal: whether the run is a rehearsal.
        failures: what failed in this run, one sentence each.
        warnings: which data or models are made up, and which models answered in place of others,
            one sentence each.
        has_own_experiments: whether experiments are neither of the default configuration nor of
            a paper. Their questions then come before the papers.
        own_contrasts: the names of the contrasts that the shipped configuration does not plan.
    """

    is_rehearsal: bool = False
    failures: Sequence[str] = ()
    warnings: Sequence[str] = ()
    has_own_experiments: bool = False
    own_contrasts: Collection[str] = ()


def write_front_page(
    root: Path,
    study: str,
    built: Iterable[Path],
    pages: Mapping[str, Path],
    studies: Mapping[str, str],
    remarks: RunRemarks = RunRemarks(),
    papers: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the front page, and its questions alone for Snakemake's report.

    Args:
        root: the folder `results`.
        study: the study of the page; `comparison` for all studies.
        built: the files below `root` that the run built; the page links no others.
        pages: the paths of the front page (`page`) and of the fragment (`questions`).
        studies: the study of each experiment, whose page shows its debates.
        remarks: remarks that readers need before they read numbers.
        papers: the address of each paper's page, with the paper's name.
    """
    names = sorted(path.relative_to(root).as_posix() for path in built)
    readers = {
        name: page
        for name, experiment_study in studies.items()
        if (page := f"reader/{experiment_study}.html") in names
    }
    questions = choose_questions(
        _rows(root, _find_table("contrasts", study, names), names), readers, remarks.own_contrasts
    )
    paper_progress = [
        read_paper_progress(root, page, name) for page, name in papers.items() if page in names
    ]
    context = {
        "summary": summarise_run(questions, _count_debates(root, names)),
        "is_own": remarks.has_own_experiments,
        "warnings": remarks.warnings,
        "legend": [(SIGNS[word], word, meaning) for word, meaning in LEGEND.items()],
        "study": study,
        "questions": questions,
        "studies": _files_by_study(root, names),
        "note": REHEARSAL_NOTE if remarks.is_rehearsal else "",
    }
    template = page_template("index.html")
    for part, path in pages.items():
        text = template.render(
            part=part,
            links=set(names),
            costs=_costs(root, names),
            methods=[_method_row(row) for row in _rows(root, f"{COMPARISON}/methods", names)],
            controls=[
                _control_row(row)
                for row in _rows(root, _find_table("what_debate_adds", study, names), names)
                if row["difference low"]
            ],
            trials=len(_rows(root, TRIAL_RUNS, names)),
            table_of_trials=f"tables/{TRIAL_RUNS}.html",
            outcome=f"outcome/{study}.html",
            papers=paper_progress,
            preview=lambda address: (
                [] if TRIAL_RUNS in address else read_table_preview(root, address)
            ),
            waiting=_count_waiting(root, names),
            failures=remarks.failures,
            **context,
        )
        write_atomically(path, text)


def _with_minus(text: str) -> str:
    """Return text with minus signs instead of hyphens before negative numbers."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


def _rows(root: Path, name: str, names: Sequence[str]) -> list[Fields]:
    """Return the rows of a table that the run built, with all values as text."""
    path = root / "tables" / f"{name}.csv"
    if f"tables/{name}.csv" not in names:
        return []
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} is not a table: {error}. Delete the file; the next run rebuilds it."
        ) from None
    return [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False)]


def _find_table(name: str, study: str, names: Collection[str]) -> str:
    """Return a table of a page; in a run of one study that study has it for all."""
    tables = [path for path in names if PurePosixPath(path).match(f"tables/*/{name}.csv")]
    has_own = f"tables/{study}/{name}.csv" in tables
    owner = PurePosixPath(tables[0]).parent.name if len(tables) == 1 and not has_own else study
    return f"{owner}/{name}"


def _method_row(row: Fields) -> Fields:
    """Return a method on a data set in the form that the page shows."""
    low, high = row["95 % low"], row["95 % high"]
    interval = f" [{float(low):.2f}, {float(high):.2f}]" if low else ""
    return {
        **{name: row[name] for name in ("data", "method", "model")},
        "right": f"{float(row[STRICT]):.3f}{interval}",
        "answers": int(float(row["n"])) + int(float(row["n invalid"])),
        "cases answered": row["cases"],
    }


def _control_row(row: Fields) -> Fields:
    """Return a debate and one of its controls in the form that the page shows."""
    difference, low, high = (_with_minus(f"{float(row[name]):.3f}") for name in DIFFERENCE)
    return {
        **{name: row[name] for name in ("debate", "model", "data", "arm", "what is changed")},
        **{name: f"{float(row[name]):.3f}" for name in ("debate right", "arm right")},
        "difference": f"{difference} [{low}, {high}]",
        "cases": row["cases"],
    }


def _files_by_study(root: Path, names: Sequence[str]) -> dict[str, Built]:
    """Return the built files by study, with titles."""
    files: defaultdict[str, defaultdict[str, list[tuple[str, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for name in names:
        path = PurePosixPath(name)
        kind, entry = path.parts[0], "/".join(path.with_suffix("").parts[1:])
        study = entry.partition("/")[0]
        if kind == "figures" and path.suffix == ".svg":
            figures = "figures" if has_content(root / name) else "empty_figures"
            files[study][figures].append((name, FIGURES[entry].title))
        elif kind == "tables" and path.suffix == ".html":
            csv_file = path.with_suffix(".csv").as_posix()
            reason = missing_values(root / csv_file) if csv_file in names else ""
            title = f"{TABLES[entry].title}{f' ({reason})' if reason else ''}"
            files[study]["empty" if reason else "tables"].append((name, title))
        elif kind == "reader" and path.suffix == ".html":
            files[study]["readers"].append((name, study))
    return dict(sorted(files.items(), key=lambda item: (item[0] != COMPARISON, item[0])))


def _count_debates(root: Path, names: Sequence[str]) -> tuple[int, int]:
    """Count the debates of a run, including recorded ones, and the experiments."""
    paths = [root / name for name in names if name.startswith("predictions/")]
    debates = sum(len(read_frame(path, ["case_id"])) for path in paths)
    return debates, len({path.parent for path in paths})


def _costs(root: Path, names: Sequence[str]) -> Fields | None:
    """Return the cost of the calls of the run's debates; None if no model was called."""
    columns = ["calls", "prompt_tokens", "completion_tokens", "cost_usd"]
    paths = [root / name for name in names if name.startswith("predictions/")]
    if not paths:
        return None
    totals = pd.concat(
        [read_frame(path, columns).sum(numeric_only=True) for path in paths], axis=1
    ).sum(axis=1)
    if not totals.get("calls", 0):
        return None
    sums = {column: float(totals.get(column, 0)) for column in columns}
    return {**sums, "dollars": dollars_text(sums["cost_usd"])}


def _count_waiting(root: Path, names: Sequence[str]) -> int:
    """Count the debates that wait for a person or for replies."""
    tables = (
        pd.read_csv(root / name)
        for name in names
        if name.startswith("outcome/") and name.endswith(".csv")
    )
    return max((int(table["waiting"].sum()) for table in tables), default=0)
