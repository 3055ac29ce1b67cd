"""Calls to language models: requests, endpoints, ledger, prompts, and the parsing of replies."""
