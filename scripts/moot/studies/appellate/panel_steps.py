"""The steps of appellate panels: who held which position when, who changed it, and who was opposed
by whom.

A step is one judge's turn in one round. Its code is the label's: 1 affirm, 0 not affirm, 3 no
position. The paper leaves open what counts as a change: here a move between codes 0 and 1 from one
round to the next, where both are positions; pairs in which a code is 3 are no opportunity and are
counted apart. Positions by vote (the label that a judge's model finds most probable after speaking)
are scored in addition to those by statement, as `vote_...`.
"""

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from moot.core.kinds import EXTRA, OVERRUN, STATEMENT, VOTE
from moot.core.rubric import RUBRICS
from moot.scores.labels import successive
from moot.scores.results import OVERALL, ExperimentResults
from moot.studies.appellate.legal.citations import Citations, count_citations
from moot.studies.appellate.legal.rubric import (
    AFFIRMED_CODE,
    CODES,
    NO_STANCE_CODE,
    NONE,
    NOT_AFFIRMED_CODE,
)
from moot.studies.appellate.rubric import APPELLATE

PROTOCOLS = ("synthetic_panel", "panel", "human_panel")
HUMAN = "human"
_KEYS = ["model", "debate_id", "turn"]
_SAID = ("repeat", "round", "speaker", "kind", "text", "confidence", "source")
_GRAM = 3


def is_panel(results: ExperimentResults) -> bool:
    """Whether an experiment is one of the three phases, and its statements have labels of the
    study's rubric.
    """
    by_rubric = results.config.rubric == RUBRICS[APPELLATE]
    return results.config.protocol in PROTOCOLS and by_rubric and not results.labels.empty


def panel_steps(results: ExperimentResults) -> pd.DataFrame:
    """Every statement of an experiment's panels, in order.

    Returns:
        Columns model, debate_id, case_id, number (of the case), repeat, turn, round, speaker, seat
        (1 to J), step (1 to J x rounds), kind, text, confidence, condition (the human's, for the
        whole debate; ""), label, code, vote (1, 0, or 3 for none: the judge's vote by likelihood in
        that round), belief (that affirming is right, 0 to 1), and for corrections predicted and
        predicted_code (by a machine labeller), drawn_label and drawn_code (by people, in the drawn
        sample; else missing and 3), inclusion (the sample's probability; else missing), and spoken
        (whether there are words).
    """
    labels, judges, numbers = (
        results.labels,
        int(results.config.params["judges"]),
        case_numbers(results),
    )

    def steps(transcripts: pd.DataFrame) -> pd.DataFrame:
        mine = labels[labels["debate_id"].isin(transcripts["debate_id"].unique())]
        return _steps(transcripts, mine, judges, numbers)

    return results.gather(steps, [*_SAID, "parsed", "prediction"])


