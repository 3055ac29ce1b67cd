"""Kill a job at 25 moments, and check the replies and tables (the test suite has five moments).

All replies must be kept, few calls repeated, and the tables byte-identical.
"""

import argparse
import tempfile
from pathlib import Path

from fault_server import FaultServer
from killed_runs import CALLS, CONCURRENCY, kill_and_compare


def main() -> None:
    """Print one line, or fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=25)
    kills = parser.parse_args().kills
    with tempfile.TemporaryDirectory() as folder, FaultServer() as server:
        repeated = kill_and_compare(server, Path(folder), kills)
    print(
        f"- {kills} kills: {repeated} of {CALLS} calls repeated, of {kills * CONCURRENCY} that may"
        " have been under way"
    )


if __name__ == "__main__":
    main()
