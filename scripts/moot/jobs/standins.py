"""Placeholder transcripts and predictions: a preview counts calls that depend on future debates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.core.artifacts import describe, write_rows
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from moot.protocols.debate import Debate, transcript_row


class Placeholders:
    """Transcripts and predictions of a preview's debates, as far as other experiments need them.

    Args:
        plan: the checked configuration.
        ledger: with real replies and placeholders.
        folder: the folder to write to, with the structure of `results/`.
    """

    def __init__(self, plan: Plan, ledger: Ledger, folder: Path) -> None:
        self._ledger, self._folder, self._shards = ledger, folder, plan.config.shards
        self._needed = set[str]()
        for experiment in plan.experiments.values():
            for model in experiment.config.models:
                self._needed.update(experiment.needed_by(model).values())

    def substitute(self, artifacts: Mapping[str, Path], results: Path) -> dict[str, Path]:
        """Return some artifacts below `results`, with placeholders for missing ones if there are
        any.
        """
        paths = {
            name: path if path.exists() else self._folder / path.relative_to(results)
            for name, path in artifacts.items()
        }
        return {name: path for name, path in paths.items() if path.exists()}

    def write(self, experiment: str, model: str, debates: Sequence[Debate]) -> None:
        """Write the artifacts of an experiment and model that others need."""
        shards = [
            f"transcripts/{experiment}/{model}/{shard}.parquet" for shard in range(self._shards)
        ]
        if self._needed & set(shards):
            rows = []
            for debate in debates:
                rows += [transcript_row(debate, utterance) for utterance in debate.utterances]
            # two debates never have equal words, but the placeholders of one endpoint do
            for row in rows:
                row["text"] = f"{row['text']} {row['debate_id']}" if row["text"] else ""
            for shard, shard_rows in zip(shards, [rows, *[[] for _ in shards[1:]]], strict=True):
                write_rows(self._folder / shard, "transcripts", shard_rows, describe(experiment))
        predictions = f"predictions/{experiment}/{model}.parquet"
        if predictions in self._needed:
            costs = [self._debate_cost(debate) for debate in debates]
            write_rows(self._folder / predictions, "predictions", costs, describe(experiment))

    def _debate_cost(self, debate: Debate) -> dict[str, float]:
        """Return the cost of a debate: calls, tokens, dollars."""
        calls = list(
            dict.fromkeys(utterance.call_id for utterance in debate.utterances if utterance.call_id)
        )
        replies = [entry.reply for entry in self._ledger.entries(calls)]
        return {
            "calls": len(replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "completion_tokens": sum(reply.completion_tokens for reply in replies),
            "cost_usd": sum(reply.cost_usd for reply in replies),
        }
