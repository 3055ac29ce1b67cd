"""Calls to language models: requests, endpoints (registry `ENDPOINTS`), ledger, prompts, and the
parsing of replies.
"""
