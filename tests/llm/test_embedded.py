"""The model inside the process follows a schema, repeats itself, and scores words exactly.

It repeats itself at temperature 0.
"""

import json
import math
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from messages import refusal
from moot.core.errors import LogprobsUnavailableError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.embedded import PACKAGED, EmbeddedEndpoint
from moot.llm.request import Message, Request

CONFIG = ModelConfig(endpoint="embedded", model=PACKAGED, context=1024)
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["YES", "NO"]}},
    "required": ["verdict"],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoint() -> AsyncIterator[EmbeddedEndpoint]:
    endpoint = EmbeddedEndpoint(CONFIG, 1)
    yield endpoint
    await endpoint.close()


def embedded_request(text: str, **fields: object) -> Request:
    parameters = {"temperature": 0.0, "max_tokens": 24, "seed": 1}
    return Request("embedded", PACKAGED, (Message("user", text),), parameters, **fields)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_question_gets_the_same_answer_and_reuses_its_tokens(
    endpoint: EmbeddedEndpoint,
) -> None:
    first, second = [
        await endpoint.complete(embedded_request("Name three colours.")) for _ in range(2)
    ]
    assert first.text == second.text != ""
    assert second.cached_tokens > 0
    assert "sha256:" in first.served_model


@pytest.mark.asyncio(loop_scope="module")
async def test_a_schema_is_kept(endpoint: EmbeddedEndpoint) -> None:
    reply = await endpoint.complete(
        embedded_request("Will it rain? Answer in JSON.", schema=SCHEMA)
    )
    assert json.loads(reply.text)["verdict"] in ("YES", "NO")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_choice_is_scored_by_its_own_tokens(endpoint: EmbeddedEndpoint) -> None:
    """The model would rather begin with the letter D, as it is asked to.

    The word's score must not follow it there.
    """
    question = "Who wins, the plaintiff or the defendant? Answer with one letter, D or P."
    reply = await endpoint.complete(embedded_request(question, choices=("PLAINTIFF", "DEFENDANT")))
    alternatives = endpoint._chat(
        embedded_request(question), logprobs=True, top_logprobs=50_000, max_tokens=1
    )
    after_prompt = {
        token["token"]: token["logprob"]
        for token in alternatives["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    }
    assert after_prompt["D"] > after_prompt["DEF"]
    continued = endpoint._chat(
        embedded_request(question),
        grammar="root ::= "
        + " ".join(f"<[{token['id']}]>" for token in endpoint._tokens("DEFENDANT")),
        logprobs=True,
        max_tokens=3,
    )
    pieces = [
        (token["token"], token["logprob"])
        for token in continued["choices"][0]["logprobs"]["content"]
    ]
    assert [piece for piece, _ in pieces] == ["DEF", "END", "ANT"]
    assert pieces[0][1] == pytest.approx(after_prompt["DEF"], abs=0.01)
    assert reply.logprobs["DEFENDANT"] == pytest.approx(
        sum(logprob for _, logprob in pieces), abs=0.01
    )
    assert reply.text in ("PLAINTIFF", "DEFENDANT")
    assert 0 < sum(math.exp(value) for value in reply.logprobs.values()) < 1


@pytest.mark.asyncio(loop_scope="module")
async def test_words_whose_characters_are_split_have_no_likelihood(
    endpoint: EmbeddedEndpoint,
) -> None:
    request = embedded_request("本案是否适用该条？请回答是或否。", choices=("是", "否"))
    with pytest.raises(LogprobsUnavailableError, match="its tokens of 是 or 否 are parts"):
        await endpoint.complete(request)


def test_a_library_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with refusal():
        EmbeddedEndpoint(CONFIG, 1)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refusal():
        EmbeddedEndpoint(ModelConfig(endpoint="embedded", model=str(tmp_path / "none.gguf")), 1)
