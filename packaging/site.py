"""Pages of the site outside `docs/`: pages in other folders, and a build's results.

A hook of MkDocs, which `make site` starts in the project's folder. The other folders are those that
their pages describe.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
RESULTS, DEMO, PAGE = ROOT / "results", "demo", "index.html"
STUDIES = {path.parent.name: path for path in sorted(ROOT.glob("scripts/moot/studies/*/README.md"))}
ANALYSES = {
    path.parent.name: path for path in sorted(ROOT.glob("scripts/moot/analyses/*/README.md"))
}
PLACES_ON_SITE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "config/README.md": "configuration.md",
    "config/prompts_published/README.md": "published-prompts.md",
    "data/raw/README.md": "data.md",
    "profiles/README.md": "profiles.md",
    **{path.relative_to(ROOT).as_posix(): f"studies/{study}.md" for study, path in STUDIES.items()},
    **{path.relative_to(ROOT).as_posix(): f"analyses/{name}.md" for name, path in ANALYSES.items()},
}
"""The place on the site of each page outside `docs/`."""
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?![a-z]+:|#)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


def reference_parts() -> dict[str, str]:
    """Return the parts of the generated reference by title; each becomes a page."""
    parts = re.split(r"^## ", (ROOT / "docs/reference.md").read_text("utf-8"), flags=re.MULTILINE)
    return dict(part.split("\n", 1) for part in parts[1:])


def place_of(registry: str) -> str:
    return f"reference/{registry.lower().replace(' ', '-')}.md"


def heading_addresses() -> dict[str, str]:
    """Return the address of each heading of the reference by its anchor.

    If several headings have the same name, the first one counts.
    """
    addresses: dict[str, str] = {}
    for title, text in reference_parts().items():
        addresses.setdefault(f"#{_anchor(title)}", place_of(title))
        for heading in re.findall(r"^#{3,4} (.*)$", text, flags=re.MULTILINE):
            addresses.setdefault(f"#{_anchor(heading)}", f"{place_of(title)}#{_anchor(heading)}")
    return addresses


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def on_config(config: MkDocsConfig) -> None:
    """List the pages of registries below Reference, and the pages of folders below Explanation."""
    tabs = {title: pages for entry in config.nav or () for title, pages in entry.items()}
    tabs["Reference"] += [{title: place_of(title)} for title in reference_parts()]
    tabs["Explanation"] += [
        {"Analyses": [f"analyses/{name}.md" for name in ANALYSES]},
        {"Studies": [f"studies/{name}.md" for name in STUDIES]},
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in `docs/`."""
    pages = {place: (ROOT / source).read_text("utf-8") for source, place in PLACES_ON_SITE.items()}
    for title, text in reference_parts().items():
        pages[place_of(title)] = f"# {title}\n{re.sub('^###', '##', text, flags=re.MULTILINE)}"
    files.remove(files.src_uris["reference.md"])
    intro = (ROOT / "docs/reference.md").read_text("utf-8").partition("\n## ")[0]
    links = [f"- [{title}]({place_of(title)})" for title in reference_parts()]
    pages["reference.md"] = "\n".join([intro, "", *links])
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    for path in list_built_files():
        place = f"{DEMO}/{path.relative_to(RESULTS).as_posix()}"
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def list_built_files() -> list[Path]:
    """Return the files of the last build that people view; none without a front page."""
    if not (RESULTS / PAGE).is_file():
        return []
    patterns = ("*.html", "tables/**/*.*", "figures/**/*.*", "reader/*.html")
    return sorted(path for pattern in patterns for path in RESULTS.glob(pattern))


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Point links to pages of the site, and show a study's results on its page."""
    page_place = page.file.src_uri
    default = "docs/reference.md" if page_place.startswith("reference/") else f"docs/{page_place}"
    origin = next(
        (source for source, place in PLACES_ON_SITE.items() if place == page_place), default
    )
    folder = posixpath.dirname(page_place) or "."

    def point_to_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link["path"]))
        place = PLACES_ON_SITE.get(target) or (
            target.removeprefix("docs/") if target.startswith("docs/") else ""
        )
        if not place and (ROOT / target).exists():
            return link["text"]
        if place == "reference.md" and link["anchor"]:
            heading = heading_addresses()[link["anchor"]]
            address = posixpath.relpath(heading, folder)
            return f"[{link['text']}]({address})"
        path = posixpath.relpath(place, folder) if place else link["path"]
        return f"[{link['text']}]({path}{link['anchor'] or ''})"

    text = LINK.sub(point_to_site, markdown)
    if f"{DEMO}/{PAGE}" not in files.src_uris:
        return text
    if page_place == "index.md":
        text += f"\n[The first page of a run]({DEMO}/{PAGE}), as this version builds it.\n"
    study = page_place.removeprefix("studies/").removesuffix(".md")
    if study in STUDIES:
        text += "\n\n## What the default run shows\n\n" + results_of(study, files)
    return text


def results_of(study: str, files: Files) -> str:
    """Return what the last build has of a study: its first page's part, links and figures.

    The links are those to its tables and debates.
    """
    study_places = sorted(
        place
        for place in files.src_uris
        if f"/{study}/" in place or place.endswith(f"/{study}.html")
    )
    built_places = [place for place in study_places if place.startswith(f"{DEMO}/")]
    links = [
        f"- [{place.removeprefix(f'{DEMO}/')}](../{place})"
        for place in built_places
        if place.endswith(".html")
    ]
    figures = [
        f"![{Path(place).stem}](../{place})" for place in built_places if place.endswith(".svg")
    ]
    first_page = (
        f'<iframe src="../{DEMO}/{PAGE}#{study}" title="{study}" width="100%"'
        ' height="640"></iframe>\n\n'
    )
    return first_page + "\n".join([*links, ""]) + "\n\n".join(["", *figures, ""])


def on_post_template(output_content: str, **_: Any) -> str:
    """Show the search on the page for a missing address, too."""
    return on_post_page(output_content)


def on_post_page(output: str, **_: Any) -> str:
    """Let the search work on a page that is opened as a file.

    The theme downloads a script for this; the page gets a script of its own instead.
    """
    script = (ROOT / "packaging/worker_from_file.js").read_text("utf-8")
    return re.sub(
        r'<script src="?https://unpkg.com/iframe-worker/shim"?></script>',
        lambda _: f"<script>{script}</script>",
        output,
    )
