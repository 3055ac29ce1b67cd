"""One question a coin."""

from moot.protocols import ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer


@protocol("toss", ProtocolParams, study="coinage", prompts=("coinage/",))
async def toss(debate: Debate, _params: ProtocolParams) -> Answer | None:
    """The tosser says which side is up."""
    return read_answer(
        debate,
        await debate.say(
            "tosser", "statement", "coinage/ask", schema=prediction_schema(debate.task)
        ),
    )
