"""A scripted judge of Debate-Feedback."""

import math
from collections.abc import Sequence
from typing import Any

from moot.llm.request import Request
from scripted_model import ScriptedModel


def script_judge(shares: Sequence[float]) -> ScriptedModel:
    """Debaters speak freely; the judge's probability of the plaintiff runs through `shares`."""
    remaining_shares = iter(shares)

    def answer(request: Request, _: int) -> Any:
        if request.choices:
            share = next(remaining_shares)
            return {"PLAINTIFF": math.log(share), "DEFENDANT": math.log(1 - share)}
        if request.schema and "statement" in request.schema["properties"]:
            return {"statement": "The horse was lame.", "prediction": "PLAINTIFF"}
        return "In short, the horse was lame."

    return ScriptedModel(answer)
