"""Configuration keys that analyses register, each for one place of the configuration.

The models of the configuration take registered keys as fields of their own, so that they are
checked, described in `config/schema.json` and documented as all other keys are. Where the analysis
is removed, its key is unknown.
"""

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from moot.core.registry import Registry

Value = TypeVar("Value")
DISPLAY_ONLY: JsonDict = {"display_only": True}
"""Marks a field that leaves the experiment's own debates as they are.

The field chooses what is shown, labelled or run in addition. Every other field changes the digests
of the debates.
"""
DISPLAY_ONLY_OF_BASE: JsonDict = {**DISPLAY_ONLY, "passed_to_controls": False}
"""Marks such a field whose value experiments that control for this one do not take over."""
Place = Literal["config", "experiment", "contrast", "dataset", "people"]
"""Where a key stands: at the top level, or in an experiment, a contrast, a data set or a data set
of people.
"""


@dataclass(frozen=True)
class ConfigSection(Generic[Value]):
    """A registered configuration key.

    Attributes:
        place: where the key stands.
        key: its name.
        model: the type of its value.
        description: what it does, for the reference and the schema.
        marks: of the field, such as `DISPLAY_ONLY` for a key of an experiment on which its debates
            do not depend.
        annotation: the type with its validators, where `model` alone does not say it.
        default: the value where the key is not given.
        module: the module that registers it, where `model` is not a class of that module.
    """

    place: Place
    key: str
    model: type[Value]
    description: str
    marks: JsonDict = field(default_factory=dict)
    annotation: Any = None
    default: Value | None = None
    module: str = ""

    def value_in(self, entry: BaseModel) -> Value | None:
        """Return the value of this key in an entry of the configuration."""
        value: Value | None = getattr(entry, self.key)
        return value


SECTIONS: Registry[ConfigSection[Any]] = Registry("configuration key", "config")


def register_section(section: ConfigSection[Value]) -> ConfigSection[Value]:
    """Make a key known; called by the module `config` of an analysis."""
    SECTIONS.register(f"{section.place}.{section.key}")(section)
    return section


def sections_of(place: Place) -> list[ConfigSection[Any]]:
    """Return the registered keys of a place, sorted by name."""
    sections = [SECTIONS[name] for name in SECTIONS]
    return [section for section in sections if section.place == place]


def display_only_keys(place: Place) -> set[str]:
    """Return the registered keys of a place on which its debates do not depend."""
    return {
        section.key
        for section in sections_of(place)
        if DISPLAY_ONLY.items() <= section.marks.items()
    }


def add_section_fields(base: type[BaseModel], place: Place) -> type[BaseModel]:
    """Return a model with a field for each registered key of a place, from which that place's own
    model is derived.
    """
    fields: dict[str, Any] = {}
    for section in sections_of(place):
        value = Field(
            section.default,
            description=section.description,
            json_schema_extra=section.marks or None,
        )
        fields[section.key] = (section.annotation or section.model | None, value)
    return create_model(f"{place.capitalize()}Sections", __base__=base, **fields)
