"""Configuration keys that analyses register, each for one place of the configuration.

Registered keys become fields of the configuration's models. Therefore they are checked, described
in `config/schema.json` and documented like all other keys. If the analysis is removed, its key is
unknown.
"""

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from moot.core.registry import Registry

Value = TypeVar("Value")
DISPLAY_ONLY: JsonDict = {"display_only": True}
"""Marks a field that does not affect the experiment's own debates.

The field chooses what is shown, labelled or additionally run. Every other field changes the digests
of the debates.
"""
DISPLAY_ONLY_OF_BASE: JsonDict = {**DISPLAY_ONLY, "passed_to_controls": False}
"""Marks such a field whose value is not inherited by experiments that control for this one."""
Place = Literal["config", "experiment", "contrast", "dataset"]
"""The place of a key: the top level, an experiment, a contrast or a data set."""


@dataclass(frozen=True)
class ConfigSection(Generic[Value]):
    """A registered configuration key.

    Attributes:
        place: the place of the key.
        key: its name.
        model: the type of its value.
        description: its effect, for the reference and the schema.
        marks: marks of the field, such as `DISPLAY_ONLY` for a key of an experiment that does not
            affect its debates.
        annotation: the type with its validators, if `model` is not sufficient.
        default: the value of a missing key.
        module: the module that registers it, if `model` is not a class of that module.
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
    """Register a key; the module `config` of an analysis calls this."""
    SECTIONS.register(f"{section.place}.{section.key}")(section)
    return section


def sections_of(place: Place) -> list[ConfigSection[Any]]:
    """Return the registered keys of a place, sorted by name."""
    sections = [SECTIONS[name] for name in SECTIONS]
    return [section for section in sections if section.place == place]


def display_only_keys(place: Place) -> set[str]:
    """Return the registered keys of a place that do not affect its debates."""
    return {
        section.key
        for section in sections_of(place)
        if DISPLAY_ONLY.items() <= section.marks.items()
    }


def add_section_fields(base: type[BaseModel], place: Place) -> type[BaseModel]:
    """Return a model with a field for each registered key of a place.

    The model of that place is derived from it.
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
