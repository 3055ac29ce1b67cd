"""Entries that modules register by name, and packages that an extra installs."""

import json

from messages import refusal
from moot.core.errors import UnavailableError, UnknownNameError, UserError
from moot.core.optional import import_extra, import_optional
from moot.core.registry import REGISTRIES, Registry, registering


def test_an_entry_has_one_name_and_gives_way_to_no_default() -> None:
    registry: Registry[int] = Registry("thing", "no_module_has_this_name")
    REGISTRIES.remove(registry)
    registry.register_defaults(lambda: {"a": 0, "c": 3})
    registry.register("b")(2)
    with registering("mine.things"):
        registry.register("a")(1)
        with refusal():
            registry.register("b")(9)
    with refusal():
        registry.register("a")(9)
    with refusal(ValueError):
        registry.register("b")(9)
    assert registry["a"] == 1 and "c" in registry and "d" not in registry
    assert [registry[name] for name in registry] == [1, 2, 3]
    assert registry.extensions == {"a": "mine.things"}
    assert {file for file, _ in registry.places.values()} == {__file__}
    with refusal(UnknownNameError):
        registry["bb"]


def test_a_missing_package_is_named_with_its_extra() -> None:
    assert import_optional("json", "mine") is json is import_extra("json", "mine")
    with refusal(UnavailableError):
        import_optional("no_such_package", "mine")
    with refusal(UserError):
        import_extra("no_such_package", "mine")
