"""Check a bundle, with the standard library only: python verify_bundle.py BUNDLE [--expected-head
N:DIGEST].
"""

import argparse
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

SCHEMA = 2
DAMAGES = (Exception,)  # a damaged file may raise any error, also zipfile's own
SOUND = (
    "All files and replies are unchanged since the bundle was made. The manifest lists the replies"
    " behind each table; only `replay` proves tables.\n"
)


def sha256(content: bytes) -> str:
    """Return the digest of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def chain_digests(digests: list[str]) -> str:
    """Return the last digest of the chain over the rows' digests."""
    chained = ""
    for digest in digests:
        chained = sha256(f"{chained}{digest}".encode())
    return chained


def find_faults(bundle: zipfile.ZipFile, expected_head: str = "") -> Iterator[str]:
    """Yield a sentence for each file and reply that was changed, removed, moved or cut off since a
    head was published.
    """
    manifest = json.loads(bundle.read("manifest.json"))
    if manifest["schema"] != SCHEMA:
        yield (
            f"manifest.json: found schema {manifest['schema']}, expected {SCHEMA}. Use the"
            " verify_bundle.py in the bundle."
        )
        return
    digest, rows = manifest.pop("digest"), bundle.read("log.txt").decode().split()
    if sha256(json.dumps(manifest, sort_keys=True).encode()) != digest:
        yield "manifest.json: changed after the bundle was made"
    yield from check_files(bundle, manifest["files"])
    if {"replies": len(rows), "digest": chain_digests(rows)} != manifest["log"]:
        yield "log.txt: differs from the log that manifest.json names"
    replies, _, head = expected_head.partition(":")
    first = rows[: int(replies) if replies.isdecimal() else 0]
    if expected_head and (replies, head) != (str(len(first)), chain_digests(first)):
        reason = (
            "replies were changed, moved or removed, or the head is from another ledger (if two"
            " ledgers are merged, only one keeps its heads)"
        )
        yield f"log.txt: its first {replies} replies differ from the published head: {reason}"
    calls = [json.loads(line) for line in bundle.read("calls.jsonl").decode().split("\n")[:-1]]
    numbers = {call["number"] for call in calls}
    for call in calls:
        yield from check_reply(call, rows)
    yield from ["calls.jsonl: a reply occurs more than once"] if len(numbers) < len(calls) else []
    numbers_of_runs = [run_calls["shown"] for run_calls in manifest["calls"].values()]
    if unused_numbers := numbers.difference(*numbers_of_runs):
        yield (
            f"calls.jsonl: no run uses reply {min(unused_numbers)} ({len(unused_numbers)} unused"
            " replies)"
        )
    for run, run_calls in manifest["calls"].items():
        if missing := set(run_calls["shown"]) - numbers:
            yield f"{run}: reply {min(missing)} is not in calls.jsonl ({len(missing)} missing)"
        if not set(run_calls["withheld"]) <= set(range(len(rows))):
            yield f"{run}: a reply behind it is not in the log"
    runs_of_tables = set().union(*manifest["tables"].values())
    unknown_runs = runs_of_tables - set(manifest["calls"])
    yield from (
        f"{run}: a table depends on it, but the manifest does not list its replies"
        for run in sorted(unknown_runs)
    )


def check_files(bundle: zipfile.ZipFile, digests: dict[str, str]) -> Iterator[str]:
    """Return the files that differ from the manifest."""
    names = bundle.namelist()
    strange = set(names) ^ {*digests, "manifest.json"}
    yield from (f"{name}: missing, or not of this bundle" for name in sorted(strange))
    yield from (
        f"{name}: occurs more than once in the bundle"
        for name in sorted(set(names))
        if names.count(name) > 1
    )
    yield from (
        f"{name}: changed"
        for name in digests
        if name in names and sha256(bundle.read(name)) != digests[name]
    )


def check_reply(call: dict[str, Any], rows: list[str]) -> Iterator[str]:
    """Yield the faults of one reply: its place in the log, its content, or its request."""
    number = call["number"]
    content = json.dumps(
        [call[key] for key in ("call_id", "model", "replicate", "reply")], separators=(",", ":")
    )
    if not 0 <= number < len(rows) or sha256(content.encode()) != rows[number]:
        yield f"calls.jsonl: reply {number} differs from the log"
    if (
        sha256(f"{call['replicate']}\n{call['request']}".encode("utf-8", "surrogatepass"))
        != call["call_id"]
    ):
        yield f"calls.jsonl: the request of reply {number} differs from the recorded one"


def main() -> None:
    """Print the faults of a bundle; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", help="the file that `snakemake bundle` wrote")
    parser.add_argument(
        "--expected-head", default="", metavar="N:DIGEST", help="a head that was published before"
    )
    arguments = parser.parse_args()
    try:
        with zipfile.ZipFile(arguments.bundle) as bundle:
            faults = list(find_faults(bundle, arguments.expected_head))
    except DAMAGES as error:
        faults = [f"{arguments.bundle}: damaged, or not a bundle ({type(error).__name__}: {error})"]
    if faults:
        sys.exit("\n".join(faults))
    sys.stdout.write(
        SOUND
        + (
            ""
            if arguments.expected_head
            else "Without --expected-head a bundle that its author made again is not detected.\n"
        )
    )


if __name__ == "__main__":
    main()
