"""The key `price` of a model: what its tokens cost."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from moot.core.strict_model import StrictModel


class Price(StrictModel):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0, description="US dollars per million prompt tokens.")
    cached_input: float | None = Field(
        None,
        ge=0,
        description=(
            "US dollars per million prompt tokens served from a cache. Default: as `input`."
        ),
    )
    output: float = Field(0.0, ge=0, description="US dollars per million generated tokens.")
    auto: bool = Field(
        False,
        description=(
            "Whether prices come from the pinned list of genai-prices; `price: auto` sets it."
        ),
    )
    source: str = Field("", description="Where the price comes from; it is stored with each call.")

    @property
    def cached_input_used(self) -> float:
        """The price of a million prompt tokens that a cache served."""
        return self.input if self.cached_input is None else self.cached_input

    @property
    def per_million(self) -> str:
        """The prices in words; "" if the model is free."""
        if not (self.input or self.output):
            return ""
        return f"input {self.input:g}, cached {self.cached_input_used:g}, output {self.output:g}"

    def microdollars(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Return the price of one call in millionths of US dollars.

        Args:
            prompt_tokens, completion_tokens: of the call.
            cached_tokens: the part of the prompt's tokens that a cache served.
        """
        uncached_prompt = (prompt_tokens - cached_tokens) * self.input
        cached_prompt = cached_tokens * self.cached_input_used
        return uncached_prompt + cached_prompt + completion_tokens * self.output


def _price_or_auto(value: object) -> object:
    return {"auto": True} if value == "auto" else value


PriceOrAuto = Annotated[Price, BeforeValidator(_price_or_auto)]
