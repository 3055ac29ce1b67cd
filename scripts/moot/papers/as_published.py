"""Which runs repeat an experiment of config/papers/.

Published values are shown only next to these runs.

The shipped `config/papers/*.yaml` and `config/models.yaml` describe the papers' experiments. A run
repeats one of them if its protocol, data set, parameters and models are the same, and if it has at
least as many cases and repeats. Data sets are the same if their options are the same; a user's file
(`source: local`) counts as the published one. A model is the same if its entry has the paper's
name, the same model of the same provider and the same sampling, and if no server stated that it
served another model. The context may differ, because no paper states one.

Prompts are in the paper's words or in moot's, which the run states. A run with prompts in other
words repeats nothing. A run whose facts or scripts are moot's paraphrases also counts as in moot's
words, whatever its prompts are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, JsonObject
from moot.llm.identity import model_asked, provider
from moot.papers.wording import MOOT_WORDING, OTHER_WORDING
from moot.protocols import PROTOCOLS
from moot.report.study_results import PaperMatch, PaperMatches
from moot.scores.served import versions_said

_MODEL_KEYS_SENT = ("structured", "reasoning", "parameters")
"""Fields of a model's entry that also change its replies."""
SAMPLING = ("temperature", "max_tokens")
"""Fields that the protocol's parameters or a model's entry state."""


@dataclass(frozen=True, slots=True)
class ExperimentSetting:
    """All settings of an experiment that its values depend on, except its models.

    Attributes:
        params: the protocol's parameters with defaults; an experiment named in them is replaced by
            its own setting.
        dataset: the data set's options with defaults, with the `source` "published" for all real
            files.
        wording: the author of its prompts' words (`moot.papers.wording`).
        has_our_texts: whether facts and scripts are moot's paraphrases of a paper's.
    """

    config: ExperimentConfig
    params: Fields
    dataset: Fields
    wording: str
    has_our_texts: bool

    @property
    def has_our_wording(self) -> bool:
        """Whether some prompts, facts or scripts are in moot's words."""
        return self.wording == MOOT_WORDING or self.has_our_texts

    @property
    def wording_note(self) -> str:
        """Whose words its prompts and facts have, for readers; "" if no model was asked."""
        if not PROTOCOLS[self.config.protocol].prompts:
            return ""
        return f"{self.wording}, moot's facts" if self.has_our_texts else self.wording

    def has_cases_of(self, paper: "ExperimentSetting") -> bool:
        """Return whether it has the paper's data, and at least as many cases and repeats."""
        count, count_of_paper = self.config.cases, paper.config.cases
        # None stands for all cases.
        has_cases = count is None or (count_of_paper is not None and count >= count_of_paper)
        is_split_equal = self.config.split == paper.config.split
        has_repeats = self.config.repeats >= paper.config.repeats
        return self.dataset == paper.dataset and is_split_equal and has_cases and has_repeats

    def changed_settings(
        self, paper: "ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> list[str]:
        """Return the names of the settings that differ from the paper's.

        Args:
            paper: the paper's experiment.
            sampling, paper_sampling: the result of `_sampling` for a model of each.
        """
        settings = _changed_names(self.params, paper.params)
        settings -= {name for name in SAMPLING if sampling[name] == paper_sampling[name]}
        settings |= _changed_names(sampling, paper_sampling)
        if self.config.calibration_cases != paper.config.calibration_cases:
            settings.add("calibration_cases")
        if not set(paper.config.labelers) <= set(self.config.labelers):
            settings.add("labelers")
        return sorted(settings)


def _changed_names(values: Fields, paper_values: Fields) -> set[str]:
    """Return the names whose values differ, and those that only one of both has."""
    return {
        name for name in {**values, **paper_values} if values.get(name) != paper_values.get(name)
    }


def compare_run(
    setting: ExperimentSetting,
    name: str,
    models: Mapping[str, ModelConfig],
    paper_settings: Mapping[str, ExperimentSetting],
    paper_models: Mapping[str, ModelConfig],
) -> PaperMatch:
    """Return which of the paper's experiments a run repeats, and how its settings differ.

    They are compared with the most similar experiment's settings.
    """
    # A model that the paper does not have is compared by the paper's parameters only.
    paper_model = paper_models.get(name, models[name])
    sampling = _sampling(setting, models[name])
    repeats: list[str] = []
    distances: list[tuple[bool, int, list[str]]] = []
    for paper_name, paper in paper_settings.items():
        if paper.config.protocol != setting.config.protocol:
            continue
        changes = setting.changed_settings(paper, sampling, _sampling(paper, paper_model))
        has_other_data = setting.dataset["loader"] != paper.dataset["loader"]
        distances.append((has_other_data, len(changes), changes))
        has_paper_models = name in paper.config.models and all(
            _is_same_model(models[voice], paper_models[voice])
            for voice in _voices(paper, name)
            if voice in models and voice in paper_models
        )
        is_as_published = not changes and setting.wording != OTHER_WORDING
        if is_as_published and has_paper_models and setting.has_cases_of(paper):
            repeats.append(paper_name)
    _, _, nearest_changes = min(distances, default=(True, 0, []))
    return PaperMatch(
        tuple(repeats), setting.has_our_wording, setting.wording_note, tuple(nearest_changes)
    )


def _voices(setting: ExperimentSetting, model: str) -> list[str]:
    """Return the models that speak or label in an experiment."""
    judges = [labeler.partition(":")[2] for labeler in setting.config.labelers]
    return [model, *setting.params["seats"].values(), *filter(None, judges)]


def _is_same_model(ours: ModelConfig, of_paper: ModelConfig) -> bool:
    return (provider(ours), model_asked(ours)) == (provider(of_paper, {}), model_asked(of_paper))


def confirm_served(
    comparable: PaperMatches, scores: pd.DataFrame, models: Mapping[str, ModelConfig]
) -> PaperMatches:
    """Return the matches without the runs whose servers stated that they served another model.

    Args:
        comparable: the matches by the configuration alone.
        scores: of all experiments; `debates_served` has the servers' statements.
        models: the entries of the configuration.
    """
    runs = dict(comparable.runs)
    for key, match in runs.items():
        has_other_model = any(
            name in models and served_name and not _is_version(served_name, models[name].model)
            for name, served_name in versions_said(scores, *key)
        )
        if match.repeats and has_other_model:
            runs[key] = replace(match, repeats=())
    return replace(comparable, runs=runs)


def _is_version(served_name: str, requested_name: str) -> bool:
    """Return whether a server's name of a model is the requested name or a version of it.

    A version adds a date, a number or a digest.
    """
    version = r"(?:-\d[\d.-]*)?(?: digest unknown| [0-9a-f]+)?"
    return re.fullmatch(re.escape(requested_name) + version, served_name, re.IGNORECASE) is not None


def _sampling(setting: ExperimentSetting, model: ModelConfig) -> JsonObject:
    """Return the sampling settings that each call sends.

    The temperature of a model's entry overrides the protocol's, and the protocol sets the length.
    """
    params = setting.params
    temperature = params["temperature"] if model.temperature is None else model.temperature
    max_tokens = params["max_tokens"] or model.max_tokens
    return {"temperature": temperature, "max_tokens": max_tokens} | {
        name: getattr(model, name) for name in _MODEL_KEYS_SENT
    }
