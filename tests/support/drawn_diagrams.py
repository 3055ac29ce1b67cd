"""Diagrams of protocols, as items show them."""

from typing import Any

from moot.llm.prompts import Prompts
from moot.papers.as_published import ExperimentSetting
from moot.papers.parts import Design, Diagram
from moot.protocols import PROTOCOLS
from moot.scores.results import ExperimentView
from paper_items import fill
from results_on_disk import study_of

TOPICS = [
    {"title": "one", "stage": 'the "first": #1 \\ {{ seats }}', "question": "Why?"},
    {"title": "two", "stage": "- 第二 🙂", "question": "How?"},
]
"""Two topics of a decision conference, with stages that have marks of YAML and jinja."""


def draw(item: str, protocol: str, params: dict[str, Any]) -> Diagram:
    """Return the diagram of an item, of one design with some parameters of a protocol."""
    of_item = design(protocol, params)
    (diagram,) = fill(item, study_of(study=of_item.study), of_item)
    assert isinstance(diagram, Diagram)
    return diagram


def design(protocol: str, params: dict[str, Any]) -> Design:
    """Return a design with some parameters of a protocol, and without prompts."""
    values = PROTOCOLS[protocol].params.model_validate(params).model_dump()
    study = PROTOCOLS[protocol].study
    view = ExperimentView(protocol, "data", (), "test", values)
    setting = ExperimentSetting.__new__(ExperimentSetting)
    return Design("mine", study, view, setting, Prompts.__new__(Prompts), {}, True)
