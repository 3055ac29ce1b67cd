"""What the shipped experiments send is what they sent at commit 60e9f997, byte by byte.

`tests/support/prompt_digests.py` wrote the digests there. It holds each experiment of the default
configuration on one case with replies that depend on the request alone; left out are experiments
that need a trained assistant or data that moot does not ship.
"""

import json
from pathlib import Path

import pytest

from moot.llm import client
from prompt_digests import PROJECT, collect_prompts, digest

DIFFERENCES = {
    "agreement-pairs": "the judge is asked what the moderator is asked, as the paper's judge is",
    "conference": "the judge is asked as the moderator is, and nobody writes notes for minutes",
    "feedback-training-caselaw": "no validation case is debated by default",
    "stance-vast": "synthetic neutral texts of VAST have the topic of their label",
}
"""The experiments whose prompts were changed on purpose, with the reason."""


def test_shipped_experiments_send_what_they_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(client, "ENDPOINTS", client.ENDPOINTS)  # which `collect_prompts` replaces
    recorded = json.loads((PROJECT / "tests/data/prompt_digests.json").read_text("utf-8"))
    digests = {name: digest(prompts) for name, prompts in collect_prompts(tmp_path).items()}
    assert digests.keys() == recorded.keys()
    changed_names = {name for name in digests if digests[name] != recorded[name]}
    assert changed_names == DIFFERENCES.keys()
