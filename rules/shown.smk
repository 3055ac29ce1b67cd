# What the jobs of tables and figures write, a job for each module that builds some, and what the report shows of it.


def shown_outputs(kind, study, registry, names, files, ending):
    """The files of some tables or figures (`kind`), and their captions; the report shows those with one ending."""
    captions = {name: f"results/captions/{kind}/{name}.rst" for name in names}

    def in_report(name):
        title, category = registry[name].title, getattr(registry[name], "category", "")
        return report(
            f"results/{kind}/{name}.{ending}",
            # A path that is not absolute would be sought in the folder of the rules.
            caption=Path(captions[name]).absolute(),
            category=study,
            subcategory=f"Figures: {category.lower()}" if category else "Tables",
            labels={kind.removesuffix("s"): title},
        )

    others = [path for path in files(names) if not path.endswith(ending)]
    return [*captions.values(), *others, *map(in_report, names)]


def export_output(name):
    """Where a format is written: a file, or a folder."""
    path = targets.export_path(name, "{experiment}/{model}")
    return path if EXPORTERS[name].ending else directory(path)
