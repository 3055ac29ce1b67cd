# What the jobs of tables and figures write, a job for each module that builds some, and what the report shows of it.


def group_by_module(registry):
    """What each module of Python builds for a study: a rule's name, the module, the study, and tables or figures.

    Those that would show nothing of this run have a rule of their own, for they are built on request alone.
    """
    built = {}
    for name in registry:
        entry = registry[name]
        if entry.study in plan.studies:
            builder = entry.build.__module__
            rule_name = job_name(entry.study, builder)
            rule_name += "" if plan.can_fill(entry) else "_on_request"
            built.setdefault((rule_name, builder, entry.study), []).append(name)
    return [(*key, found) for key, found in built.items()]


CAPTION = "results/captions/{kind}/{name}.rst"


def job_name(study, builder):
    """The name of a module's jobs and log, which is its study's and its own, once where both are the same."""
    last = builder.rpartition(".")[2]
    return study if last == study else f"{study}_{last}"


def captions(kind, names):
    """The captions that the report shows with tables or figures."""
    return collect(CAPTION, kind=kind, name=names)


def caption_path(kind, name):
    """Where a caption is when the report is made; a path that is not absolute would be sought in the folder of the rules."""
    return Path(CAPTION.format(kind=kind, name=name)).absolute()


def table_outputs(study, names):
    """The files of some tables and their captions; the report shows the pages."""
    return [
        *captions("tables", names),
        *collect("results/tables/{name}.{ending}", name=names, ending=TABLE_ENDINGS),
        *(
            io.report(
                f"results/tables/{name}.html",
                caption=caption_path("tables", name),
                category=study,
                subcategory="Tables",
                labels={"table": TABLES[name].title},
            )
            for name in names
        ),
    ]


def figure_outputs(study, names):
    """The files of some figures and their captions; the report shows the vector graphics."""
    return [
        *captions("figures", names),
        *collect("results/figures/{name}.{ending}", name=names, ending=FIGURE_ENDINGS),
        *(
            io.report(
                f"results/figures/{name}.svg",
                caption=caption_path("figures", name),
                category=study,
                subcategory=f"Figures: {FIGURES[name].category.lower()}",
                labels={"figure": FIGURES[name].title},
            )
            for name in names
        ),
    ]
