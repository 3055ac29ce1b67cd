"""Single calls of a chat, for tests of servers and replies."""

from pathlib import Path
from typing import Any

from fault_server import FaultServer
from moot.core.model_config import ModelConfig
from moot.llm.chat import Chat, Settings
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.request import Message, Reply, Request


def chat_with(server: FaultServer, folder: Path, endpoint: str = "openai", **model: Any) -> Chat:
    """Return a chat with the model of a server; its ledger lies in a folder."""
    address = server.url if endpoint == "openai" else server.host
    config = ModelConfig(
        **{"endpoint": endpoint, "model": "test", "base_url": address, "timeout": 60.0, **model}
    )
    return open_chat(config, folder)


def open_chat(config: ModelConfig, folder: Path) -> Chat:
    """Return a chat whose ledger lies in a folder."""
    return Chat("test", config, Ledger(str(folder)), Settings(), Progress("test", 1))


def make_request(
    text: str = "Will it rain? YES or NO.", endpoint: str = "openai", **fields: Any
) -> Request:
    """Return a request with one message of the user."""
    return Request(
        endpoint, "test", (Message("user", text),), {"max_tokens": 50, "seed": 1}, **fields
    )


async def ask(chat: Chat, request: Request) -> Reply:
    """Make one call and close the chat."""
    try:
        return (await chat.ask(request, 0))[1]
    finally:
        await chat.close()
