"""YAML by libyaml, which is ten times as fast as Python's reader.

Python's reader handles text that libyaml refuses, with unpaired surrogates.
"""

from typing import Any

import yaml

_MERGE_TAG = "tag:yaml.org,2002:merge"


class _Placed(yaml.constructor.SafeConstructor):
    """Names the place of impossible dates and numbers."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError as fault:
            if not isinstance(node, yaml.ScalarNode):
                raise
            raise ValueError(
                f"line {node.start_mark.line + 1}: found {node.value[:80]} ({fault})"
            ) from None


class _FastLoader(_Placed, yaml.CSafeLoader):
    pass


class _PlainLoader(_Placed, yaml.SafeLoader):
    pass


class _Misread(yaml.CSafeLoader):
    """Collects what YAML reads otherwise than people do.

    These are keys that occur twice in a mapping, of which it takes the last one, and numbers in
    base 8 or 60.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.sentences: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE_TAG:
                continue
            line = key.start_mark.line + 1
            first = lines.setdefault(key.value, line)
            if first != line:
                self.sentences.append(
                    f"line {line}: {key.value}: given twice; line {first} has it, too. Remove one"
                    " of them."
                )
        return super().construct_mapping(node, deep)

    def construct_whole_number(self, node: yaml.ScalarNode) -> int:
        number = self.construct_yaml_int(node)
        try:
            int(node.value, base=0)  # Python refuses 010 and 1:30
        except ValueError:
            self.sentences.append(
                f"line {node.start_mark.line + 1}: found {node.value}, which YAML reads as"
                f" {number}. Write {number} for the number, or '{node.value}' for the text."
            )
        return number


_Misread.add_constructor("tag:yaml.org,2002:int", _Misread.construct_whole_number)


def load_yaml(text: str) -> Any:
    """Return the content of a text of plain YAML.

    Raises:
        yaml.YAMLError: with Python's message.
        ValueError: a date or number is impossible; the message has its line.
    """
    try:
        return yaml.load(text, Loader=_FastLoader)  # noqa: S506 - plain values alone
    except yaml.YAMLError:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - plain values alone


def find_misread(text: str) -> list[str]:
    """Return a sentence for each key that occurs twice and each number that is not decimal.

    A text that is not YAML gets no sentence.
    """
    loader = _Misread(text)
    try:
        loader.get_single_data()
    except (yaml.YAMLError, ValueError):
        return []  # JSON with tabs, which Snakemake reads
    finally:
        loader.dispose()
    return loader.sentences
