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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, JsonObject
from moot.llm.identity import model_asked, provider
from moot.papers.wording import MOOT_WORDING, OTHER_WORDING, PUBLISHED_WORDINGS
from moot.protocols import PROTOCOLS
from moot.report.study_results import PaperMatch, PaperMatches
from moot.scores.served import versions_said

_MODEL_KEYS_SENT = ("structured", "reasoning", "parameters")
"""Fields of a model's entry that also change its replies."""
SAMPLING = ("temperature", "max_tokens")
"""Fields that the protocol's parameters or a model's entry state."""
OTHER_DATA, OTHER_SETTINGS = "other data", "other settings"


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
        """Whether some prompts, facts or scripts are in moot's words, and none in a third
        party's.
        """
        is_published = self.wording in PUBLISHED_WORDINGS
        return self.wording == MOOT_WORDING or (is_published and self.has_our_texts)

    @property
    def wording_note(self) -> str:
        """Whose words its prompts and facts have, for readers; "" if no model was asked."""
        if not PROTOCOLS[self.config.protocol].prompts:
            return ""
        is_published = self.wording in PUBLISHED_WORDINGS
        return (
            f"{self.wording}, moot's facts" if is_published and self.has_our_texts else self.wording
        )

    def differences(
        self, paper: "ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> list[str]:
        """Return how the experiment differs from the paper's, in words.

        Args:
            paper: the paper's experiment.
            sampling, paper_sampling: the result of `_sampling` for a model of each.
        """
        our_config, paper_config = self.config, paper.config
        differences = _data_differences(self.dataset, paper.dataset)
        if our_config.split != paper_config.split:
            differences.append("another split")
        if _has_fewer_cases(our_config.cases, paper_config.cases):
            differences.append("fewer cases")
        if self.wording == OTHER_WORDING:
            differences.append("another wording of prompts")
        if our_config.repeats < paper_config.repeats:
            differences.append("fewer repeats")
        settings = self._changed_settings(paper, sampling, paper_sampling)
        if settings:
            differences.append(f"{OTHER_SETTINGS}: {', '.join(sorted(settings))}")
        return differences

    def _changed_settings(
        self, paper: "ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> set[str]:
        """Return the names of the settings that differ from the paper's."""
        settings = _changed_names(self.params, paper.params)
        settings -= {name for name in SAMPLING if sampling[name] == paper_sampling[name]}
        settings |= _changed_names(sampling, paper_sampling)
        if self.config.calibration_cases != paper.config.calibration_cases:
            settings.add("calibration_cases")
        if not set(paper.config.labelers) <= set(self.config.labelers):
            settings.add("labelers")
        return settings


def _changed_names(values: Fields, paper_values: Fields) -> set[str]:
    """Return the names whose values differ, and those that only one of both has."""
    return {
        name for name in {**values, **paper_values} if values.get(name) != paper_values.get(name)
    }


def _has_fewer_cases(mine: int | None, theirs: int | None) -> bool:
    """Return whether one number of cases is less than another; None stands for all cases."""
    return mine is not None and (theirs is None or mine < theirs)


def _data_differences(mine: Fields, paper: Fields) -> list[str]:
    if mine["loader"] != paper["loader"]:
        return [OTHER_DATA]
    if mine["source"] != paper["source"]:
        kinds = {"sample": "sample data", "synthetic": "synthetic data"}
        return [kinds.get(mine["source"], OTHER_DATA)]
    changed = sorted(_changed_names(mine, paper))
    return [f"other options of the data: {', '.join(changed)}"] if changed else []


def compare_run(
    setting: ExperimentSetting,
    name: str,
    models: Mapping[str, ModelConfig],
    paper_settings: Mapping[str, ExperimentSetting],
    paper_models: Mapping[str, ModelConfig],
) -> PaperMatch:
    # A model that the paper does not have is compared by the paper's parameters only.
    paper_model = paper_models.get(name, models[name])
    sampling = _sampling(setting, models[name])
    differences: dict[str, list[str]] = {}
    for paper_name, paper in paper_settings.items():
        if paper.config.protocol == setting.config.protocol:
            differences[paper_name] = setting.differences(
                paper, sampling, _sampling(paper, paper_model)
            )
    similar_names = _names_without_reasons(differences)
    for paper_name, reasons in differences.items():
        paper = paper_settings[paper_name]
        if name not in paper.config.models:
            reasons.append("another model")
        model_reasons = _model_differences(_voices(paper, name), models, paper_models)
        reasons.extend(dict.fromkeys(model_reasons))
    nearest = min(
        differences.values(),
        key=_distance,
        default=["an experiment that the papers do not have"],
    )
    return PaperMatch(
        _names_without_reasons(differences),
        similar_names,
        "; ".join(nearest),
        setting.has_our_wording,
        setting.wording_note,
        tuple(reason for reason in nearest if reason.startswith(OTHER_SETTINGS)),
    )


def _names_without_reasons(differences: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the paper's experiments or data sets without any difference."""
    return tuple(name for name, reasons in differences.items() if not reasons)


def _distance(reasons: list[str]) -> tuple[bool, int]:
    """Return the sort key of differences: other data first, then the number of reasons."""
    return OTHER_DATA in reasons, len(reasons)


def _voices(setting: ExperimentSetting, model: str) -> list[str]:
    """Return the models that speak or label in an experiment."""
    judges = [labeler.partition(":")[2] for labeler in setting.config.labelers]
    return [model, *setting.params["seats"].values(), *filter(None, judges)]


def _model_differences(
    names: list[str], models: Mapping[str, ModelConfig], paper_models: Mapping[str, ModelConfig]
) -> Iterator[str]:
    """Yield how the entries of these names reach other models than the paper's entries do."""
    for name in names:
        our_model, paper_model = models.get(name), paper_models.get(name)
        if our_model is None or paper_model is None:
            continue
        if provider(our_model) != (paper_provider := provider(paper_model, {})):
            yield f"{name} is served by another provider than {paper_provider}"
        if model_asked(our_model) != model_asked(paper_model):
            yield f"{name} is the model {model_asked(our_model)}, not {model_asked(paper_model)}"


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
        deviations = {
            f"the server of {name} stated that it served {served_name}"
            for name, served_name in versions_said(scores, *key)
            if name in models and served_name and not _is_version(served_name, models[name].model)
        }
        if match.repeats and deviations:
            runs[key] = replace(match, repeats=(), difference="; ".join(sorted(deviations)))
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


def compare_data(our_values: Fields, paper_datasets: Mapping[str, Fields]) -> PaperMatch:
    differences = {
        name: _data_differences(our_values, paper_values)
        for name, paper_values in paper_datasets.items()
    }
    repeats = tuple(f"baselines/{name}" for name in _names_without_reasons(differences))
    nearest = min(differences.values(), key=_distance)
    return PaperMatch(repeats, repeats, "" if repeats else "; ".join(nearest))
