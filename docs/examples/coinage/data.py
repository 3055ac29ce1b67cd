"""Coins of two sides, made up by seed."""

from pydantic import Field

from moot.core.cases import Case, Task, stratified_splits
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset

TASK = Task(
    noun="the coin", question="Which side is up?", labels=("tails", "heads"), positive="heads"
)


class MintOptions(DatasetOptions):
    """Options of the data set `mint`."""

    coins: int = Field(20, ge=4, description="how many coins")


@dataset("mint", MintOptions)
def load(options: MintOptions, context: LoadContext) -> Loaded:
    """Coins whose text says which side is up."""
    targets = {f"coin-{number}": TASK.labels[number % 2] for number in range(options.coins)}
    splits = stratified_splits(targets, context.seed)
    cases = [
        Case(name, context.name, splits[name], f"{name} shows {target}.", target, TASK.labels)
        for name, target in targets.items()
    ]
    return Loaded(cases, TASK)
