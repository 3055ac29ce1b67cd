"""The steps of appellate panels: positions, their changes, and who opposed whom.

A step is one judge's turn in one round. It has the code of the label: 1 affirm, 0 not affirm, 3 no
position. The paper does not define a change. Here it is a move between codes 0 and 1 from one round
to the next. Pairs with a code 3 are not opportunities and are counted separately. Positions by vote
(the label that a judge's model finds most probable after speaking) have scores `vote_...`, in
addition to the scores of positions by statement.
"""

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from moot.core.natural_order import natural_key
from moot.core.rubric import RUBRICS
from moot.core.utterance_kinds import EXTRA, OVERRUN, STATEMENT, VOTE
from moot.scores.labels import successive
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL
from moot.studies.appellate.legal.rubric import (
    AFFIRMED_CODE,
    NO_STANCE_CODE,
    NONE,
    NOT_AFFIRMED_CODE,
)
from moot.studies.appellate.legal.rubric_rules import APPELLATE

PROTOCOLS = ("synthetic_panel", "panel", "human_panel")
HUMAN = "human"
_KEYS = ["model", "debate_id", "turn"]
_UTTERANCE_COLUMNS = ("repeat", "round", "speaker", "kind", "text", "confidence", "source")


def is_panel(results: ExperimentResults) -> bool:
    """Return whether an experiment is one of the three phases and has the study's labels."""
    by_rubric = results.config.rubric == RUBRICS[APPELLATE]
    return results.config.protocol in PROTOCOLS and by_rubric and not results.labels.empty


def build_panel_steps(results: ExperimentResults) -> pd.DataFrame:
    """Return every statement of an experiment's panels, in order.

    Returns:
        Columns model, debate_id, case_id, number (of the case), repeat, turn, round, speaker, seat
        (1 to J), step (1 to J x rounds), kind, text, confidence, condition (the human's stance in
        the debate, or ""), label, code, vote (the judge's vote by likelihood in that round: 1, 0,
        or 3 for none) and belief (that affirming is right, 0 to 1).
    """
    labels = results.labels
    judges = int(results.config.params["judges"])
    numbers = number_cases(results)

    def steps(transcripts: pd.DataFrame) -> pd.DataFrame:
        debate_labels = labels[labels["debate_id"].isin(transcripts["debate_id"].unique())]
        return _build_steps(transcripts, debate_labels, judges, numbers)

    return results.gather(steps, [*_UTTERANCE_COLUMNS, "parsed", "prediction"])


