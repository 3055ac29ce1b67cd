"""Digests of the forms that models are asked to fill in.

The JSON schema of a form, docstring and descriptions included, is sent to servers and is part of
the key of each recorded reply. Tests pin its digest, so that an edit is a decision.
"""

import hashlib
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from pydantic import BaseModel

from moot.llm.parsing.schema import json_schema
from moot.protocols import ProtocolParams
from moot.protocols.people import PersonForm

NOT_SENT = (ProtocolParams, PersonForm)


def assert_schema_is_pinned(name: str, schema: type[BaseModel], pinned: str) -> None:
    """Check that the schema of a form has the pinned digest."""
    digest = schema_digest(schema)
    assert digest == pinned, (
        f"The schema of the form {name} has changed. It is sent to servers and is part of the key"
        " of"
        " each recorded reply, so every reply to it will be asked for, and paid for, again. Undo"
        " the edit (a remark for readers of the code is a comment, not a docstring). If the change"
        f" is intended, write {digest} here and name the form in CHANGELOG.md."
    )


def schema_digest(schema: type[BaseModel]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a form's JSON schema."""
    text = json.dumps(json_schema(schema), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def form_names(package: ModuleType) -> Iterator[str]:
    """Yield the names of the forms of a package, and of the functions that make forms."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if _may_ask_models(module.name):
            yield from _forms_of_module(importlib.import_module(module.name))


def _may_ask_models(module: str) -> bool:
    """Return whether a module belongs to a package in which models are asked."""
    is_in_folder = module.startswith(("moot.studies.", "moot.analyses."))
    return not is_in_folder or module.rpartition(".")[2].startswith(("protocol", "panel", "forms"))


def _forms_of_module(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", "") == module.__name__
        if is_own and not name.startswith("_") and (_is_form(value) or _makes_form(value)):
            yield name


def _is_form(value: object) -> bool:
    is_model = inspect.isclass(value) and issubclass(value, BaseModel)
    return is_model and not issubclass(value, NOT_SENT)


def _makes_form(value: object) -> bool:
    function = inspect.unwrap(value) if callable(value) else value  # a cached function is one too
    is_function = inspect.isfunction(function)
    return is_function and function.__annotations__.get("return") == type[BaseModel]
