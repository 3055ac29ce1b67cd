"""Model files of the Hugging Face Hub, `hf:ORG/REPO:FILE`, each pinned to one commit."""

import re
from pathlib import Path

from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import UserError
from moot.core.model_config import HUB, ModelConfig
from moot.llm.redaction import redacted

_COMMIT = re.compile(r"[0-9a-f]{40}")


def check_pinned(config: ModelConfig) -> None:
    """Raise `UserError` for a model of the hub without a commit; nothing asks the hub."""
    is_on_hub = endpoint_traits(config.endpoint).in_process and config.model.startswith(HUB)
    if not is_on_hub or _COMMIT.fullmatch(config.revision or ""):
        return
    state = f"found {config.revision!r}" if config.revision else "this key is missing"
    repository = config.model.removeprefix(HUB).partition(":")[0]
    raise UserError(
        f"{state}; expected the commit that the model is taken from, 40 hexadecimal digits."
        f" https://huggingface.co/{repository}/commits/main lists them."
    )


def hub_file(config: ModelConfig) -> Path:
    """Return the file of a model of the hub, from the cache (`HF_HOME`) or after a download.

    Raises:
        UserError: the library is missing, there is no network, or no such repository, commit or
            file.
    """
    check_pinned(config)
    try:
        from huggingface_hub import hf_hub_download  # an extra
    except ImportError:
        raise UserError(
            f"model '{config.model}': the package huggingface-hub is not installed. Run `make"
            " env EXTRAS=hub`."
        ) from None
    repository, _, file = config.model.removeprefix(HUB).partition(":")
    try:
        return Path(hf_hub_download(repository, file, revision=config.revision))
    except (OSError, ValueError) as error:  # the library's errors, each with its remedy
        raise UserError(f"model '{config.model}': {redacted(error, 600)}") from None