def _steps(
    transcripts: pd.DataFrame, labels: pd.DataFrame, judges: int, numbers: Mapping[str, int]
) -> pd.DataFrame:
    """The statements of some debates, as `panel_steps`; `numbers` are those of the cases."""
    said = transcripts[transcripts["kind"].isin([STATEMENT, OVERRUN, EXTRA])].copy()
    said = said.join(
        labels.set_index(_KEYS)[["label", "code", "predicted", "drawn_label", "inclusion"]],
        on=_KEYS,
    )
    said["label"] = said["label"].fillna(NONE)
    said["code"] = said["code"].fillna(NO_STANCE_CODE).astype(int)
    said["predicted"] = said["predicted"].fillna(NONE)
    for source, code in (("predicted", "predicted_code"), ("drawn_label", "drawn_code")):
        said[code] = said[source].map(CODES).fillna(NO_STANCE_CODE).astype(int)
    said["inclusion"] = said["inclusion"].astype(float)
    said["spoken"] = said["text"].str.strip() != ""
    seat = said["speaker"].str.removeprefix("judge_")
    said["seat"] = seat.where(said["speaker"] != HUMAN, str(judges)).astype(int)
    said["step"] = (said["round"] - 1) * judges + said["seat"]
    said["number"] = said["case_id"].map(numbers)
    conditions = _conditions(said)
    said["condition"] = [conditions.get(debate, "") for debate in said["debate_id"]]
    votes = transcripts[transcripts["kind"] == VOTE].set_index(
        ["model", "debate_id", "round", "speaker"]
    )
    codes = votes["prediction"].map({"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE})
    share = votes["confidence"] / 100
    voted = pd.DataFrame({
        "vote": codes.fillna(NO_STANCE_CODE).astype(int),
        "belief": share.where(codes == AFFIRMED_CODE, 1 - share).where(codes.notna()),
    })  # fmt: skip
    said = said.join(voted, on=["model", "debate_id", "round", "speaker"])
    human = said["speaker"] == HUMAN
    said["vote"] = said["vote"].where(~human, said["code"]).fillna(NO_STANCE_CODE).astype(int)
    return said.drop(columns=["parsed", "prediction"])


def case_numbers(results: ExperimentResults) -> dict[str, int]:
    """Each case's number: the sample's own, or the place of its id."""
    cases = results.cases
    own = [attributes.get("number") for attributes in cases["attributes"]]
    if all(number and str(number).isdigit() for number in own):
        return {
            case_id: int(str(number)) for case_id, number in zip(cases["case_id"], own, strict=True)
        }
    return {case_id: place for place, case_id in enumerate(sorted(cases["case_id"]), start=1)}


def _conditions(said: pd.DataFrame) -> dict[str, str]:
    human = said[said["speaker"] == HUMAN]
    parsed = zip(human["debate_id"], human["parsed"], strict=True)
    return {
        debate: str((json.loads(text) if text else {}).get("condition", ""))
        for debate, text in parsed
    }


def regular(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps that the panel's rounds have room for: no overruns, no extra judges."""
    return steps[steps["kind"] == STATEMENT]


def position_changes(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Each pair of a judge's successive rounds.

    Args:
        steps: as `panel_steps` gives them.
        column: code (by statement) or vote.

    Returns:
        Columns model, debate_id, case_id, condition, speaker, seat, round (the earlier one),
        before, after, opportunity (both are positions), changed, the turns of both statements,
        spoken and inclusion (as of `successive`).
    """
    pairs = successive(regular(steps), column)
    pairs = pairs.assign(before=pairs[column], after=pairs[f"{column}_after"].astype(int))
    pairs["opportunity"] = (pairs[["before", "after"]] != NO_STANCE_CODE).all(axis=1)
    pairs["changed"] = pairs["opportunity"] & (pairs["before"] != pairs["after"])
    columns = [
        "model",
        "debate_id",
        "case_id",
        "condition",
        "speaker",
        "seat",
        "round",
        "turn",
        "turn_after",
    ]
    columns += ["spoken", "inclusion"]
    return pairs[[*columns, "before", "after", "opportunity", "changed"]].reset_index(drop=True)


def groups_of_changes(pairs: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[bool]"]]:
    """The groups in which changes are counted, each with its rows of what `position_changes` gives."""
    yield OVERALL, pd.Series(True, pairs.index)
    for number in sorted(pairs["round"].unique()):
        now, between = pairs["round"] == number, f"rounds={number}-{number + 1}"
        yield between, now
        for seat in sorted(pairs.loc[now, "seat"].unique()):
            yield f"{between};seat={seat}", now & (pairs["seat"] == seat)
    ai = pairs["speaker"] != HUMAN
    for condition in sorted(set(pairs["condition"]) - {""}):
        yield f"seats=ai;condition={condition}", ai & (pairs["condition"] == condition)
    if not ai.all():
        yield "seats=ai", ai


def opposing_influences(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Each chance of an AI judge of a human-AI panel to move towards the human, or towards the
    other AI judge.

        Only panels of two AI judges and a human. A chance is a pair of rounds in which the judge
        holds a position before and after, and the human and the peer hold one in the earlier round.

        Returns:
            Columns model, debate_id, case_id, seat, round, opposed ("human", "peer", "both" or
            "nobody": who held the opposite position), moved (the judge went to the opposite
            position).
    """
    keys = ["model", "debate_id", "case_id", "round"]
    wide = regular(steps).pivot_table(index=keys, columns="speaker", values=column, aggfunc="first")
    wide = wide.replace(NO_STANCE_CODE, np.nan)
    found = [pd.DataFrame(columns=[*keys, "seat", "opposed", "moved"]).set_index(keys)]
    if {HUMAN, "judge_1", "judge_2"} <= set(wide.columns):
        next_round = wide.rename(index=lambda number: number - 1, level="round").reindex(wide.index)
        for seat, peer in (("judge_1", "judge_2"), ("judge_2", "judge_1")):
            positions = pd.DataFrame({"own": wide[seat], "peer": wide[peer], "human": wide[HUMAN]})
            positions = positions.assign(after=next_round[seat]).dropna()
            human, other, moved = (
                positions[name] != positions["own"] for name in ("human", "peer", "after")
            )
            opposed = np.select([human & other, human, other], ["both", "human", "peer"], "nobody")
            found.append(pd.DataFrame({"seat": seat, "opposed": opposed, "moved": moved}))
    return pd.concat(found[len(found) > 1 :]).sort_index(kind="stable").reset_index()


def majorities(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """The majority position of each debate's first and last round: columns model, debate_id,
    case_id, first, last.

        1, 0, or missing for a tie and for no position at all.
    """
    held = regular(steps)
    positions = held[held[column] != NO_STANCE_CODE]
    share = (
        positions.groupby(["model", "debate_id", "case_id", "round"])[column]
        .mean()
        .unstack("round")
    )
    share = share.reindex(held.set_index(["model", "debate_id", "case_id"]).index.unique())
    decided = share.where(share != 1 / 2).round()
    rounds = sorted(held["round"].unique())
    found = pd.DataFrame(
        {"first": decided.get(rounds[0]), "last": decided.get(rounds[-1])}, index=decided.index
    )
    return found.reset_index()


def wording_by_step(results: ExperimentResults, steps: pd.DataFrame) -> pd.DataFrame:
    """What can be counted in each statement: columns of `steps` and words, repetition, and the
    counts of `Citations`.

        Repetition is the share of a statement's rows of three words that occur in the same
        speaker's earlier statements.
    """
    facts = {name: case.text for name, case in results.case_by_id.items()}
    spoken = regular(steps)
    spoken = spoken[spoken["text"].str.strip() != ""].sort_values(["model", "debate_id", "turn"])
    cited = [
        count_citations(text, facts[case])
        for text, case in zip(spoken["text"], spoken["case_id"], strict=True)
    ]
    counts = pd.DataFrame(cited, spoken.index, Citations._fields)
    words = [text.lower().split() for text in spoken["text"]]
    grams = [
        {tuple(row[start : start + _GRAM]) for start in range(len(row) - _GRAM + 1)}
        for row in words
    ]
    earlier: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
    repetition = []
    for key, own in zip(
        zip(spoken["model"], spoken["debate_id"], spoken["speaker"], strict=True),
        grams,
        strict=True,
    ):
        known = earlier.setdefault(key, set())
        repetition.append(len(own & known) / len(own) if known and own else np.nan)
        known |= own
    return spoken.assign(words=[len(row) for row in words], repetition=repetition).join(counts)
