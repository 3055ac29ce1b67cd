"""The tables or figures of one study, by name."""

from typing import TypeVar

from moot.core.registry import Registry
from moot.report.content import Figure, Table

Item = TypeVar("Item", Table, Figure)


def of_study(registry: Registry[Item], study: str) -> list[Item]:
    return [registry[name] for name in registry if registry[name].study == study]