def _build_steps(
    transcripts: pd.DataFrame, labels: pd.DataFrame, judges: int, numbers: Mapping[str, int]
) -> pd.DataFrame:
    """Return the steps of some debates as `build_panel_steps` does; `numbers` are by case id."""
    steps = transcripts[transcripts["kind"].isin([STATEMENT, OVERRUN, EXTRA])].copy()
    steps = steps.join(labels.set_index(_KEYS)[["label", "code"]], on=_KEYS)
    steps["label"] = steps["label"].fillna(NONE)
    steps["code"] = steps["code"].fillna(NO_STANCE_CODE).astype(int)
    seat = steps["speaker"].str.removeprefix("judge_")
    steps["seat"] = seat.where(steps["speaker"] != HUMAN, str(judges)).astype(int)
    steps["step"] = (steps["round"] - 1) * judges + steps["seat"]
    steps["number"] = steps["case_id"].map(numbers)
    conditions = _read_conditions(steps)
    steps["condition"] = [conditions.get(debate, "") for debate in steps["debate_id"]]
    votes = transcripts[transcripts["kind"] == VOTE].set_index(
        ["model", "debate_id", "round", "speaker"]
    )
    codes = votes["prediction"].map({"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE})
    share = votes["confidence"] / 100
    vote_columns = pd.DataFrame(
        {
            "vote": codes.fillna(NO_STANCE_CODE).astype(int),
            "belief": share.where(codes == AFFIRMED_CODE, 1 - share).where(codes.notna()),
        }
    )
    steps = steps.join(vote_columns, on=["model", "debate_id", "round", "speaker"])
    is_human = steps["speaker"] == HUMAN
    steps["vote"] = steps["vote"].where(~is_human, steps["code"]).fillna(NO_STANCE_CODE).astype(int)
    return steps.drop(columns=["parsed", "prediction"])


def number_cases(results: ExperimentResults) -> dict[str, int]:
    """Number the cases by the sample's numbers, or else by the order of their ids."""
    cases = results.cases
    sample_numbers = [str(attributes.get("number") or "") for attributes in cases["attributes"]]
    if all(number.isdigit() for number in sample_numbers):
        return dict(zip(cases["case_id"], map(int, sample_numbers), strict=True))
    case_ids = sorted(cases["case_id"], key=natural_key)
    return {case_id: number for number, case_id in enumerate(case_ids, start=1)}


def _read_conditions(steps: pd.DataFrame) -> dict[str, str]:
    """Return the human's stance by debate."""
    human_steps = steps[steps["speaker"] == HUMAN]
    conditions = {}
    for debate_id, parsed in zip(human_steps["debate_id"], human_steps["parsed"], strict=True):
        conditions[debate_id] = str((json.loads(parsed) if parsed else {}).get("condition", ""))
    return conditions


def select_regular_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Select the steps of the panel's judges and rounds.

    Overruns, extra judges and the placeholders of failed calls are left out.
    """
    has_words = steps["text"].str.strip() != ""
    return steps[(steps["kind"] == STATEMENT) & has_words]


def pair_positions(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Pair the positions of each judge in successive rounds.

    Args:
        steps: the result of `build_panel_steps`.
        column: "code" (by statement) or "vote".

    Returns:
        Columns model, debate_id, case_id, condition, speaker, seat, round (the earlier one), turn,
        turn_after, before, after, opportunity (whether both are positions) and changed.
    """
    pairs = successive(select_regular_steps(steps), column)
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
    return pairs[[*columns, "before", "after", "opportunity", "changed"]].reset_index(drop=True)


def group_pairs(pairs: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[bool]"]]:
    """Yield the groups in which changes are counted, each with a mask of the rows of `pairs`."""
    yield OVERALL, pd.Series(True, pairs.index)
    for number in sorted(pairs["round"].unique()):
        in_round, group = pairs["round"] == number, f"rounds={number}-{number + 1}"
        yield group, in_round
        for seat in sorted(pairs.loc[in_round, "seat"].unique()):
            yield f"{group};seat={seat}", in_round & (pairs["seat"] == seat)
    is_ai = pairs["speaker"] != HUMAN
    for condition in sorted(set(pairs["condition"]) - {""}):
        yield f"seats=ai;condition={condition}", is_ai & (pairs["condition"] == condition)
    if not is_ai.all():
        yield "seats=ai", is_ai


def find_opposing_influences(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Return each chance of an AI judge to move towards the human or the other AI judge.

    Only panels of two AI judges and a human have chances. A chance is a pair of rounds in which the
    judge has a position before and after, and the human and the peer have one in the earlier round.

    Returns:
        Columns model, debate_id, case_id, round, seat, opposed (who had the opposite position:
        "human", "peer", "both" or "nobody") and moved (whether the judge adopted the opposite
        position).
    """
    keys = ["model", "debate_id", "case_id", "round"]
    positions_by_speaker = select_regular_steps(steps).pivot_table(
        index=keys, columns="speaker", values=column, aggfunc="first"
    )
    positions_by_speaker = positions_by_speaker.replace(NO_STANCE_CODE, np.nan)
    frames = [pd.DataFrame(columns=[*keys, "seat", "opposed", "moved"]).set_index(keys)]
    if {HUMAN, "judge_1", "judge_2"} <= set(positions_by_speaker.columns):
        next_round = positions_by_speaker.rename(
            index=lambda number: number - 1, level="round"
        ).reindex(positions_by_speaker.index)
        for seat, peer in (("judge_1", "judge_2"), ("judge_2", "judge_1")):
            positions = pd.DataFrame(
                {
                    "own": positions_by_speaker[seat],
                    "peer": positions_by_speaker[peer],
                    "human": positions_by_speaker[HUMAN],
                }
            )
            positions = positions.assign(after=next_round[seat]).dropna()
            human_opposes, peer_opposes, has_moved = (
                positions[name] != positions["own"] for name in ("human", "peer", "after")
            )
            opposed = np.select(
                [human_opposes & peer_opposes, human_opposes, peer_opposes],
                ["both", "human", "peer"],
                "nobody",
            )
            frames.append(pd.DataFrame({"seat": seat, "opposed": opposed, "moved": has_moved}))
    return pd.concat(frames[len(frames) > 1 :]).sort_index(kind="stable").reset_index()


def find_majorities(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Return the majority position of each debate's first and last round.

    Returns:
        Columns model, debate_id, case_id, first and last: 1, 0, or missing for a tie and for rounds
        without a position.
    """
    regular_steps = select_regular_steps(steps)
    positions = regular_steps[regular_steps[column] != NO_STANCE_CODE]
    share = (
        positions.groupby(["model", "debate_id", "case_id", "round"])[column]
        .mean()
        .unstack("round")
    )
    share = share.reindex(regular_steps.set_index(["model", "debate_id", "case_id"]).index.unique())
    majority_codes = share.where(share != 1 / 2).round()
    rounds = sorted(regular_steps["round"].unique())
    majorities = pd.DataFrame(
        {"first": majority_codes.get(rounds[0]), "last": majority_codes.get(rounds[-1])},
        index=majority_codes.index,
    )
    return majorities.reset_index()
