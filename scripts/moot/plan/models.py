"""What must be true of a run's models before the first job: endpoints exist, and servers get no key but their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UserError, unknown_name
from moot.core.model_config import ModelConfig
from moot.core.model_values import SHIPPED_ENDPOINTS
from moot.core.places import Faults, last_file_with, where
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
        with faults.noting():
            _check_key(name, model, files)
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


def _check_key(name: str, model: ModelConfig, files: Sequence[Path]) -> None:
    """Raise `UserError` where a file's key would go to the server of another file's entry of the same name."""
    if not (model.base_url and model.api_key_env):
        return
    of_key, of_address = (last_file_with(files, ("models", name, key)) for key in ("api_key_env", "base_url"))
    if of_key is None or of_address is None or of_key == of_address:
        return
    last, other = ("api_key_env", of_address) if files.index(of_key) > files.index(of_address) else ("base_url", of_key)
    raise UserError(
        f"{where(files, ('models', name, last))}: the key in {model.api_key_env} would go to {model.base_url}, since "
        f"the entry '{name}' in {other} is merged with this one. Write `base_url` and `api_key_env` both in this file, "
        "or give the model another name."
    )


def _with_address(model: ModelConfig) -> ModelConfig:
    if problem := environment_problem(model):
        raise UserError(problem)
    return model


def _pinned(model: ModelConfig) -> ModelConfig:
    check_pinned(model)
    return model
