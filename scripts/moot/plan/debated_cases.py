"""The cases of its data set that an experiment debates."""

from collections.abc import Sequence

from moot.core.cases import Case, choose_cases, open_cases
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.overview.config_papers import ALLOW_FEWER_CASES
from moot.protocols.experiment import Experiment


def _named_cases(experiment: Experiment, cases: Sequence[Case]) -> Sequence[Case]:
    """Return the cases that an experiment names, or all if it names none.

    A paper's experiment on other data than the paper's has none of its cases.

    Raises:
        UserError: a named case does not exist.
    """
    config = experiment.config
    named_cases = [case for case in cases if case.case_id in config.case_ids]
    if not config.case_ids or (not named_cases and ALLOW_FEWER_CASES.value_in(config)):
        return cases
    missing_ids = set(config.case_ids) - {case.case_id for case in named_cases}
    if missing_ids:
        raise UserError(
            f"experiment '{experiment.name}': `case_ids`: found no {', '.join(sorted(missing_ids))}"
            f" among the {len(cases)} {config.split} cases of data set '{config.dataset}'."
        )
    return named_cases


def choose_debated_cases(experiment: Experiment, cases: Sequence[Case], seed: int) -> list[Case]:
    """Return the cases that an experiment debates, and the validation cases for its threshold.

    Training and validation cases that resemble a test case are left out, since something is fitted
    to their debates.

    Raises:
        UserError: the split is empty, or holds fewer cases than asked for and
            `allow_fewer_cases` is off.
    """
    config = experiment.config
    debated_cases = []
    for split_name, case_count in (
        (config.split, config.cases),
        ("validation", config.calibration_cases),
    ):
        if case_count == 0:
            continue
        available = _named_cases(experiment, open_cases(cases, split_name))
        count = case_count
        if available and count and len(available) < count and ALLOW_FEWER_CASES.value_in(config):
            LOG.warning(
                "experiment '%s': data set '%s' has %d %s cases, fewer than the %d wanted; all are"
                " taken",
                *(experiment.name, config.dataset, len(available), split_name, count),
            )
            count = len(available)
        if not available or (count is not None and len(available) < count):
            raise UserError(
                f"experiment '{experiment.name}': expected {count or 'some'} {split_name} cases, "
                f"data set '{config.dataset}' has {len(available)}. Lower `cases`, or use a "
                "larger data set."
            )
        debated_cases.extend(choose_cases(available, count, seed))
    return debated_cases
