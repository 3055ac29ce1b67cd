"""The chain from tables to configuration: whether every artifact follows from the present files."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from moot.core.errors import UserError
from moot.workflow.provenance import DIGESTS, JobRecord, path_digest, read_records

MAX_LINES = 40
_CHANGED = {
    "options": "the configuration or one of your files has changed since",
    "prompts": "a prompt has changed since",
    "code": "the code has changed since",
}


class Chain:
    """Walks from artifacts to their inputs; each artifact is visited once."""

    def __init__(self, expected: Mapping[str, Mapping[str, str]]) -> None:
        self.expected = expected
        self.records = read_records()
        self._digests: dict[str, str] = {}
        self.checked_paths: set[str] = set()

    def stale_artifacts(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the artifacts, and inputs of them, that do not follow from the present files, with
        reasons.

        Artifacts that are not built yet are not stale.
        """
        pending = list(paths)
        while pending:
            path = pending.pop()
            if path in self.checked_paths or not Path(path).exists():
                continue
            self.checked_paths.add(path)
            record = self.records.get(path)
            if record is None:
                yield path, "it has no record of its inputs"
                continue
            yield from ((path, reason) for reason in self._reasons(path, record))
            pending.extend(name for name in record.inputs if name.startswith("results/"))

    def _reasons(self, path: str, record: JobRecord) -> Iterator[str]:
        if self._digest(path) != record.outputs[path]:
            yield "it was changed by hand, or by another program"
        if path not in self.expected:
            yield "it is no longer in the configuration"
            return
        for name in DIGESTS:
            if record.digests[name] != self.expected[path][name]:
                yield _CHANGED[name]
        for name, digest in record.inputs.items():
            if Path(name).exists() and self._digest(name) != digest:
                yield f"{name} has changed since"

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = path_digest(Path(path))
        return self._digests[path]


def verify(expected: Mapping[str, Mapping[str, str]], artifacts: Iterable[str]) -> int:
    """Check that artifacts follow from the present files; return the number of checked files.

    Args:
        expected: options, prompts and code, the digests of each artifact now, by path.
        artifacts: paths; all their inputs are checked as well.

    Raises:
        UserError: with all stale artifacts and the reasons.
    """
    chain = Chain(expected)
    if stale_artifacts := sorted(chain.stale_artifacts(artifacts)):
        lines = [f"  {path}: {reason}" for path, reason in stale_artifacts]
        if len(lines) > MAX_LINES:
            lines[MAX_LINES:] = [f"  and {len(lines) - MAX_LINES} more"]
        count = len({path for path, _ in stale_artifacts})
        listing = "\n".join(lines)
        raise UserError(
            f"{count} of {len(chain.checked_paths)} artifacts are stale:\n{listing}\n"
            "Run `snakemake` to build them again; delete a file that was edited by hand first."
        )
    return len(chain.checked_paths)
