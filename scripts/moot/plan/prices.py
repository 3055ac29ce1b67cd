"""`price: auto`: what a model costs, by the pinned list of the package genai-prices."""

from importlib.metadata import version

from moot.core.errors import UserError
from moot.core.model_config import ModelConfig, Price
from moot.llm.identity import address

_PROBE_TOKENS = 1000
"""Few enough for the first tier, where a price rises with the length of the prompt."""


def with_price(model: ModelConfig) -> ModelConfig:
    """A model with the listed price in place of `price: auto`; any other as it is.

    The list is looked through by the server's address and the model's name. It is the copy inside the package: nothing
    is fetched, and the same lock gives the same prices, up to those that the list itself dates.

    Raises:
        UserError: the list has no such model at such a server, or no price of it.
    """
    if not model.price.auto:
        return model
    from genai_prices import Usage, calc_price  # a megabyte and a half of prices

    server, listed = address(model) or "", f"genai-prices {version('genai-prices')}"
    per_million = 1_000_000 / _PROBE_TOKENS
    try:
        asked = calc_price(Usage(input_tokens=_PROBE_TOKENS), model.model, provider_api_url=server)
        cached_usage = Usage(input_tokens=_PROBE_TOKENS, cache_read_tokens=_PROBE_TOKENS)
        cached = calc_price(cached_usage, model.model, provider_api_url=server)
        said = calc_price(Usage(output_tokens=_PROBE_TOKENS), model.model, provider_api_url=server)
    except LookupError as error:
        raise UserError(
            f"found 'auto'; {listed} knows no price of '{model.model}' at {server or model.endpoint} ({error}). Write "
            "the price down: {input: ..., cached_input: ..., output: ...}, US dollars per million tokens."
        ) from None
    price = Price(
        input=round(float(asked.input_price) * per_million, 6),
        cached_input=round(float(cached.input_price) * per_million, 6),
        output=round(float(said.output_price) * per_million, 6),
        source=f"{listed}: {asked.provider.id}/{asked.model.id}",
    )
    return model.model_copy(update={"price": price})
