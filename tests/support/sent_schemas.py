"""Digests of the forms that models are asked to fill in.

The JSON schema of a form, docstring and descriptions included, is sent to servers and is part of
the key of each recorded reply. Tests pin its digest, so that an edit is a decision.
"""

import hashlib
import json

from pydantic import BaseModel

from moot.llm.parsing.schema import json_schema


def assert_schema_is_pinned(name: str, schema: type[BaseModel], pinned: str) -> None:
    """Check that the schema of a form has the pinned digest."""
    digest = schema_digest(schema)
    assert digest == pinned, (
        f"The schema of the form {name} has changed. It is sent to servers and is part of the key"
        " of each recorded reply, so every reply to it will be asked for, and paid for, again. Undo"
        " the edit (a remark for readers of the code is a comment, not a docstring). If the change"
        f" is intended, write {digest} here and name the form in CHANGELOG.md."
    )


def schema_digest(schema: type[BaseModel]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a form's JSON schema."""
    text = json.dumps(json_schema(schema), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
