"""The files of the default configuration, and the folders of prompt templates."""

from pathlib import Path

SHIPPED = Path(__file__).resolve().parents[3]
"""The project's folder, with the Snakefile."""
_ANALYSES = Path("scripts", "moot", "analyses")


def default_files(shipped: Path = SHIPPED) -> list[Path]:
    """Return the files of the default configuration, in the order in which they are merged."""
    config = shipped / "config"
    return [
        config / "config.yaml",
        config / "models.yaml",
        *sorted((config / "studies").glob("*.yaml")),
        *sorted((shipped / _ANALYSES).glob("*/config.yaml")),
    ]


def paper_files(shipped: Path = SHIPPED) -> list[Path]:
    """Return the designs of the four papers."""
    return sorted((shipped / "config" / "papers").glob("*.yaml"))


def beyond_files(shipped: Path = SHIPPED) -> list[Path]:
    """Return the designs of the four papers and what moot adds to them, in the order of merging."""
    return [*paper_files(shipped), shipped / "config" / "beyond.yaml"]


def prompt_folders(shipped: Path = SHIPPED) -> list[Path]:
    """Return the folders of prompt templates, of the configuration and of analyses."""
    return [shipped / "config" / "prompts", *sorted((shipped / _ANALYSES).glob("*/prompts"))]


def prompt_templates(shipped: Path = SHIPPED) -> list[Path]:
    """Return every prompt template that ships with moot."""
    templates = list[Path]()
    for folder in prompt_folders(shipped):
        templates += sorted(folder.rglob("*.jinja"))
    return templates
