"""Checks of a run's models before the first job: endpoints, addresses, files and prices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path

from moot.core.config_errors import Faults, describe_location
from moot.core.errors import UserError, unknown_name
from moot.core.model_config import ModelConfig, Price
from moot.llm.endpoints import ENDPOINTS
from moot.llm.hub import check_pinned
from moot.llm.identity import check_environment, server_address

_PROBE_TOKENS = 1000
"""A prompt length within the first tier, if a price rises with the length of the prompt."""


def check_models(
    models: Mapping[str, ModelConfig],
    names_used: Iterable[str],
    files: Sequence[Path],
    faults: Faults,
) -> dict[str, ModelConfig]:
    """Check the models and fill in the prices of those with `price: auto`.

    Args:
        models: all models by name.
        names_used: those that this run uses.
        files: the files of the configuration.
        faults: receives the faults.
    """
    checked_configs = dict(models)
    for name, model in models.items():
        with faults.noting():
            if model.endpoint not in ENDPOINTS:
                place = describe_location(files, ("models", name, "endpoint"))
                raise unknown_name("endpoint", model.endpoint, ENDPOINTS, place)
    checks: tuple[tuple[str, Callable[[ModelConfig], ModelConfig | None]], ...] = (
        ("base_url", check_environment),
        ("revision", check_pinned),
        ("price", fill_price),
    )
    for name, (key, check) in product(names_used, checks):
        with faults.noting():
            try:
                checked_configs[name] = check(checked_configs[name]) or checked_configs[name]
            except UserError as error:
                raise UserError(
                    f"{describe_location(files, ('models', name, key))}: {error}"
                ) from None
    return checked_configs


def fill_price(model: ModelConfig) -> ModelConfig:
    """Return a model with the listed price instead of `price: auto`; others are unchanged.

    The list of genai-prices is searched by the server's address and the model's name. The list is
    part of the package, so nothing is fetched, and equal lock files give equal prices, except for
    prices that the list limits to a period.

    Raises:
        UserError: the list does not have the model at this server, or no price of it.
    """
    if not model.price.auto:
        return model
    from genai_prices import Usage, calc_price  # imports 1.5 MB of prices

    server, price_list = server_address(model) or "", f"genai-prices {version('genai-prices')}"
    per_million = 1_000_000 / _PROBE_TOKENS
    try:
        input_price = calc_price(
            Usage(input_tokens=_PROBE_TOKENS), model.model, provider_api_url=server
        )
        cached_usage = Usage(input_tokens=_PROBE_TOKENS, cache_read_tokens=_PROBE_TOKENS)
        cached_price = calc_price(cached_usage, model.model, provider_api_url=server)
        output_price = calc_price(
            Usage(output_tokens=_PROBE_TOKENS), model.model, provider_api_url=server
        )
    except LookupError as error:
        raise UserError(
            f"found 'auto'; {price_list} has no price of '{model.model}' at "
            f"{server or model.endpoint} ({error}). State the price: {{input: ..., cached_input: "
            f"..., output: ...}}, US dollars per million tokens."
        ) from None
    price = Price(
        input=round(float(input_price.input_price) * per_million, 6),
        cached_input=round(float(cached_price.input_price) * per_million, 6),
        output=round(float(output_price.output_price) * per_million, 6),
        source=f"{price_list}: {input_price.provider.id}/{input_price.model.id}",
    )
    return model.model_copy(update={"price": price})
