"""From `contamination` of a data set to the experiment that tests whether models have seen its
cases.
"""

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.core.places import Faults
from moot.datasets import Contamination


def with_contamination(config: Config, faults: Faults) -> Config:
    """A configuration with an experiment `contamination-DATASET` for each data set that asks for
    it.

        What is wrong with an entry is said where the data set's options are checked.
    """
    added: dict[str, ExperimentConfig] = {}
    for dataset, options in config.datasets.items():
        if not (stated := options.get("contamination")):
            continue
        try:
            asked = Contamination.model_validate(stated)
        except ValidationError:
            continue
        name = f"contamination-{dataset}"
        with faults.noting():
            if name in config.experiments:
                raise UserError(
                    f"experiments.{name}: data set '{dataset}' has `contamination`, whose"
                    " experiment has this name. Give yours another name."
                )
        known = {
            model: config.models[model].cutoff for model in asked.models if model in config.models
        }
        params = {"date": asked.date, "words": asked.words}
        params |= {"cutoffs": {model: cutoff for model, cutoff in known.items() if cutoff}}
        added[name] = ExperimentConfig(
            protocol="recall",
            dataset=dataset,
            models=asked.models,
            cases=asked.cases,
            params=params,
        )
    return (
        config.model_copy(update={"experiments": {**config.experiments, **added}})
        if added
        else config
    )
