"""Count how many of 10,000 changes of a bundle its check misses.

The bundle is from a run of ten debates; `tests/support/changed_bundles.py` makes the changes.
"""

import argparse
import os
import time
from tempfile import TemporaryDirectory

from bundled_runs import hold_run, make_bundle
from changed_bundles import missed_changes


def main() -> None:
    """Print the number of missed changes, and the changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", nargs="?", type=int, default=10_000)
    changes = parser.parse_args().changes
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        content, head, _ = make_bundle(hold_run())
    start = time.perf_counter()
    misses = missed_changes(content, head, changes)
    seconds = time.perf_counter() - start
    print(f"{changes} changes, {len(misses)} missed, {1000 * seconds / changes:.1f} ms each")
    print("\n".join(misses), end="")


if __name__ == "__main__":
    main()
