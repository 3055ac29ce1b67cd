"""Model files of the Hugging Face Hub, `hf:ORG/REPO:FILE`, each pinned to one commit."""

import re
from importlib import import_module
from pathlib import Path

from moot.core.artifacts import file_digest
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.model_config import HUB, ModelConfig
from moot.llm.redaction import redacted

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SECONDS_TO_LOOK_UP = 10.0
_MODULES = ("", ".errors", ".utils")


def check_pinned(config: ModelConfig) -> None:
    """Raise `UserError` for a model of the hub without a commit.

    The message names the repository's current commit, if the hub can be reached. Nothing else asks
    the hub before the model is first used, so that a dry run, a preview and a replay need no
    network.
    """
    if (
        not endpoint_traits(config.endpoint).in_process
        or not config.model.startswith(HUB)
        or _COMMIT.fullmatch(config.revision or "")
    ):
        return
    state = f"found {config.revision!r}" if config.revision else "this key is missing"
    try:
        remedy = (
            f"Write `revision: {_Hub(config).commit_now()}`, where '{config.revision or 'main'}' is"
            " now."
        )
    except UserError as error:
        remedy = f"The repository's page lists its commits. They could not be looked up: {error}"
    raise UserError(
        f"{state}; expected the commit that the model is taken from, 40 hexadecimal digits."
        f" {remedy}"
    )


def hub_file(config: ModelConfig) -> Path:
    """Return the file of a model of the hub, from the cache (`HF_HOME`) or after a download.

    The checksum is verified.

    Raises:
        UserError: the library is missing, there is no network, or no such repository, commit or
            file.
    """
    check_pinned(config)
    path = _Hub(config).file()
    blob = path.resolve()  # a large file is named by the checksum that the hub states
    if _SHA256.fullmatch(blob.name) and file_digest(blob) != blob.name:
        raise UserError(
            f"{blob}: found other content than the hub has. Delete the file, and run again."
        )
    return path


class _Hub:
    """The hub's own client for one model; each of its errors becomes a message with a remedy."""

    def __init__(self, config: ModelConfig) -> None:
        try:  # an extra, and starting Snakemake must not load it
            self._client, self._errors, utils = (
                import_module(f"huggingface_hub{name}") for name in _MODULES
            )
        except ImportError:
            raise UserError(
                f"model '{config.model}': the package huggingface-hub is not installed. Run `make"
                " env EXTRAS=hub`."
            ) from None
        utils.disable_progress_bars()
        self._faults = (OSError, ValueError, self._errors.HTTPError)
        self._config, self._revision = config, config.revision or "main"
        self._repository, _, self._file = config.model.removeprefix(HUB).partition(":")

    def commit_now(self) -> str:
        """Return the current commit of the repository's branch."""
        try:
            info = self._client.HfApi().model_info(
                self._repository, revision=self._revision, timeout=_SECONDS_TO_LOOK_UP
            )
        except self._faults as error:
            raise self._user_error(error) from None
        return str(info.sha)

    def file(self) -> Path:
        """Return the file's path in the cache, after a download if it is missing."""
        cached = self._client.try_to_load_from_cache(
            self._repository, self._file, revision=self._revision
        )
        if isinstance(cached, str):
            return Path(cached)
        try:
            address = self._client.hf_hub_url(self._repository, self._file, revision=self._revision)
            size = self._client.get_hf_file_metadata(address, timeout=_SECONDS_TO_LOOK_UP).size or 0
            LOG.info(
                "downloading %s, %.0f MB", self._config.model, size / 1e6, extra={"progress": True}
            )
            return Path(
                self._client.hf_hub_download(self._repository, self._file, revision=self._revision)
            )
        except self._faults as error:
            raise self._user_error(error) from None

    def _user_error(self, error: Exception) -> UserError:
        return UserError(f"model '{self._config.model}': {self._remedy(error)}")

    def _remedy(self, error: Exception) -> str:
        """Return the problem and its remedy; the client's more specific errors come first."""
        errors = self._errors
        page = f"{self._client.constants.ENDPOINT}/{self._repository}"
        if isinstance(error, errors.GatedRepoError):
            return f"the repository is gated. Accept its terms at {page}, and export HF_TOKEN=..."
        if isinstance(error, errors.RepositoryNotFoundError):
            return f"no such repository, or a private one (then export HF_TOKEN=...): {page}."
        if isinstance(error, errors.RevisionNotFoundError):
            return f"the repository has no commit {self._revision}: see {page}/commits/main."
        if isinstance(error, errors.RemoteEntryNotFoundError):
            return (
                f"the repository has no such file at this commit: see {page}/tree/{self._revision}."
            )
        if isinstance(error, errors.HfHubHTTPError):
            return f"the hub refuses it ({redacted(error)}): see {page}."
        return (
            f"the file is not in the cache, and the hub cannot be reached ({redacted(error)})."
            " Connect this machine and run again, or copy the file here and name its path as"
            " `model`."
        )
