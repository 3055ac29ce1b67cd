"""From a data set's options to its three artifacts: cases, features and the cleaning report."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd

from moot.core.artifacts import atomic_path, describe, write_cases, write_frame
from moot.core.cases import Cluster, Task, cluster_attributes
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.text_files import check_characters
from moot.datasets import LOADERS, DatasetOptions, LoadContext, Loaded


def check_cases(dataset: str, loaded: Loaded) -> None:
    """Raise `UserError` for faults that no data set may have.

    These are: no cases, a duplicate id, an unknown label, an empty text.
    """
    if not loaded.cases:
        raise UserError(f"data set '{dataset}': no cases. Check its source and options.")
    labels = loaded.task.labels
    if unknown_labels := sorted({loaded.task.positive, *loaded.task.meaning} - {"", *labels}):
        message = (
            f"`positive` or `meaning` names the label {unknown_labels[0]!r}; expected one of"
            f" {', '.join(labels)}"
        )
        raise UserError(f"data set '{dataset}': {message}.")
    row_by_id: dict[str, int] = {}
    has_targets = any(case.target for case in loaded.cases)
    for case in loaded.cases:
        place = f"data set '{dataset}', row {case.source_row}"
        if case.case_id in row_by_id:
            raise UserError(
                f"{place}: case id '{case.case_id}' was taken by row {row_by_id[case.case_id]}; ids"
                " are"
                " unique."
            )
        row_by_id[case.case_id] = case.source_row
        targets = case.target.split(";") if loaded.task.multilabel else [case.target]
        unknown_targets = sorted(set(targets) - set(loaded.task.labels))
        if unknown_targets and has_targets:
            raise UserError(
                f"{place}: label {unknown_targets[0]!r}; expected one of"
                f" {', '.join(loaded.task.labels)}."
            )
        for value in (case.text, case.case_id, *case.attributes.values()):
            check_characters(place, value)
        if not case.text.strip():
            raise UserError(
                f"{place}: case '{case.case_id}' has no text. Give it one, or leave the case out."
            )


def set_cluster(dataset: str, loaded: Loaded, cluster: Cluster | None) -> Task:
    """Set the task's cluster to the attribute, or attributes, that the configuration names.

    Raises:
        UserError: a case does not have the attribute, or it is blank.
    """
    task = loaded.task if cluster is None else replace(loaded.task, cluster=cluster)
    for case, name in product(loaded.cases, cluster_attributes(task.cluster)):
        if not case.attributes.get(name):
            attribute_names = (
                ", ".join(sorted(key for key, value in case.attributes.items() if value)) or "none"
            )
            raise UserError(
                f"data set '{dataset}', row {case.source_row}: cluster '{name}' is not an "
                f"attribute of case '{case.case_id}' ({attribute_names}). Name one that every "
                'case has, or `cluster: ""` for none.'
            )
    return task


def load_dataset(
    options: DatasetOptions,
    context: LoadContext,
    /,
    cases: Path,
    features: Path,
    cleaning: Path,
    **digests: str,
) -> None:
    """Load a data set and write its artifacts.

    Args:
        options: the data set's checked options.
        context: what its loader may use.
        cases: the path of `cases/{dataset}.parquet`.
        features: the path of `features/{dataset}.parquet`, with case_id, split, label and one typed
            column per feature.
        cleaning: the path of the CSV with the cleaning report (columns what, count).
        digests: the job's digests, for the artifacts' metadata.
    """
    dataset = context.name
    loaded = LOADERS[options.loader or dataset].load(options, context)
    check_cases(dataset, loaded)
    for line in loaded.faults:
        LOG.info("left out: %s", line)
    if loaded.faults:
        LOG.warning(
            "%s: rows are left out because of %d faults, the first is: %s `snakemake doctor` lists"
            " them all.",
            dataset,
            len(loaded.faults),
            loaded.faults[0],
        )
    metadata = describe(sources=loaded.sources, dataset=dataset, **digests)
    task = replace(set_cluster(dataset, loaded, options.cluster), groups=options.groups)
    write_cases(cases, loaded.cases, task, metadata)
    frame = loaded.features
    if frame is None:
        rows = [(case.case_id, case.split, case.target) for case in loaded.cases]
        frame = pd.DataFrame(rows, columns=["case_id", "split", "label"])
    write_frame(features, "features", frame, metadata)
    with atomic_path(cleaning) as part:
        pd.DataFrame(list(loaded.cleaning.items()), columns=["what", "count"]).to_csv(
            part, index=False
        )
    splits = pd.Series([case.split for case in loaded.cases]).value_counts().to_dict()
    LOG.info(
        "%s: %d cases %s; %s",
        dataset,
        len(loaded.cases),
        splits,
        dict(loaded.cleaning) or "nothing to clean",
    )
