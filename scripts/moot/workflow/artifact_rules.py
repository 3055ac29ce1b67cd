"""The rule that makes a file of `results/`, for rules with wildcards."""

from pathlib import Path

Job = tuple[str, tuple[tuple[str, str], ...]]
"""A rule and the wildcards of one of its jobs, as pairs of name and value."""

RULES = {
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
    "reader": ("reader", "study"),
}
"""The rule for each folder of `results/`, and the wildcards in the paths of its files."""


def rule_of(path: str) -> Job | None:
    """Return the rule that makes a file of `results/`, and its wildcards.

    None for files of rules without wildcards: pages, tables and figures.

        >>> rule_of("results/baselines/vast_predictions.parquet")
        ('train_baselines', (('dataset', 'vast'),))
    """
    if not path.startswith("results/"):
        return None
    _, folder, *names = path.split("/")
    if folder not in RULES:
        return None
    rule, *wildcards = RULES[folder]
    names[-1] = Path(names[-1]).stem
    if folder == "baselines":
        names[0] = names[0].removesuffix("_predictions")
    return rule, tuple(zip(wildcards, names, strict=False))
