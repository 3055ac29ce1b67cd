"""Whether the servers of models answer: they are asked for their list of models, which is free."""

import asyncio
from collections.abc import Iterable, Sequence

from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import CallError, NotFoundError, RunStoppedError, UnreachableError
from moot.core.model_config import ModelConfig
from moot.core.types import JsonObject
from moot.llm.endpoints import list_models
from moot.llm.identity import key_variable, server_address
from moot.llm.redaction import read_key, redacted

TIMEOUT_SECONDS = 10.0


async def list_served_models(model: ModelConfig) -> list[JsonObject] | None:
    """Return a server's entries of its models; None if the endpoint has no such call.

    Raises:
        MootError: the server gives no answer, has no such path, or refuses the key.
    """
    changes: JsonObject = {"timeout": TIMEOUT_SECONDS}
    if not read_key(model):  # an empty key is reported separately
        changes |= {"api_key_env": None, "base_url": show_address(model)}
    return await list_models(model.model_copy(update=changes))


def show_address(model: ModelConfig) -> str:
    """Return the address of a model's server."""
    return (server_address(model) or "").rstrip("/")


def describe_silence(model: ModelConfig, error: CallError) -> str:
    """Describe a server that gives no list of models and could take no call."""
    place = show_address(model)
    if isinstance(error, NotFoundError):
        return redacted(
            f"{place} has no path for calls ({error}). Correct `base_url`: the part before"
            " /chat/completions, often with /v1 at its end"
        )
    return redacted(f"{place} gives no answer ({error}). Start the server, or correct `base_url`")


def find_silent_servers(models: Sequence[ModelConfig]) -> list[str]:
    """Return a message for each server of these models that could take no call of a run."""
    model_by_server = {
        (show_address(model), key_variable(model)): model
        for model in models
        if endpoint_traits(model.endpoint).has_server
    }
    if not model_by_server:
        return []
    problems = asyncio.run(_find_problems(model_by_server.values()))
    return list(dict.fromkeys(filter(None, problems)))


async def _find_problems(models: Iterable[ModelConfig]) -> list[str]:
    return list(await asyncio.gather(*map(_find_problem, models)))


async def _find_problem(model: ModelConfig) -> str:
    try:
        await list_served_models(model)
    except (UnreachableError, NotFoundError) as error:
        return describe_silence(model, error)
    except RunStoppedError as error:
        return f"{show_address(model)}: {error}"
    except CallError:  # a busy server is waited for
        return ""
    return ""
