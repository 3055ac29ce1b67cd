# The outputs and options of the jobs of tables and figures, and the content of Snakemake's report.

from contextlib import suppress


def shown_outputs(kind, registry, names, files, ending):
    """Return the files and captions of tables or figures (`kind`).

    Snakemake's report shows the files with `ending`.
    """
    captions = {name: f"results/captions/{kind}/{name}.rst" for name in names}

    def in_report(name):
        title, category = registry[name].title, getattr(registry[name], "category", "")
        return report(
            f"results/{kind}/{name}.{ending}",
            # Snakemake resolves a relative path from the folder of the rules.
            caption=Path(captions[name]).absolute(),
            category=registry[name].study,
            subcategory=f"Figures: {category.lower()}" if category else "Tables",
            labels={kind.removesuffix("s"): title},
        )

    unreported = [path for path in files(names) if not path.endswith(ending)]
    return [*captions.values(), *unreported, *map(in_report, names)]


def options_of_tables(study, studies):
    """Return a function that returns the configuration on which the tables of studies depend."""
    return lambda wildcards: dependencies.table_options(plan, study, studies)


def options_of_figures(study):
    """Return a function that returns the configuration on which the figures of a study depend."""
    return lambda wildcards: dependencies.presentation_options(plan, study)


def newer_if_partial(job, outputs):
    """Return an input that is newer than a job's outputs if some of them are missing.

    Snakemake compares no parameters of a job of which an output was never built, so that the
    other outputs would stay stale if only they are requested.
    """
    mark = Path(f".snakemake/moot-{job}")
    count = sum(map(os.path.exists, outputs))
    if IS_MAIN and (0 < count < len(outputs) or not mark.exists()):
        with suppress(OSError):
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
    return [user_file(mark)] if mark.exists() else []


def page_files(page):
    """Return the files of a first page; the page of a whole run adds the outcome of all studies."""
    files = [f"results/{page}.html", f"results/outcome/{page}_questions.html"]
    return files + (targets.outcome_files(COMPARISON) if page == INDEX else [])


def outcome_files(study):
    """Return the two files on the outcome of a study, or of all studies (`comparison`)."""
    page = report(
        f"results/outcome/{study}.html",
        category="Outcome",
        labels={"study": "all" if study == COMPARISON else study},
    )
    return {"csv": f"results/outcome/{study}.csv", "html": page}
