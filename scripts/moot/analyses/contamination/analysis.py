"""The hooks of contamination: one more experiment for each data set that asks for the test."""

from collections.abc import Mapping

from pydantic import ValidationError

from moot.analyses.contamination.config import CONTAMINATION
from moot.core.config import Config
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.hooks import ANALYSES, Analysis


class ContaminationAnalysis(Analysis):
    """Whether models have seen the cases of a data set."""

    def add_experiments(self, config: Config, faults: Faults) -> Mapping[str, ExperimentConfig]:
        """Return an experiment `contamination-DATASET` for each data set that asks for one.

        The data set's key `contamination` asks for it. An invalid entry is reported where the data
        set's options are checked.
        """
        experiments: dict[str, ExperimentConfig] = {}
        for dataset, options in config.datasets.items():
            entry = options.get(CONTAMINATION.key)
            if not entry:
                continue
            try:
                settings = CONTAMINATION.model.model_validate(entry)
            except ValidationError:
                continue
            name = f"contamination-{dataset}"
            with faults.noting():
                if name in config.experiments:
                    raise UserError(
                        f"experiments.{name}: data set '{dataset}' has `contamination`, whose"
                        " experiment has this name. Give yours another name."
                    )
            cutoffs = {}
            for model in settings.models:
                if model in config.models and (cutoff := config.models[model].cutoff):
                    cutoffs[model] = cutoff
            params = {"date": settings.date, "words": settings.words, "cutoffs": cutoffs}
            experiments[name] = ExperimentConfig(
                protocol="recall",
                dataset=dataset,
                models=settings.models,
                cases=settings.cases,
                params=params,
            )
        return experiments


ANALYSES.register("contamination")(ContaminationAnalysis())
