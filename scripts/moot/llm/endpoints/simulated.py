"""A substitute for a model that answers by a stated statistical model: free, offline, and the same
in every run.

It sees a request as any endpoint does. What else it knows (which label of a case is true) comes
from the world that the job opens it with; without one it refuses, so that no simulated reply ever
counts as a model's.
"""

import math
import random

from moot.core.cases import stable_fraction
from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import SIMULATED, ModelConfig
from moot.llm.endpoints import Endpoint, register_endpoint
from moot.llm.request import Reply, Request
from moot.llm.simulated.beliefs import World, read_request
from moot.llm.simulated.replies import Writer, spoilt

_CHARACTERS_A_TOKEN = 4.0


TRAITS = EndpointTraits(is_simulated=True, request_keys=("simulated",))


@register_endpoint(SIMULATED, TRAITS)
def refuse(config: ModelConfig, _threads: int) -> Endpoint:
    """Raise `UserError`: simulated voices speak in rehearsals alone."""
    raise UserError(
        f"model '{config.model}' has the endpoint 'simulated': it answers in a rehearsal alone,"
        " whose results are in a folder of their own. Run `snakemake rehearse` with the same"
        " configuration."
    )


class SimulatedEndpoint:
    """Answers by the statistical model of `llm.simulated.beliefs`; equal requests get equal
    replies.
    """

    def __init__(self, config: ModelConfig, world: World) -> None:
        self._voice, self._world = config.simulated, world

    async def complete(self, request: Request) -> Reply:
        """The reply; its tokens are estimated, its seconds those of the model that it replaces."""
        voice, seed = self._voice, self._world.seed
        reading = read_request(request, self._world.cases)
        draw = random.Random(f"{seed} {reading.digest}")  # noqa: S311 - no secret
        writer = Writer(voice, seed, request, reading, draw)
        prompt_tokens = int(request.prompt_characters / _CHARACTERS_A_TOKEN)
        logprobs: dict[str, float] = {}
        if request.choices:
            text, reason = spoilt(voice, request.choices[0], draw.random())
            logprobs = _log_probabilities(writer, request) if text == request.choices[0] else {}
            tokens = 1
        else:
            text, reason = spoilt(voice, writer.reply(), draw.random())
            tokens = math.ceil(len(text) / _CHARACTERS_A_TOKEN)
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
        """Nothing to let go of."""


def _log_probabilities(writer: Writer, request: Request) -> dict[str, float]:
    """The words' log-probabilities: the truth's log-odds as stated, against the word that tempts
    most.
    """
    belief = writer.believe(request.choices)
    log_odds = min(max(belief.stated, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)
    both = math.log1p(math.exp(-abs(log_odds)))
    likely, unlikely = -both, -abs(log_odds) - both
    right, wrong = (likely, unlikely) if log_odds > 0 else (unlikely, likely)
    others = {
        word: unlikely - 1 - stable_fraction(word, writer.reading.digest)
        for word in request.choices
    }
    return others | {belief.right: right, belief.wrong: wrong}


_MOST_LOG_ODDS = 12.0
