# What the jobs of tables and figures write, and what the report shows of it.

import time
from contextlib import suppress


def shown_outputs(kind, registry, names, files, ending):
    """The files of some tables or figures (`kind`), and their captions; the report shows those with one ending."""
    captions = {name: f"results/captions/{kind}/{name}.rst" for name in names}

    def in_report(name):
        title, category = registry[name].title, getattr(registry[name], "category", "")
        return report(
            f"results/{kind}/{name}.{ending}",
            # A path that is not absolute would be sought in the folder of the rules.
            caption=Path(captions[name]).absolute(),
            category=registry[name].study,
            subcategory=f"Figures: {category.lower()}" if category else "Tables",
            labels={kind.removesuffix("s"): title},
        )

    others = [path for path in files(names) if not path.endswith(ending)]
    return [*captions.values(), *others, *map(in_report, names)]


def newer_if_partial(job, outputs):
    """An input that is newer than a job's outputs if some of them are missing, so that the others are built again, too.

    Snakemake compares no parameters then, and tables that a change lets a job build as well leave the others stale.
    """
    mark, built = Path(f".snakemake/moot-{job}"), sum(map(os.path.exists, outputs))
    if IS_MAIN and (0 < built < len(outputs) or not mark.exists()):
        with suppress(OSError):
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
    return [storage_path(str(mark))] if mark.exists() else []


def time_if_unfinished(rule_name):
    """The time, as long as debates wait or all of an experiment failed: then no run ends without saying so again."""

    def now(wildcards):
        built = jobs.inputs(rule_name, **dict(wildcards.items()))
        known = (targets.existing(built[name]) for name in ("predictions", "labels"))
        return 0 if read_outcome(*known).is_finished else time.time()

    return now


def page_files(page):
    """The files of a first page; that of a run shows the outcome of all studies."""
    files = [f"results/{page}.html", f"results/outcome/{page}_questions.html"]
    return files + (targets.outcome_files(COMPARISON) if page == INDEX else [])


def outcome_files(study):
    """The two files on the outcome of a study, or of all (`comparison`)."""
    shown = report(
        f"results/outcome/{study}.html",
        category="Outcome",
        labels={"study": "all" if study == COMPARISON else study},
    )
    return {"csv": f"results/outcome/{study}.csv", "html": shown}
