"""What a release rests on: one version, and the schema where catalogues look for it."""

import json
import re

import yaml

from moot import __version__
from project_copy import PROJECT


def test_the_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    software, record = (
        json.loads((PROJECT / name).read_text()) for name in ("codemeta.json", ".zenodo.json")
    )
    assert cited["version"] == software["version"] == record["version"] == __version__
    assert str(cited["date-released"]) == software["datePublished"] == record["publication_date"]
    assert (
        re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
        == __version__
    )


def test_the_catalogue_finds_the_keys_of_the_configuration() -> None:
    assert (PROJECT / "workflow/schemas/config.schema.json").samefile(
        PROJECT / "config/schema.json"
    )
