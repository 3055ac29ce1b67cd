"""What must be true of a run's models before the first job: endpoints exist, and servers get no key but their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UserError, unknown_name
from moot.core.model_config import ModelConfig
from moot.core.model_values import SHIPPED_ENDPOINTS
from moot.core.places import Faults, where
from moot.llm.endpoints import ENDPOINTS
from moot.llm.hub import check_pinned
from moot.llm.identity import environment_problem
from moot.plan.prices import with_price


def checked_models(
    models: Mapping[str, ModelConfig], used: Iterable[str], files: Sequence[Path], faults: Faults
) -> dict[str, ModelConfig]:
    """The models, those of this run that say `price: auto` with what a list of prices says; faults are noted.

    Args:
        models: all models by name.
        used: those that this run speaks with.
        files: the files of the configuration.
        faults: takes what is wrong.
    """
    checked = dict(models)
    for name, model in models.items():
        with faults.noting():
            if model.endpoint not in SHIPPED_ENDPOINTS and model.endpoint not in ENDPOINTS:
                place = where(files, ("models", name, "endpoint"))
                raise unknown_name("endpoint", model.endpoint, ENDPOINTS, place)
    for name in used:
        checks: tuple[tuple[str, Callable[[ModelConfig], ModelConfig]], ...] = (
            ("base_url", _with_address),
            ("revision", _pinned),
            ("price", with_price),
        )
        for key, check in checks:
            with faults.noting():
                try:
                    checked[name] = check(checked[name])
                except UserError as error:
                    raise UserError(f"{where(files, ('models', name, key))}: {error}") from None
    return checked


def _with_address(model: ModelConfig) -> ModelConfig:
    if problem := environment_problem(model):
        raise UserError(problem)
    return model


def _pinned(model: ModelConfig) -> ModelConfig:
    check_pinned(model)
    return model
