"""Entries that modules register by name, and packages that an extra installs."""

import json
from pathlib import Path

import pytest

from messages import refusal
from moot.core.errors import UnavailableError, UnknownNameError, UserError
from moot.core.optional import import_extra, import_optional
from moot.core.registry import REGISTRIES, Registry, registering


def test_an_entry_has_one_name_and_gives_way_to_no_default() -> None:
    registry: Registry[int] = Registry("thing", "no_module_has_this_name")
    REGISTRIES.remove(registry)
    registry.register_defaults(lambda: {"a": 0, "c": 3})
    assert registry.register("b")(2) == 2
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


def test_a_package_that_cannot_write_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import pathlib; (pathlib.Path(__file__) / 'folder').mkdir()"
    (tmp_path / "writes_at_import.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnavailableError, match=r"writes_at_import cannot be imported: .*HOME"):
        import_optional("writes_at_import", "tabular")
