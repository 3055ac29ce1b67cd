"""YAML by libyaml, which is ten times as fast as Python's reader.

Python's reader handles text that libyaml refuses, with unpaired surrogates.
"""

from collections.abc import Callable, Iterator
from typing import Any

import yaml


def _parse_yaml(parser: Callable[..., Any], text: str) -> Any:
    try:
        return parser(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return parser(text, Loader=yaml.SafeLoader)


def load_yaml(text: str) -> Any:
    """Return the content of a text of plain YAML.

    Raises:
        yaml.YAMLError: with Python's message.
        ValueError: a date or number is impossible; the message has its line.
    """
    try:
        return _parse_yaml(yaml.load, text)
    except ValueError:
        for node in _iterate_scalars(compose_yaml(text), set()):
            try:
                yaml.SafeLoader("").construct_object(node)
            except ValueError as fault:
                raise ValueError(
                    f"line {node.start_mark.line + 1}: found {node.value[:80]} ({fault})"
                ) from None
        raise


def _iterate_scalars(node: yaml.Node | None, visited: set[int]) -> Iterator[yaml.ScalarNode]:
    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.CollectionNode):
        for part in node.value:
            for child in part if isinstance(part, tuple) else [part]:
                yield from _iterate_scalars(child, visited)


def compose_yaml(text: str) -> yaml.Node | None:
    """Return the root node of a text, whose nodes know their lines; raise `yaml.YAMLError`."""
    composed: yaml.Node | None = _parse_yaml(yaml.compose, text)
    return composed
