"""Which rule makes a file of `results/`."""

from pathlib import Path

MADE_BY = {
    "downloads": ("download", "loader"),
    "cases": ("load_cases", "dataset"),
    "features": ("load_cases", "dataset"),
    "records": ("read_records", "dataset"),
    "baselines": ("train_baselines", "dataset"),
    "transcripts": ("run_debates", "experiment", "model", "shard"),
    "predictions": ("predict", "experiment", "model"),
    "calls": ("predict", "experiment", "model"),
    "assistants": ("train_assistant", "experiment", "model", "features"),
    "summaries": ("write_summaries", "experiment", "model"),
    "labels": ("label_statements", "experiment", "model"),
    "annotations": ("label_statements", "experiment", "model"),
    "scores": ("score", "experiment"),
    "outcome": ("outcome", "study"),
}
"""The folders of `results/` that jobs read, the rule that makes what is in each, and the wildcards
in its path.
"""


def maker_of(path: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The rule that makes a file of `results/`, and its wildcards; None for pages, tables and
    figures.

        >>> maker_of("results/baselines/vast_predictions.parquet")
        ('train_baselines', (('dataset', 'vast'),))
    """
    _, kind, *names = (
        Path(path.removesuffix(Path(path).suffix)).parts
        if path.startswith("results/")
        else ("", "")
    )
    if kind not in MADE_BY:
        return None
    rule, *wildcards = MADE_BY[kind]
    if kind == "baselines":
        names = [names[0].removesuffix("_predictions")]
    return rule, tuple(zip(wildcards, names, strict=False))
