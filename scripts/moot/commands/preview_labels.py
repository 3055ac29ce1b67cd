"""The calls by which models label the statements of previewed debates."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from moot.core.model_config import ModelConfig
from moot.jobs.statement_labels import LabelJob, make_judge
from moot.labels import JUDGE
from moot.labels.judge import request_for
from moot.labels.statements import are_statements
from moot.llm.identity import served_as
from moot.llm.ledger.ledger import Entry
from moot.llm.request import Reply, Request, call_id
from moot.plan.plan import Plan
from moot.protocols.debate import Debate, transcript_row
from moot.protocols.experiment import Experiment


def label_calls(
    plan: Plan,
    experiment: Experiment,
    model: str,
    debates: Sequence[Debate],
    tokens_per_char: float,
) -> list[Entry]:
    """Return the calls by which models label debates, with placeholder replies; each once.

    A statement without words may have some in a real debate, so it is counted.
    """
    judges = [
        make_judge(plan, labeler, LabelJob(experiment.name, model, Path(), {}))
        for labeler in experiment.config.labelers
        if labeler.partition(":")[0] == JUDGE
    ]
    rubric = plan.rubric(experiment.name)
    if not judges or rubric is None or not debates:
        return []
    statements = _statements_of(debates, rubric.utterance_kinds)
    facts = {debate.case.case_id: debate.case.text for debate in debates}
    entries: dict[str, Entry] = {}
    for judge in judges:
        server = served_as(judge.config)
        for case_id, text in statements:
            request = request_for(judge, facts[case_id], text)
            content = request.to_json(server)
            key = call_id(content, 0)
            reply = _longest_reply(request, judge.config, tokens_per_char)
            entries[key] = Entry(key, judge.name, content, 0, reply)
    return list(entries.values())


def _statements_of(debates: Sequence[Debate], kinds: Sequence[str]) -> list[tuple[str, str]]:
    """Return case and text of each statement of some debates that is labelled."""
    rows = []
    for debate in debates:
        rows += [transcript_row(debate, utterance) for utterance in debate.utterances]
    frame = pd.DataFrame(rows)
    statements = frame[are_statements(frame, kinds)]
    texts = statements["text"].where(
        statements["text"].str.strip() != "",
        statements["debate_id"] + " " + statements["turn"].astype(str),
    )
    return list(zip(statements["case_id"], texts, strict=True))


def _longest_reply(request: Request, model: ModelConfig, tokens_per_char: float) -> Reply:
    prompt_tokens = int(request.prompt_characters * tokens_per_char)
    max_tokens = int(request.parameters.get("max_tokens", model.max_tokens))
    usd = model.cost(prompt_tokens, max_tokens)
    return Reply("", prompt_tokens=prompt_tokens, completion_tokens=max_tokens, cost_usd=usd)
