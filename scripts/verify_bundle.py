"""Check a bundle by Python's standard library alone: python verify_bundle.py BUNDLE
[--expected-head N:DIGEST].
"""

import argparse
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

SCHEMA = 2
DAMAGES = (Exception,)  # whatever a damaged file leads to, zipfile's own errors among it
SOUND = (
    "All files and replies are as bundled. On which a table rests the manifest says; only `replay`"
    " proves tables.\n"
)


def sha256(content: bytes) -> str:
    """The digest of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def chain_digests(digests: list[str]) -> str:
    """The last digest of the chain over the rows' digests."""
    chained = ""
    for digest in digests:
        chained = sha256(f"{chained}{digest}".encode())
    return chained


def find_faults(bundle: zipfile.ZipFile, expected_head: str = "") -> Iterator[str]:
    """Every file and every reply that was changed, removed, moved or cut off since a head was
    published, in words.
    """
    manifest = json.loads(bundle.read("manifest.json"))
    if manifest["schema"] != SCHEMA:
        yield (
            f"manifest.json: schema {manifest['schema']}, and this check reads {SCHEMA}. Use the"
            " check in the bundle."
        )
        return
    digest, rows = manifest.pop("digest"), bundle.read("log.txt").decode().split()
    if sha256(json.dumps(manifest, sort_keys=True).encode()) != digest:
        yield "manifest.json: changed after the bundle was made"
    yield from check_files(bundle, manifest["files"])
    if {"replies": len(rows), "digest": chain_digests(rows)} != manifest["log"]:
        yield "log.txt: not the log that manifest.json names"
    replies, _, head = expected_head.partition(":")
    first = rows[: int(replies) if replies.isdecimal() else 0]
    if expected_head and (replies, head) != (str(len(first)), chain_digests(first)):
        reason = (
            "some were changed, moved or cut off, or it is another ledger's (of two merged ones,"
            " one keeps its heads)"
        )
        yield f"log.txt: its first {replies} replies differ from the published head: {reason}"
    calls = [json.loads(line) for line in bundle.read("calls.jsonl").decode().split("\n")[:-1]]
    numbers = {call["number"] for call in calls}
    for call in calls:
        yield from check_reply(call, rows)
    yield from ["calls.jsonl: a reply more than once"] if len(numbers) < len(calls) else []
    numbers_of_runs = [run_calls["shown"] for run_calls in manifest["calls"].values()]
    if unused_numbers := numbers.difference(*numbers_of_runs):
        yield (
            f"calls.jsonl: no run names reply {min(unused_numbers)}, so that nothing rests on it"
            f" ({len(unused_numbers)} such)"
        )
    for run, run_calls in manifest["calls"].items():
        if missing := set(run_calls["shown"]) - numbers:
            yield f"{run}: reply {min(missing)} is not in calls.jsonl ({len(missing)} missing)"
        if not set(run_calls["withheld"]) <= set(range(len(rows))):
            yield f"{run}: a reply that it rests on is not in the log"
    runs_of_tables = set().union(*manifest["tables"].values())
    unknown_runs = runs_of_tables - set(manifest["calls"])
    yield from (
        f"{run}: a table rests on it, of whose replies nothing is said"
        for run in sorted(unknown_runs)
    )


def check_files(bundle: zipfile.ZipFile, digests: dict[str, str]) -> Iterator[str]:
    """Return the files that differ from the manifest."""
    names = bundle.namelist()
    strange = set(names) ^ {*digests, "manifest.json"}
    yield from (f"{name}: missing, or not of this bundle" for name in sorted(strange))
    yield from (
        f"{name}: more than once in the bundle"
        for name in sorted(set(names))
        if names.count(name) > 1
    )
    yield from (
        f"{name}: changed"
        for name in digests
        if name in names and sha256(bundle.read(name)) != digests[name]
    )


def check_reply(call: dict[str, Any], rows: list[str]) -> Iterator[str]:
    """What is wrong with one reply: its place in the log, its content, or the request that it
    answers.
    """
    number = call["number"]
    content = json.dumps(
        [call[key] for key in ("call_id", "model", "replicate", "reply")], separators=(",", ":")
    )
    if not 0 <= number < len(rows) or sha256(content.encode()) != rows[number]:
        yield f"calls.jsonl: reply {number} is not the one in the log"
    if (
        sha256(f"{call['replicate']}\n{call['request']}".encode("utf-8", "surrogatepass"))
        != call["call_id"]
    ):
        yield f"calls.jsonl: the request of reply {number} is not the one that was answered"


def main() -> None:
    """Say what is wrong, or that nothing is; the status is 1 where something is."""
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
            else "No head was given: its maker could have made it anew.\n"
        )
    )


if __name__ == "__main__":
    main()
