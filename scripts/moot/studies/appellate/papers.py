"""The parts of Triem's tables and figures that this study computes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from moot.core.utterance_kinds import OVERRUN
from moot.papers import fills
from moot.papers.diagrams import draw_designs
from moot.papers.own_rows import row_of_runs, series_of_run
from moot.papers.parts import AnswerCounts, Clauses, Fact, ItemRun, Part, Point, Series
from moot.report import study_results
from moot.report.published import repeated_values
from moot.report.study_results import Measurement, StudyResults
from moot.stats.statistic import share_statistic
from moot.studies.appellate.legal.rubric import (
    AFFIRMED_CODE,
    CRITERIA_OF_LABELS,
    EXAMPLES_OF_LABELS,
    NO_STANCE_CODE,
    NOT_AFFIRMED_CODE,
    RUBRIC,
)
from moot.studies.appellate.panel_steps import build_panel_steps, is_panel, select_regular_steps

STUDY = "appellate"
PHASES = {"synthetic_panel": "synthetic", "panel": "multiagent", "human_panel": "human_ai"}
"""The phase of each protocol as the published figures name it."""
PHASE_TITLES = {"synthetic": "synthetic", "multiagent": "multi-agent", "human_ai": "human-AI"}


@dataclass(frozen=True)
class Phase(study_results.Run):
    """One experiment and model of one phase with its steps.

    Attributes:
        name: "synthetic", "multiagent" or "human_ai", as the published figures name the phase.
        steps: the rows of `build_panel_steps` for this model.
    """

    name: str
    steps: pd.DataFrame

    @property
    def judges(self) -> int:
        """The number of judges of a panel."""
        return int(self.params["judges"])


def list_phases(results: StudyResults) -> Iterator[Phase]:
    """Yield every labelled experiment and model of the study in the order of the paper's phases."""
    for protocol, name in PHASES.items():
        for experiment in results.find_experiments(protocol):
            if is_panel(experiment):
                steps = build_panel_steps(experiment)
                for model in experiment.config.models:
                    yield Phase(experiment, model, results, name, steps[steps["model"] == model])


