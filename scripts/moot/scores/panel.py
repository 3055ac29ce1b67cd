"""Scores of appellate panels: positions by step, volatility, majorities, whom a judge follows, citations, repetition.

A step is one judge's turn in one round. Its code is the label's: 1 affirm, 0 not affirm, 3 no position. The paper
leaves open what counts as a change: here a move between codes 0 and 1 from one round to the next, where both are
positions; pairs in which a code is 3 are no opportunity and are counted apart. Positions by vote (the label that a
judge's model finds most probable after speaking) are scored beside those by statement, as `vote_...`.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from moot.core.kinds import EXTRA, OVERRUN, STATEMENT, VOTE
from moot.legal.citations import count_citations
from moot.legal.rubric import AFFIRMED_CODE, NO_STANCE_CODE, NOT_AFFIRMED_CODE
from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import (
    AMOUNT,
    DIFFERENCE,
    SHARE,
    Bounds,
    ClusterBootstrap,
    Floats,
    Statistic,
    as_numbers,
    mean_statistic,
    ratio,
    ratio_statistic,
)

PROTOCOLS = ("synthetic_panel", "panel", "human_panel")
HUMAN = "human"
SOURCES = ("", "vote_")
_KEYS = ["model", "debate_id", "turn"]
_GRAM = 3


def is_panel(results: ExperimentResults) -> bool:
    """Whether an experiment is one of the three phases, and its statements have labels."""
    return results.config.protocol in PROTOCOLS and not results.labels.empty


def panel_steps(results: ExperimentResults) -> pd.DataFrame:
    """Every statement of an experiment's panels, in order.

    Returns:
        Columns model, debate_id, case_id, number (of the case), repeat, turn, round, speaker, seat (1 to J), step (1 to
        J x rounds), kind, text, confidence, condition (the human's, for the whole debate; ""), label, code, vote (1,
        0, or 3 for none: the judge's vote by likelihood in that round) and belief (that affirming is right, 0 to 1).
    """
    transcripts = results.transcripts
    said = transcripts[transcripts["kind"].isin([STATEMENT, OVERRUN, EXTRA])].copy()
    labels = results.labels.set_index(_KEYS)[["label", "code"]]
    said = said.join(labels, on=_KEYS)
    said["label"] = said["label"].fillna("NONE")
    said["code"] = said["code"].fillna(NO_STANCE_CODE).astype(int)
    judges = int(results.config.params["judges"])
    seat = said["speaker"].str.removeprefix("judge_")
    said["seat"] = seat.where(said["speaker"] != HUMAN, str(judges)).astype(int)
    said["step"] = (said["round"] - 1) * judges + said["seat"]
    said["number"] = said["case_id"].map(case_numbers(results))
    conditions = _conditions(said)
    said["condition"] = [conditions.get(debate, "") for debate in said["debate_id"]]
    votes = transcripts[transcripts["kind"] == VOTE].set_index(["model", "debate_id", "round", "speaker"])
    codes = votes["prediction"].map({"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE})
    share = votes["confidence"] / 100
    voted = pd.DataFrame({
        "vote": codes.fillna(NO_STANCE_CODE).astype(int),
        "belief": share.where(codes == AFFIRMED_CODE, 1 - share).where(codes.notna()),
    })  # fmt: skip
    said = said.join(voted, on=["model", "debate_id", "round", "speaker"])
    human = said["speaker"] == HUMAN
    said["vote"] = said["vote"].where(~human, said["code"]).fillna(NO_STANCE_CODE).astype(int)
    return said.reset_index(drop=True)


def case_numbers(results: ExperimentResults) -> dict[str, int]:
    """Each case's number: the sample's own, or the place of its id."""
    cases = results.cases
    own = [attributes.get("number") for attributes in cases["attributes"]]
    if all(number and str(number).isdigit() for number in own):
        return {case_id: int(str(number)) for case_id, number in zip(cases["case_id"], own, strict=True)}
    return {case_id: place for place, case_id in enumerate(sorted(cases["case_id"]), start=1)}


def _conditions(said: pd.DataFrame) -> dict[str, str]:
    human = said[said["speaker"] == HUMAN]
    parsed = zip(human["debate_id"], human["parsed"], strict=True)
    return {debate: str((json.loads(text) if text else {}).get("condition", "")) for debate, text in parsed}


def regular(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps that the panel's rounds have room for: no overruns, no extra judges."""
    return steps[steps["kind"] == STATEMENT]


def position_changes(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Each pair of a judge's successive rounds.

    Args:
        steps: as `panel_steps` gives them.
        column: code (by statement) or vote.

    Returns:
        Columns model, debate_id, case_id, condition, speaker, seat, round (the earlier one), before, after, opportunity
        (both are positions), changed, through_none (one is no position), and the turns of both statements.
    """
    ordered = regular(steps).sort_values(["model", "debate_id", "seat", "round"])
    seats = ordered.groupby(["model", "debate_id", "seat"], sort=False)
    pairs = ordered.assign(
        before=ordered[column], after=seats[column].shift(-1), turn_after=seats["turn"].shift(-1)
    ).dropna(subset=["after"])
    pairs = pairs.astype({"after": int, "turn_after": int})
    position = pairs[["before", "after"]] != NO_STANCE_CODE
    pairs["opportunity"] = position.all(axis=1)
    pairs["changed"] = pairs["opportunity"] & (pairs["before"] != pairs["after"])
    pairs["through_none"] = position.any(axis=1) & ~position.all(axis=1)
    columns = ["model", "debate_id", "case_id", "condition", "speaker", "seat", "round", "turn", "turn_after"]
    return pairs[[*columns, "before", "after", "opportunity", "changed", "through_none"]].reset_index(drop=True)


def opposing_influences(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """Each chance of an AI judge of a human-AI panel to move towards the human, or towards the other AI judge.

    Only panels of two AI judges and a human. A chance is a pair of rounds in which the judge holds a position before
    and after, and the human and the peer hold one in the earlier round.

    Returns:
        Columns model, debate_id, case_id, seat, round, opposed ("human", "peer", "both" or "nobody": who held the
        opposite position), moved (the judge went to the opposite position).
    """
    held = regular(steps)
    wide = held.pivot_table(
        index=["model", "debate_id", "case_id", "round"], columns="speaker", values=column, aggfunc="first"
    )
    rows: list[tuple[Any, ...]] = []
    if HUMAN not in wide.columns or not {"judge_1", "judge_2"} <= set(wide.columns):
        return pd.DataFrame(rows, columns=["model", "debate_id", "case_id", "seat", "round", "opposed", "moved"])
    entries = {tuple(key): values for key, values in zip(wide.index, wide.to_dict("records"), strict=True)}
    for (model, debate, case, number), now in entries.items():
        later = entries.get((model, debate, case, number + 1))
        if later is None:
            continue
        for seat, peer in (("judge_1", "judge_2"), ("judge_2", "judge_1")):
            values = [now[seat], now[peer], now[HUMAN], later[seat]]
            if any(pd.isna(value) or value == NO_STANCE_CODE for value in values):
                continue
            own, other, human, after = values
            opposed = {(True, True): "both", (True, False): "human", (False, True): "peer", (False, False): "nobody"}
            rows.append((model, debate, case, seat, number, opposed[human != own, other != own], after != own))
    return pd.DataFrame(rows, columns=["model", "debate_id", "case_id", "seat", "round", "opposed", "moved"])


def log_odds_ratio(moved: Floats, human: Floats, peer: Floats) -> Statistic:
    """The logarithm of the odds of moving where the human alone is opposed, over those where the peer alone is.

    Half a move and half a stay are added on each side (Haldane, Anscombe), so that no count of zero makes it infinite.
    """

    def ratio_of_odds(weights: Floats) -> Floats:
        def odds(group: Floats) -> Floats:
            return (weights @ (group * moved) + 0.5) / (weights @ (group * (1 - moved)) + 0.5)

        both = (weights @ human > 0) & (weights @ peer > 0)
        return np.where(both, np.log(odds(human) / odds(peer)), np.nan)

    return Statistic(ratio_of_odds, rows=(human + peer) > 0)


@scorer("panel")
def panel_scores(results: ExperimentResults) -> pd.DataFrame:
    """Scores of an appellate panel by model; no rows for other experiments, and for those without labels."""
    if not is_panel(results):
        return concat_scores([])
    steps = panel_steps(results)
    return concat_scores(
        to_frame(results.experiment, model, _scores(results, steps[steps["model"] == model]))
        for model in results.config.models
    )


def _scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    if steps.empty:
        return
    sources = [prefix for prefix in SOURCES if not prefix or (steps["vote"] != NO_STANCE_CODE).any()]
    for prefix in sources:
        column = "vote" if prefix else "code"
        yield from _position_scores(steps, column, prefix, results)
        yield from _volatility_scores(steps, column, prefix, results)
        yield from _alternation_scores(steps, column, prefix, results)
        yield from _influence_scores(opposing_influences(steps, column), prefix, results)
        yield from _majority_scores(results, steps, column, prefix)
    yield from _stance_scores(steps, results)
    yield from _overrun_scores(steps, results)
    yield from _wording_scores(results, steps)


def _estimate(
    metric: str,
    values: "pd.Series[Any]",
    cases: "pd.Series[str]",
    results: ExperimentResults,
    group: str,
    invalid: int = 0,
    bounds: Bounds = SHARE,
) -> Score:
    return results.sample(cases).score(metric, mean_statistic(values, bounds), group, n_invalid=invalid)


def _position_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    for (number, seat), rows in regular(steps).groupby(["round", "seat"]):
        positions = rows[rows[column] != NO_STANCE_CODE]
        group, none = f"round={number};seat={seat}", len(rows) - len(positions)
        yield _estimate(
            f"{prefix}affirm_share", positions[column] == AFFIRMED_CODE, positions["case_id"], results, group, none
        )
        # As the paper counts: a statement without a position is one that does not affirm.
        yield _estimate(
            f"{prefix}affirm_share_of_statements", rows[column] == AFFIRMED_CODE, rows["case_id"], results, group
        )
        yield _estimate(f"{prefix}position_share", rows[column] != NO_STANCE_CODE, rows["case_id"], results, group)


def _volatility_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    pairs = position_changes(steps, column)
    groups = [("overall", pairs)]
    for number in sorted(pairs["round"].unique()):
        now = pairs[pairs["round"] == number]
        between = f"rounds={number}-{number + 1}"
        groups.append((between, now))
        groups += [(f"{between};seat={seat}", now[now["seat"] == seat]) for seat in sorted(now["seat"].unique())]
    conditions = sorted(set(pairs["condition"]) - {""})
    ai = pairs[pairs["speaker"] != HUMAN]
    groups += [(f"seats=ai;condition={condition}", ai[ai["condition"] == condition]) for condition in conditions]
    groups += [("seats=ai", ai)] if len(ai) < len(pairs) else []
    for group, rows in groups:
        chances = rows[rows["opportunity"]]
        none = len(rows) - len(chances)
        yield _estimate(f"{prefix}volatility", chances["changed"], chances["case_id"], results, group, none)
        changes = float(rows["changed"].sum())
        yield results.sample(chances["case_id"]).count(f"{prefix}changes", changes, group, n_invalid=none)
        through = float(rows["through_none"].sum())
        yield results.sample(rows["case_id"]).count(f"{prefix}transitions_through_none", through, group)


def _alternation_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    """How often judge 2 opposes judge 1 in the same round, and any judge the one before."""
    held = regular(steps)
    index = ["model", "debate_id", "case_id", "round"]
    wide = held.pivot_table(index=index, columns="seat", values=column, aggfunc="first")
    for first, second in zip(wide.columns[:-1], wide.columns[1:], strict=True):
        both = wide[[first, second]].replace(NO_STANCE_CODE, np.nan).dropna().reset_index()
        opposed = both[first] != both[second]
        yield _estimate(
            f"{prefix}alternation", opposed, both["case_id"], results, f"seats={first}-{second}", len(wide) - len(both)
        )


def _influence_scores(chances: pd.DataFrame, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    """Shares of moves by who was opposed, and the odds of the human over the peer with both kinds of interval."""
    for opposed, rows in chances.groupby("opposed"):
        yield _estimate(f"{prefix}moved", rows["moved"], rows["case_id"], results, f"opposed={opposed}")
    if chances.empty:
        return
    moved, human, peer = (
        as_numbers(values) for values in (chances["moved"], chances["opposed"] == "human", chances["opposed"] == "peer")
    )
    compared = (human + peer) > 0
    sample = results.sample(chances.loc[compared, "case_id"])
    by_case = [results.clusters[case] for case in chances["case_id"]]
    for name, clusters in (("case", by_case), ("debate", list(chances["debate_id"]))):
        estimate = np.exp(ClusterBootstrap(clusters, results.seed).estimate(log_odds_ratio(moved, human, peer)))
        value, low, high = (float(end) for end in estimate)
        metric, group = f"{prefix}human_over_peer_odds", f"clusters={name}"
        yield Score(metric, value, low, high, group=group, n=sample.n, n_cases=sample.n_cases)


def _stance_scores(steps: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    """What the human's stance does to the AI judges: their mean where the human affirms less that where not, by round.

    The bank's stance is balanced within each case, so the difference is an effect; in the first round, before the human
    is heard, it can only be chance.
    """
    ai = regular(steps)[regular(steps)["speaker"] != HUMAN]
    for number in sorted(ai["round"].unique()):
        now = ai[(ai["round"] == number) & ai["condition"].isin(["affirm", "not affirm"])]
        for metric, values in (
            ("stance_effect", now["code"].where(now["code"] != NO_STANCE_CODE)),
            ("vote_belief_stance_effect", now["belief"]),
        ):
            known = values.notna()
            if now.loc[known, "condition"].nunique() > 1:
                yield _difference(metric, values[known], now[known], results, f"round={number}", int((~known).sum()))


def _difference(
    metric: str, values: "pd.Series[Any]", rows: pd.DataFrame, results: ExperimentResults, group: str, invalid: int
) -> Score:
    affirming = as_numbers(rows["condition"] == "affirm")
    numbers = as_numbers(values)

    def difference(weights: Floats) -> Floats:
        with_affirm = ratio(weights @ (affirming * numbers), weights @ affirming)
        return with_affirm - ratio(weights @ ((1 - affirming) * numbers), weights @ (1 - affirming))

    sample = results.sample(rows["case_id"])
    return sample.score(metric, Statistic(difference, DIFFERENCE), group, n_invalid=invalid)


def majorities(steps: pd.DataFrame, column: str = "code") -> pd.DataFrame:
    """The majority position of each debate's first and last round: columns model, debate_id, case_id, first, last.

    1, 0, or missing for a tie and for no position at all.
    """
    held = regular(steps)
    positions = held[held[column] != NO_STANCE_CODE]
    share = positions.groupby(["model", "debate_id", "case_id", "round"])[column].mean().unstack("round")
    share = share.reindex(held.set_index(["model", "debate_id", "case_id"]).index.unique())
    decided = share.where(share != 1 / 2).round()
    rounds = sorted(held["round"].unique())
    found = pd.DataFrame({"first": decided.get(rounds[0]), "last": decided.get(rounds[-1])}, index=decided.index)
    return found.reset_index()


def _majority_scores(results: ExperimentResults, steps: pd.DataFrame, column: str, prefix: str) -> Iterator[Score]:
    """How often the first and the last majority are what the real court did (a mixed outcome is not affirmed)."""
    targets = results.cases.set_index("case_id")["target"]
    found = majorities(steps, column)
    truth = found["case_id"].map(targets) == "affirm"
    for stage in ("first", "last"):
        decided = found[stage].notna()
        right = (found.loc[decided, stage] == 1) == truth[decided]
        undecided = int((~decided).sum())
        yield _estimate(
            f"{prefix}majority_accuracy",
            right,
            found.loc[decided, "case_id"],
            results,
            f"majority={stage}",
            undecided,
        )


def _overrun_scores(steps: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    debates = steps.groupby("debate_id").agg(
        case_id=("case_id", "first"), overrun=("kind", lambda kinds: (kinds == "overrun").any())
    )
    yield _estimate("debates_overrunning", debates["overrun"], debates["case_id"], results, "overall")
    held = regular(steps)
    yield results.sample(held["case_id"]).count("missing_statements", float((held["text"] == "").sum()))
    spoken = results.sample(steps["case_id"])
    yield spoken.count("extra_statements", float((steps["kind"] == EXTRA).sum()))
    yield spoken.count("overrun_statements", float((steps["kind"] == OVERRUN).sum()))


def wording_by_step(results: ExperimentResults, steps: pd.DataFrame) -> pd.DataFrame:
    """What can be counted in each statement: columns of `steps` and words, repetition, and the counts of `Citations`.

    Repetition is the share of a statement's rows of three words that stand in the same speaker's earlier statements.
    """
    facts = results.cases.set_index("case_id")["text"]
    spoken = regular(steps)
    spoken = spoken[spoken["text"].str.strip() != ""].sort_values(["model", "debate_id", "turn"])
    cited = [count_citations(text, facts[case]) for text, case in zip(spoken["text"], spoken["case_id"], strict=True)]
    names = ("total", "well_formed", "named_only", "in_case", "unverifiable", "placeholder")
    counts = {name: [getattr(entry, name) for entry in cited] for name in names}
    words = [text.lower().split() for text in spoken["text"]]
    grams = [{tuple(row[start : start + _GRAM]) for start in range(len(row) - _GRAM + 1)} for row in words]
    earlier: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
    repetition = []
    for key, own in zip(zip(spoken["model"], spoken["debate_id"], spoken["speaker"], strict=True), grams, strict=True):
        known = earlier.setdefault(key, set())
        repetition.append(len(own & known) / len(own) if known and own else np.nan)
        known |= own
    return spoken.assign(words=[len(row) for row in words], repetition=repetition, **counts)


def _wording_scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    wording = wording_by_step(results, steps)
    groups: list[tuple[str, pd.DataFrame]] = [("overall", wording)]
    groups += [(f"round={number}", rows) for number, rows in wording.groupby("round")]
    groups += (
        [(f"speaker={HUMAN}", wording[wording["speaker"] == HUMAN])] if (wording["speaker"] == HUMAN).any() else []
    )
    for group, rows in groups:
        for metric, bounds in (("words", AMOUNT), ("repetition", SHARE), ("confidence", (0.0, 100.0))):
            known = rows[rows[metric].notna()]
            if len(known):
                yield _estimate(f"statement_{metric}", known[metric], known["case_id"], results, group, bounds=bounds)
        for name, column in (
            ("citations", "total"),
            ("unverifiable_citations", "unverifiable"),
            ("citations_in_case", "in_case"),
        ):
            yield _estimate(f"{name}_per_statement", rows[column], rows["case_id"], results, group, bounds=AMOUNT)
        formed = ratio_statistic(rows["well_formed"], rows["total"], SHARE)
        share = results.sample(rows["case_id"]).score("well_formed_citations", formed, group)
        yield replace(share, n=int(rows["total"].sum()))
