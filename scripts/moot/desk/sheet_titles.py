"""What the desk calls the sheets: by their experiment, which their files do not name."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from moot.labels.statements import sheet_id

FOLDERS = ("annotation_sheets", "transcripts")
"""Folders of `results/` with a path EXPERIMENT/MODEL for each run."""


def read_sheet_titles(results: Path, sheets: Iterable[str]) -> Mapping[str, str]:
    """Return the title of each sheet: its experiment, and a number where it has several sheets.

    The model stays unknown: the sheets of an experiment are counted in the order of their ids. A
    sheet of an experiment without results is called by its file.

    Args:
        results: The folder `results`.
        sheets: The names of the sheets.
    """
    experiment_by_id: dict[str, str] = {}
    for folder in FOLDERS:
        for path in (results / folder).glob("*/*"):
            experiment = path.parent.name
            experiment_by_id[sheet_id(experiment, path.name.removesuffix(".txt"))] = experiment
    experiments = {name: experiment_by_id.get(name.partition("-")[0], "") for name in sheets}
    sizes = Counter(experiments.values())
    numbers: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for name, experiment in sorted(experiments.items()):
        numbers[experiment] += 1
        if not experiment:
            titles[name] = f"file {name}"
        elif sizes[experiment] > 1:
            titles[name] = f"{experiment}, sheet {numbers[experiment]} of {sizes[experiment]}"
        else:
            titles[name] = experiment
    return dict(sorted(titles.items(), key=lambda item: (item[1].startswith("file "), item[1])))
