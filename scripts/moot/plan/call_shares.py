"""How the jobs of a run divide the calls to a provider: Snakemake resources, and a job's share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property

from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig
from moot.core.types import Json
from moot.llm.identity import server_address
from moot.plan.plan import Plan


def provider_resource(config: ModelConfig) -> str:
    """Return the name of the resource for calls to a model's server, "" without a server.

    It is the endpoint's name at its default address (`openai`), else host and port
    (`localhost_8000`).
    """
    traits = endpoint_traits(config.endpoint)
    if not traits.has_server or config.gathers_calls:
        return ""
    address = server_address(config) or ""
    if address == traits.default_address:
        return config.endpoint
    host = address.partition("://")[2].partition("/")[0]
    return re.sub(r"\W+", "_", host)


def model_resource(model: str) -> str:
    """Return the name of the resource for calls to one model."""
    return f"model_{model}"


class CallShares:
    """The resources of the jobs that call models.

    Without a limit on a provider's resource, the jobs that can run at once divide the `concurrency`
    of its models. With a limit, each job takes `concurrency` of it.

    Args:
        plan: the checked plan.
        cores: of the run on this machine.
        max_jobs: how many jobs Snakemake runs at once.
        limits: the limits that the user set, or the resources of a job on another machine.
    """

    def __init__(self, plan: Plan, cores: int, max_jobs: int, limits: Mapping[str, int]) -> None:
        self._plan, self._cores, self._max_jobs = plan, cores, max_jobs
        self._limits = limits
        self._models: dict[str, ModelConfig] = {}
        for name in plan.models_used:
            traits = endpoint_traits(plan.config.models[name].endpoint)
            if traits.has_server or traits.in_process:
                self._models[name] = plan.config.models[name]
        self._providers = {name: provider_resource(self._models[name]) for name in self._models}

    @cached_property
    def _jobs_by_provider(self) -> Counter[str]:
        """How many jobs of the run call each provider."""
        jobs = Counter[str]()
        for name, experiment in self._plan.experiments.items():
            for model in experiment.config.models:
                debating = self._plan.models_in_job(name, model)
                labelling = self._plan.labelling_models(name, model)
                for provider in self._providers_of(debating):
                    jobs[provider] += self._plan.config.shards
                jobs.update(self._providers_of(labelling))
        return jobs

    def _providers_of(self, models: Iterable[str]) -> set[str]:
        return {self._providers.get(model, "") for model in models} - {""}

    def _count_jobs(self, provider: str) -> int:
        """Return how many jobs divide the rates of a provider's models."""
        if given := self._limits.get(f"{provider}_jobs"):
            return given
        jobs = max(1, min(self._max_jobs, self._jobs_by_provider[provider]))
        if limit := self._limits.get(provider):
            models = [name for name in self._models if self._providers[name] == provider]
            smallest = min(self._models[name].concurrency for name in models)
            jobs = max(1, min(jobs, limit // smallest))
        return jobs

    def _count_calls(self, model: str) -> int:
        """Return how many concurrent calls to a model one job makes."""
        concurrency, provider = self._models[model].concurrency, self._providers[model]
        if not provider:
            return 1
        if given := self._limits.get(model_resource(model)):
            return min(concurrency, given)
        if limit := self._limits.get(provider):
            return min(concurrency, limit)
        return max(1, concurrency // self._count_jobs(provider))

    def limits(self) -> dict[str, int]:
        """Return the limits of all resources, as far as the user set none."""
        limits: dict[str, int] = {}
        for name, model in self._models.items():
            provider, traits = self._providers[name], endpoint_traits(model.endpoint)
            if provider:
                limits[provider] = max(limits.get(provider, 0), model.concurrency)
                limits[model_resource(name)] = model.concurrency
            elif traits.in_process:
                threads = model.threads_within(self._cores)
                limits[model_resource(name)] = self._cores // threads
            else:  # one job gathers the calls of a wave
                limits[model_resource(name)] = 1
        return {name: limit for name, limit in limits.items() if name not in self._limits}

    def of_job(self, models: Iterable[str]) -> dict[str, int]:
        """Return the resources of a job that calls some models."""
        called_models = [model for model in models if model in self._models]
        resources = {model_resource(model): self._count_calls(model) for model in called_models}
        calls = Counter[str]()
        for model in called_models:
            if provider := self._providers[model]:
                calls[provider] += self._count_calls(model)
        jobs = {f"{provider}_jobs": self._count_jobs(provider) for provider in calls}
        return {**resources, **calls, **jobs}

    @property
    def resource_names(self) -> set[str]:
        """The names of all resources that a job can take."""
        providers = set(self._providers.values()) - {""}
        names = {model_resource(model) for model in self._models} | providers
        return names | {f"{provider}_jobs" for provider in providers}


def plan_of_job(plan: Plan, resources: Json) -> Plan:
    """Return a plan whose models have the share of calls and rates that a job was given.

    Args:
        plan: of the run.
        resources: of the job, by name.
    """
    models = dict(plan.config.models)
    for name, model in models.items():
        jobs = resources.get(f"{provider_resource(model)}_jobs", 0)
        calls = resources.get(model_resource(name), 0)
        if not (jobs and calls):
            continue
        changes: dict[str, float | None] = {"concurrency": calls}
        for rate in ("requests_per_minute", "tokens_per_minute"):
            per_minute = getattr(model, rate)
            changes[rate] = per_minute and per_minute / jobs
        models[name] = model.model_copy(update=changes)
    divided = copy(plan)
    divided.config = plan.config.model_copy(update={"models": models})
    return divided
