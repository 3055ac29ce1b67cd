"""Pages of the site outside `docs/`: pages in the folders that they describe, and a build's
results.

A hook of MkDocs; `make site` starts it in the project's folder.
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
ELSEWHERE = {
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
"""Pages outside `docs/`, and where the site has them."""
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?![a-z]+:|#)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


def registries() -> dict[str, str]:
    """The parts of the generated reference by title: a page each."""
    parts = re.split(r"^## ", (ROOT / "docs/reference.md").read_text("utf-8"), flags=re.MULTILINE)
    return dict(part.split("\n", 1) for part in parts[1:])


def place_of(registry: str) -> str:
    return f"reference/{registry.lower().replace(' ', '-')}.md"


def headings() -> dict[str, str]:
    """Where the site has each heading of the reference, the first of a name, by its anchor."""
    found: dict[str, str] = {}
    for title, text in registries().items():
        found.setdefault(f"#{_anchor(title)}", place_of(title))
        for heading in re.findall(r"^#{3,4} (.*)$", text, flags=re.MULTILINE):
            found.setdefault(f"#{_anchor(heading)}", f"{place_of(title)}#{_anchor(heading)}")
    return found


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def on_config(config: MkDocsConfig) -> None:
    """List the pages of registries below Reference, and the pages of folders below Explanation."""
    tabs = {title: pages for entry in config.nav or () for title, pages in entry.items()}
    tabs["Reference"] += [{title: place_of(title)} for title in registries()]
    tabs["Explanation"] += [
        {"Analyses": [f"analyses/{name}.md" for name in ANALYSES]},
        {"Studies": [f"studies/{name}.md" for name in STUDIES]},
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in `docs/`."""
    made = {place: (ROOT / source).read_text("utf-8") for source, place in ELSEWHERE.items()}
    for title, text in registries().items():
        made[place_of(title)] = f"# {title}\n{re.sub('^###', '##', text, flags=re.MULTILINE)}"
    files.remove(files.src_uris["reference.md"])
    intro = (ROOT / "docs/reference.md").read_text("utf-8").partition("\n## ")[0]
    listed = [f"- [{title}]({place_of(title)})" for title in registries()]
    made["reference.md"] = "\n".join([intro, "", *listed])
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    for path in built():
        place = f"{DEMO}/{path.relative_to(RESULTS).as_posix()}"
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def built() -> list[Path]:
    """What a build left to look at; nothing where there is no front page."""
    if not (RESULTS / PAGE).is_file():
        return []
    shown = ("*.html", "tables/**/*.*", "figures/**/*.*", "reader/*.html")
    return sorted(path for pattern in shown for path in RESULTS.glob(pattern))


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Point links at where the site has a page, and show a study's results on its page."""
    here = page.file.src_uri
    default = "docs/reference.md" if here.startswith("reference/") else f"docs/{here}"
    origin = next((source for source, place in ELSEWHERE.items() if place == here), default)

    def on_the_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link["path"]))
        place = ELSEWHERE.get(target) or (
            target.removeprefix("docs/") if target.startswith("docs/") else ""
        )
        if not place and (ROOT / target).exists():
            return link["text"]
        if place == "reference.md" and link["anchor"]:
            heading = headings()[link["anchor"]]
            address = posixpath.relpath(heading, posixpath.dirname(here) or ".")
            return f"[{link['text']}]({address})"
        path = posixpath.relpath(place, posixpath.dirname(here) or ".") if place else link["path"]
        return f"[{link['text']}]({path}{link['anchor'] or ''})"

    text = LINK.sub(on_the_site, markdown)
    if f"{DEMO}/{PAGE}" not in files.src_uris:
        return text
    if here == "index.md":
        text += f"\n[The first page of a run]({DEMO}/{PAGE}), as this version builds it.\n"
    study = here.removeprefix("studies/").removesuffix(".md")
    if study in STUDIES:
        text += "\n\n## What the default run shows\n\n" + results_of(study, files)
    return text


def results_of(study: str, files: Files) -> str:
    """Return the part of the first page on a study, links to its tables and debates, and its
    figures, of the last build.
    """
    of_study = sorted(
        place
        for place in files.src_uris
        if f"/{study}/" in place or place.endswith(f"/{study}.html")
    )
    built_ones = [place for place in of_study if place.startswith(f"{DEMO}/")]
    links = [
        f"- [{place.removeprefix(f'{DEMO}/')}](../{place})"
        for place in built_ones
        if place.endswith(".html")
    ]
    figures = [
        f"![{Path(place).stem}](../{place})" for place in built_ones if place.endswith(".svg")
    ]
    first = (
        f'<iframe src="../{DEMO}/{PAGE}#{study}" title="{study}" width="100%"'
        ' height="640"></iframe>\n\n'
    )
    return first + "\n".join([*links, ""]) + "\n\n".join(["", *figures, ""])


def on_post_template(output_content: str, **_: Any) -> str:
    """Show the search on the page for a missing address, too."""
    return on_post_page(output_content)


def on_post_page(output: str, **_: Any) -> str:
    """Have search work where a page is opened as a file, without the script that the theme fetches
    for it.
    """
    script = (ROOT / "packaging/worker_from_file.js").read_text("utf-8")
    return re.sub(
        r'<script src="?https://unpkg.com/iframe-worker/shim"?></script>',
        lambda _: f"<script>{script}</script>",
        output,
    )
