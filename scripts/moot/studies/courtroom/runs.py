"""The runs of the courtroom study, for the items of its paper."""

from moot.report.study_results import Run, StudyResults

STUDY = "courtroom"
DEBATE = "courtroom"
PUBLISHED_PROMPTS = ("zero_shot", "cot", "n_shot_cot")


def list_runs(study: StudyResults, *protocols: str) -> list[Run]:
    """List the runs of some protocols in the order of these protocols."""
    experiments = sorted(
        study.find_experiments(*protocols),
        key=lambda results: protocols.index(results.config.protocol),
    )
    return study.runs(experiments, Run)
