"""What the next dollar should buy: the facets of a pilot, what they cost, and the table and the
figure of both.
"""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from moot.commands.designs import Designed, design_lines, designed, designs_figure, designs_table
from moot.core.config import PowerConfig
from moot.core.experiment_config import ExperimentConfig
from moot.scores.contrasts import Contrast, Side
from moot.scores.results import ExperimentResults
from results_on_disk import case, experiment_view, prediction, write_results

CASES = [f"c{number:02}" for number in range(30)]
A_DEBATE = 0.02
CONTRAST = Contrast(
    "better",
    "",
    Side("one", ("m",), "accuracy"),
    Side("two", ("m",), "accuracy"),
    "differ",
    True,
    "",
)


def planned(
    contrast: Contrast, found: Mapping[str, ExperimentResults], power: Any = (), **config: Any
) -> Designed:
    names = {"one": "", "two": "", **{name: name.split("=")[1] for name in found if "=" in name}}
    experiments = {
        name: SimpleNamespace(
            config=ExperimentConfig(
                protocol="zero_shot" if name[:3] == "one" else "courtroom", dataset="d", models=["m"], repeats=2,
                prompts=wording, **config,
            )
        )
        for name, wording in names.items()
    }  # fmt: skip
    plan: Any = SimpleNamespace(
        experiments=experiments, config=SimpleNamespace(power=PowerConfig(**dict(power)))
    )

    def results_of(one: Contrast) -> Mapping[str, ExperimentResults]:
        return {side.experiment: found[side.experiment] for side in one.sides}

    design = designed(plan, contrast, "pilot", results_of, 1.0, (len(CASES), len(CASES)), 500)
    assert design is not None
    return design


def study(folder: Path, name: str, chance: Mapping[str, float], **facets: Any) -> ExperimentResults:
    """Answers that are right with a chance of each case;
    `facets`: the levels of each, or a shift of the chance.
    """
    random = np.random.default_rng(len(name))
    shift = facets.pop("shift", 0.0)
    rows = []
    for key, repeat, *levels in product(CASES, range(2), *facets.values()):
        said = "yes" if random.random() < np.clip(chance[key] + shift, 0, 1) else "no"
        whose = dict(zip(facets, levels, strict=True))
        rows.append({**prediction(key, "yes", said, repeat=repeat), "cost_usd": A_DEBATE, **whose})
    cases = [case(key, "yes") for key in CASES]
    view = experiment_view("zero_shot", models=("m",))
    return write_results(folder, cases, {"m": rows}, experiment=name, config=view)


@pytest.fixture
def chances() -> dict[str, float]:
    return dict(
        zip(CASES, np.random.default_rng(5).uniform(0.2, 0.9, len(CASES)).tolist(), strict=True)
    )


def test_debates_that_are_held_again_and_wordings_are_facets_of_their_own(
    tmp_path: Path, chances: Any
) -> None:
    """The second side's accuracy rests on its wording: no number of cases makes up for one wording
    alone.
    """
    found = {"one": study(tmp_path, "one", chances), "two": study(tmp_path, "two", chances)}
    plain = planned(CONTRAST, found)
    assert plain.found.planned == ("case", "asking again") and plain.cost(
        *plain.planned
    ) == pytest.approx(30 * 2 * 2 * A_DEBATE)
    for number, shift in enumerate((-0.4, 0.3, 0.0)):
        found[f"one-prompts=w{number}"] = study(tmp_path, f"one-prompts=w{number}", chances)
        found[f"two-prompts=w{number}"] = study(
            tmp_path, f"two-prompts=w{number}", chances, shift=shift
        )
    worded = planned(CONTRAST, found)
    assert (
        worded.found.planned == ("case", "wording", "asking again")
        and worded.planned[0]["wording"] == 4
    )
    assert worded.cost(*worded.planned) == pytest.approx(4 * plain.cost(*plain.planned))
    rows = designs_table([worded]).frame.set_index("facet")
    floor = rows["without end: standard error"]
    assert floor["cases"] > 3 * floor["wordings"] and rows.loc[
        "cases", "standard error"
    ] == pytest.approx(rows["standard error"])
    said = list(design_lines([worded]))
    assert "twice the wordings 0." in said[0] and ("wordings" in said[1] or "No design" in said[1])
    figure = designs_figure([plain, worded])
    assert [line.get_label() for line in figure.axes[1].lines[:3]] == [
        "cases",
        "wordings",
        "debates of a case",
    ]


def test_judges_of_held_debates_cost_a_verdict_each_and_records_take_their_prices_from_the_configuration(
    tmp_path: Path, chances: Any
) -> None:
    facets = {"judge": [f"j{number}" for number in range(5)], "judge_repeat": range(2)}
    found = {name: study(tmp_path, name, chances, **facets) for name in ("one", "two")}
    prices = {"usd_debate": 1.0, "usd_verdict": 0.01, "standard_error": 0.05}
    judged = planned(CONTRAST, found, prices)
    assert (
        judged.found.planned == ("case", "judge", "debate", "asking again")
        and judged.wanted == 0.05
    )
    assert judged.cost(*judged.planned) == pytest.approx(30 * 2 * (1 + 5 * 2 * 0.01))
    doubled = designs_table([judged]).frame.set_index("facet")["doubled: US dollars"]
    assert doubled["debates of a case"] == pytest.approx(2 * judged.cost(*judged.planned))
    assert (
        doubled["judges"]
        == doubled["answers of a judge"]
        == pytest.approx(30 * 2 * (1 + 10 * 2 * 0.01))
    )


def test_debates_that_both_sides_judge_again_are_shared_and_their_noise_cancels(
    tmp_path: Path,
) -> None:
    """Both judges see how a debate went: what it adds to both is no error of the difference between
    them.
    """
    random, rows = np.random.default_rng(3), dict[str, list[Any]](one=[], two=[])
    for key, repeat in product(CASES, range(2)):
        went = random.random() < 0.5
        for some in rows.values():
            right = went if random.random() < 0.9 else not went
            some.append(
                {
                    **prediction(key, "yes", "yes" if right else "no", repeat=repeat),
                    "cost_usd": A_DEBATE,
                }
            )
    view, cases = experiment_view("rejudge", models=("m",)), [case(key, "yes") for key in CASES]
    found = {
        name: write_results(tmp_path, cases, {"m": some}, experiment=name, config=view)
        for name, some in rows.items()
    }
    judged = planned(CONTRAST, found, params={"beside": "debates", "debated_by": "m"})
    assert judged.found.planned == ("case", "debate") and judged.debate == (0, 0)
    apart = planned(CONTRAST, found)
    assert float(judged.found.error(*judged.planned)) < 0.85 * float(
        apart.found.error(*apart.planned)
    )
