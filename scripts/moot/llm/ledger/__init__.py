"""The ledger: every reply, durable before a protocol sees it."""
