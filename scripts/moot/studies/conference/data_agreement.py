"""Groups of claims on one motion, each attributed to one participant.

The data set is built from Claim Stance and gives the judge of a decision conference a ground truth:
there is agreement if all claims of a group take the same side of the motion. A group is in one
split, and splits share no motion.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb
from random import Random
from typing import Annotated, Any, get_args

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, SplitName, Task, stable_fraction
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.claim_stance_file import FILE, read_claims, with_validation
from moot.datasets.topics import source_folder, source_notes

AGREEMENT, OPEN = "agreement", "open"

OPENINGS = (
    "My view is this: {claim}.",
    "Let me put it this way: {claim}.",
    "What matters most here: {claim}.",
    "I would stress one point: {claim}.",
    "From where I stand: {claim}.",
)


class AgreementOptions(DatasetOptions):
    """Options of the data set `agreement`."""

    sizes: tuple[Annotated[int, Field(ge=2, le=10)], ...] = Field(
        (2,), description="numbers of participants; there is a set of groups for each size"
    )
    per_topic: int = Field(
        20,
        ge=2,
        description="maximum number of groups for each motion and size, half of them in agreement",
    )
    validation: float = Field(
        0.2, ge=0, le=0.5, description="share of the training motions kept for validation"
    )


TASK = Task(
    noun="the discussion",
    question="Do all participants take the same side on the motion?",
    labels=(OPEN, AGREEMENT),
    positive=AGREEMENT,
    meaning={
        OPEN: "the participants take different sides on the motion, and the debate must go on",
        AGREEMENT: "all participants take the same side on the motion",
    },
    background="Each participant has spoken once on a debating motion.",
    cluster="topic",
    notes=("the claims are by different authors, so participants do not answer each other",),
)


@dataset(
    "agreement",
    AgreementOptions,
    folder="claim_stance",
    labels=TASK.labels,
    shipped=("data/samples/claim_stance",),
)
def load(options: AgreementOptions, context: LoadContext) -> Loaded:
    """Load groups of claims, balanced within each motion and size.

    Each motion has as many groups in agreement as not, and the groups in agreement are balanced
    between the two sides, so a motion with few claims has few groups or none. Attributes of a case:
    `topic`, `size`, `stances` ("pro;con", in the order of the speakers), `claims` (their ids).

    Raises:
        UserError: as the data set claim_stance.
    """
    path = source_folder(options.source, context) / "claim_stance" / FILE
    claims = with_validation(read_claims(path), options.validation, context.seed)
    cases = []
    for _, topic in claims.groupby("topic_id", sort=True):
        claim_of_row = {claim.Index: claim for claim in topic.itertuples()}
        for size in options.sizes:
            for rows in draw_groups(topic, size, options.per_topic, context.seed):
                group = [claim_of_row[row] for row in rows]
                cases.append(_build_case(group, context))
    counts = Counter(case.split for case in cases)
    cleaning = {f"{split} groups": counts[split] for split in get_args(SplitName)}
    task = replace(TASK, notes=(*source_notes(options.source), *TASK.notes))
    return Loaded(cases, task, cleaning=cleaning, sources=[path])


def draw_groups(claims: pd.DataFrame, size: int, max_groups: int, seed: int) -> list[list[int]]:
    """Draw at most `max_groups` distinct groups of claims of one motion, as rows of the claims.

    As many groups are in agreement as not. The rows of a group are in speaking order.
    """
    random = Random(f"{seed}/{claims['topic_id'].iloc[0]}/{size}")  # noqa: S311
    pro, con = (list(claims.index[claims["stance"] == stance]) for stance in ("pro", "con"))
    all_pro, all_con = comb(len(pro), size), comb(len(con), size)
    kind_count = min(
        max_groups // 2, all_pro + all_con, comb(len(claims), size) - all_pro - all_con
    )
    same_side_count = (kind_count + random.randint(0, 1)) // 2
    agreeing_pro = min(max(same_side_count, kind_count - all_con), all_pro)
    return [
        *_draw_distinct(random, agreeing_pro, lambda: random.sample(pro, size)),
        *_draw_distinct(random, kind_count - agreeing_pro, lambda: random.sample(con, size)),
        *_draw_distinct(random, kind_count, lambda: _draw_mixed_group(random, pro, con, size)),
    ]


def _draw_mixed_group(
    random: Random, pro: Sequence[int], con: Sequence[int], size: int
) -> list[int]:
    """Return a group with at least one claim of each side."""
    from_pro = random.randint(max(1, size - len(con)), min(size - 1, len(pro)))
    return random.sample(pro, from_pro) + random.sample(con, size - from_pro)


def _draw_distinct(random: Random, count: int, draw: Callable[[], list[int]]) -> list[list[int]]:
    """Draw until there are `count` groups with different members; their order is random."""
    groups: dict[tuple[int, ...], None] = {}
    while len(groups) < count:
        groups[tuple(sorted(draw()))] = None
    return [random.sample(group, len(group)) for group in groups]


def _build_case(group: Sequence[Any], context: LoadContext) -> Case:
    """Return the case of a group of claims, which are rows of the file in speaking order."""
    first_claim = group[0]
    ids = [str(claim.claim_id) for claim in group]
    stances = [claim.stance for claim in group]
    case_id = f"{context.name}-{'-'.join(ids)}"
    speeches = _phrase_claims(case_id, [claim.claim for claim in group])
    text = "\n\n".join([f"Topic: {first_claim.topic}", *speeches])
    target = AGREEMENT if len(set(stances)) == 1 else OPEN
    attributes = {"topic": first_claim.topic, "size": str(len(group))}
    attributes |= {"stances": ";".join(stances), "claims": ";".join(ids)}
    row = int(first_claim.Index)
    return Case(
        case_id, context.name, first_claim.split, text, target, TASK.labels, attributes, row
    )


def _phrase_claims(case_id: str, claims: Sequence[str]) -> list[str]:
    """Return each participant's text: a claim after an opening that does not reveal its side."""
    start = int(stable_fraction("opening", case_id) * len(OPENINGS))
    return [
        f"Participant {number}:"
        f" {OPENINGS[(start + number) % len(OPENINGS)].format(claim=claim.strip().rstrip('.'))}"
        for number, claim in enumerate(claims, start=1)
    ]
