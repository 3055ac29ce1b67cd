"""Facts rewritten by a model, as the appellate study did with its cases; not a debate, so it comes
to no answer.

A data set of opinions can be made of it (`paraphrases`), whose gates then check them again.
"""

from moot.core.kinds import PARAPHRASE
from moot.protocols import Options, ProtocolParams, protocol
from moot.protocols.debate import Debate

SEAT = "writer"


class ParaphraseParams(ProtocolParams):
    """Parameters of a paraphrase."""


@protocol(
    "paraphrase",
    ParaphraseParams,
    study="appellate",
    options=Options("none"),
    seats=lambda _: (SEAT,),
)
async def paraphrase(debate: Debate, params: ParaphraseParams) -> None:  # noqa: ARG001
    """One reply: the facts in other words."""
    await debate.say(SEAT, PARAPHRASE, "paraphrase/facts")