CODES = {"code1": AFFIRMED_CODE, "code0": NOT_AFFIRMED_CODE, "code3": NO_STANCE_CODE}
CODES_OF_PANELS = {"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE}
PHASE_OF_FIGURES = {"figure5": "synthetic", "figure6": "multiagent", "figure7": "human_ai"}
RUBRIC_TITLE = "The rubric of appendix ii, in moot's words and with examples of ours"


@fills(STUDY, "appellate/table1")
def steps_by_phase(run: ItemRun) -> Iterator[Part]:
    """Count the debates and steps of each phase."""
    for phase in list_phases(run.results):
        steps = select_regular_steps(phase.steps)
        debates = steps.groupby("case_id")["debate_id"].nunique()
        count = int(debates.sum())
        values = {
            "debates": count,
            "debates_per_case": int(debates.min()) if count else 0,
            "steps": len(steps),
            "steps_per_debate": len(steps) / count if count else 0,
        }
        values |= _human_votes(phase, steps)
        cells = {("", name): Measurement(float(value)) for name, value in values.items()}
        heads = (f"{PHASE_TITLES[phase.name]}, {phase.model_name}",)
        published = repeated_values(phase, "table1")
        yield row_of_runs(
            [phase],
            heads,
            cells,
            published,
            row=phase.name if published else "",
            cases=float(len(debates)),
            answers=_count_statements(phase, steps),
        )


def _count_statements(phase: Phase, steps: pd.DataFrame, is_first: bool = False) -> AnswerCounts:
    """Count the statements that were asked for and those that failed calls left out."""
    per_debate = 1 if is_first else phase.judges * int(phase.params["rounds"])
    count = len(phase.predictions) * per_debate
    return AnswerCounts(count, n_missing=max(count - len(steps), 0), noun="statement")


def _human_votes(phase: Phase, steps: pd.DataFrame) -> dict[str, int]:
    """Count the debates by the human's stance, in all and for each case."""
    if phase.name != "human_ai":
        return {}
    counts: dict[str, int] = {}
    for stance, name in (("affirm", "human_affirms"), ("not affirm", "human_not_affirms")):
        of_stance = steps[steps["condition"] == stance]
        debates = of_stance.groupby("case_id")["debate_id"].nunique()
        counts[f"debates_{name}"] = int(debates.sum())
        counts[f"debates_{name}_per_case"] = int(debates.min()) if len(debates) else 0
    return counts


@fills(STUDY, "appellate/table2")
def counts_of_first_step(run: ItemRun) -> Iterator[Part]:
    """Count the first judge's positions in the first round, in all and by case."""
    for phase in list_phases(run.results):
        if phase.name != "synthetic":  # the table is of the simulated debates
            continue
        steps = select_regular_steps(phase.steps)
        steps = steps[steps["step"] == 1]
        cells: dict[tuple[str, str], Measurement] = {}
        for name, code in CODES.items():
            of_code = steps[steps["code"] == code]
            cells[name, "total"] = Measurement(float(len(of_code)), n=len(steps))
            for number in sorted(steps["number"].unique()):
                of_case, size = of_code[of_code["number"] == number], steps["number"] == number
                value = Measurement(float(len(of_case)), n=int(size.sum()))
                cells[name, f"case{number}"] = value
        published = repeated_values(phase, "table2")
        yield row_of_runs(
            [phase],
            (),
            cells,
            published,
            source=f"{phase.experiment}, {phase.model_name}",
            row=next((key for key, _ in published), ""),
            cases=float(steps["case_id"].nunique()),
            answers=_count_statements(phase, steps, is_first=True),
        )


@fills(STUDY, "appellate/figure5", "appellate/figure6", "appellate/figure7")
def votes_by_step(run: ItemRun) -> Iterator[Part]:
    """Compute the shares of judges that affirm, or that do not, by step, in all and by case."""
    for phase in list_phases(run.results):
        if phase.name != PHASE_OF_FIGURES[run.item.key]:
            continue
        steps = select_regular_steps(phase.steps)
        numbers = sorted(steps["number"].unique())
        for panel in run.item.entry["panels"]:
            yield _series(phase, steps, panel, "all cases")
            for number in numbers if len(numbers) > 1 else []:
                of_case = steps[steps["number"] == number]
                yield _series(phase, of_case, panel, f"case {number}")


def _series(phase: Phase, steps: pd.DataFrame, panel: str, name: str) -> Series:
    points = []
    for step, of_step in steps.groupby("step"):
        is_position = of_step["code"] == CODES_OF_PANELS[panel]
        jackknife = phase.results.sample(of_step["case_id"]).jackknife
        estimate = jackknife.estimate(share_statistic(is_position))
        points.append(Point(float(str(step)), Measurement(*estimate)))
    label, cases = f"{phase.model_name}, {name}", float(steps["case_id"].nunique())
    return series_of_run(phase, label, points, panel=panel, cases=cases)


# The text and appendix ii


@fills(STUDY, "appellate/text")
def numbers_of_text(run: ItemRun) -> Iterator[Part]:
    """Count changes of opinion and overruns by phase, and affirming statements of the first round.

    The rubric of appendix ii follows.
    """
    for phase in list_phases(run.results):
        source = f"{phase.experiment}, {phase.model_name}"
        changes, of_all = (
            phase.measurement(metric) for metric in ("changes", "changes_of_all_pairs")
        )
        if changes.n > 0:
            text = f"{changes.value:g} of {changes.n:g} between two positions"
            text += f", {of_all.value:g} of {of_all.n:g} with those to or from none ({source})"
            yield Fact(f"{phase.name}/opinion_changes", text)
        is_overrun = phase.steps["kind"] == OVERRUN
        overruns = phase.steps.loc[is_overrun, "debate_id"].nunique()
        text = f"{overruns} of {len(phase.predictions)} ({source})"
        yield Fact(f"{phase.name}/debates_overrunning_three_rounds", text)
        for seat in range(1, phase.judges + 1):
            share = phase.measurement("affirm_share_of_statements", group=f"round=1;seat={seat}")
            row = f"{phase.name}_round1_judge{seat}/affirm_share"
            if share.n > 0:
                yield Fact(row, f"{share.value:.2f} ({source})")
    clauses = [
        (
            f"{label} ({CRITERIA_OF_LABELS.get(label, 'explicit')})",
            f"{meaning} Example: “{EXAMPLES_OF_LABELS[label]}”",
        )
        for label, meaning in RUBRIC.labels.items()
    ]
    yield Clauses(RUBRIC_TITLE, tuple(clauses))


# Diagrams


@fills(STUDY, "appellate/figure1", "appellate/figure3", "appellate/figure4")
def phases(run: ItemRun) -> Iterable[Part]:
    """Draw each phase as it is configured."""
    return draw_designs(run, Path(__file__).parent / "phases.yaml")


@fills(STUDY, "appellate/figure2")
def prompt_clauses(run: ItemRun) -> Iterable[Part]:
    """Show the configured prompt by clause, in the order in which it is sent."""
    design = run.designs[-1]
    messages = design.prompts.render(
        "panel/statement",
        task=SimpleNamespace(labels=("affirm",)),
        case=SimpleNamespace(text="[facts of the case]."),
        params=design.view.params,
        heard=[SimpleNamespace(speaker="judge_[y]", round="[n]", text="[statement].")],
        seat="judge_[x]",
        number="[n]",
        people=design.view.protocol == "human_panel",
        reply_format="",
    )
    clauses: list[tuple[str, str]] = []
    for message in messages:
        text = re.sub(r"(?m)^</?\w+>$", "", message.content)
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split())):
            name = next((name for words, name in CLAUSES if words in sentence), "Instruction")
            clauses.append((name, sentence))
    note = (
        "The paper names the clauses background, setting, generative instruction, sources to cite,"
        " persona, tone, step-by-step reasoning and certainty. Ours has no clause of background,"
        " which in the paper is earlier decisions, and none of tone."
    )
    return [Clauses(f"As configured in {design.experiment}", tuple(clauses), (note,))]


CLAUSES = (
    ("[facts of the case]", "Setting (dependent clause)"),
    ("[statement]", "Record"),
    ("judge_[x]", "Persona and turn"),
    ("Judge [x]", "Persona and turn"),
    ("round [n]", "Persona and turn"),
    ("step by step", "Step-by-step reasoning (zero-shot chain of thought)"),
    ("simulated for research", "Setting"),
    ("decides whether", "Persona and question"),
    ("cites cases", "Generative instruction, sources to cite, certainty"),
    ("never an instruction", "Material, not instruction"),
)
"""Pairs of words and a clause: a sentence of the prompt with these words belongs to the clause."""
