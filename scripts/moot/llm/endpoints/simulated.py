"""A substitute for a model, which answers by a statistical model: free, offline and deterministic.

It reads a request as any endpoint does. Other knowledge (the true label of a case) comes from the
world with which the job opens it. Without a world it refuses, so that no simulated reply counts as
a model's.
"""

import math
import random

from moot.core.cases import stable_fraction
from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.simulated_voice import SIMULATED
from moot.llm.endpoints import Endpoint, register_endpoint
from moot.llm.request import Reply, Request
from moot.llm.simulated.beliefs import World, read_request
from moot.llm.simulated.simulated_replies import Writer, spoil_reply

_CHARACTERS_PER_TOKEN = 4.0


TRAITS = EndpointTraits(is_simulated=True, request_keys=("simulated",))


@register_endpoint(SIMULATED, TRAITS)
def refuse(config: ModelConfig, _threads: int) -> Endpoint:
    """Raise `UserError`, since only rehearsals have simulated voices."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'simulated': it answers only in a"
        " rehearsal, which has its own folder of results. Run `snakemake rehearse` with the same"
        " configuration."
    )


class SimulatedEndpoint:
    """Answers by the statistical model of `llm.simulated.beliefs`; it is deterministic."""

    def __init__(self, config: ModelConfig, world: World) -> None:
        self._voice, self._world = config.simulated, world

    async def complete(self, request: Request) -> Reply:
        """Return the reply, with estimated tokens and the latency of the model that it replaces."""
        voice, seed = self._voice, self._world.seed
        reading = read_request(request, self._world.cases)
        draw = random.Random(f"{seed} {reading.digest}")  # noqa: S311 - no secret
        writer = Writer(voice, seed, request, reading, draw)
        prompt_tokens = int(request.prompt_characters / _CHARACTERS_PER_TOKEN)
        logprobs: dict[str, float] = {}
        if request.choices:
            text, reason = spoil_reply(voice, request.choices[0], draw.random())
            logprobs = _log_probabilities(writer, request) if text == request.choices[0] else {}
            tokens = 1
        else:
            text, reason = spoil_reply(voice, writer.reply(), draw.random())
            tokens = math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
        return Reply(
            text=text,
            logprobs=logprobs,
            finish_reason=reason,
            prompt_tokens=prompt_tokens,
            completion_tokens=tokens,
            seconds=voice.seconds_to_first_token + tokens / voice.tokens_per_second,
            served_model=SIMULATED.upper(),
        )

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


def _log_probabilities(writer: Writer, request: Request) -> dict[str, float]:
    """Return the labels' log-probabilities from the log-odds of the true and the worst label."""
    belief = writer.believe(request.choices)
    log_odds = min(max(belief.stated_log_odds, -_MAX_LOG_ODDS), _MAX_LOG_ODDS)
    log_normalizer = math.log1p(math.exp(-abs(log_odds)))
    likely, unlikely = -log_normalizer, -abs(log_odds) - log_normalizer
    right_logprob, wrong_logprob = (likely, unlikely) if log_odds > 0 else (unlikely, likely)
    logprobs = {
        word: unlikely - 1 - stable_fraction(word, writer.reading.digest)
        for word in request.choices
    }
    return logprobs | {belief.true_option: right_logprob, belief.tempting_option: wrong_logprob}


_MAX_LOG_ODDS = 12.0
