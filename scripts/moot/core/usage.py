"""The tokens of one attempt at a call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one attempt, as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens."""
        return self.prompt_tokens + self.completion_tokens
