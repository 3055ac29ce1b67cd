"""Open a ledger in another process, which imports nothing else of moot.

It therefore starts quickly.
"""

import time

from moot.llm.ledger.ledger import Ledger


def open_at(ledger: str, moment: float) -> None:
    """Open and close a ledger at a moment in seconds since the epoch."""
    time.sleep(max(0.0, moment - time.time()))
    Ledger(ledger).close()
