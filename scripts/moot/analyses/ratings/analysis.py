"""The hooks of ratings: one experiment for each pair of debaters of a tournament."""

from pydantic import ValidationError

from moot.analyses.ratings.config import TOURNAMENT
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.hooks import ANALYSES, Analysis
from moot.protocols import PROTOCOLS, pairing_suffix

DEBATERS = 2


class RatingsAnalysis(Analysis):
    """Models that debate each other in pairs."""

    experiment_key = TOURNAMENT.key

    def expand_experiment(
        self, name: str, experiment: ExperimentConfig
    ) -> list[tuple[str, ExperimentConfig]]:
        """Return one experiment for each pair of debaters and each way round, the first in the seat
        that speaks first.

        Raises:
            UserError: the protocol has no two seats that are told what to argue for.
        """
        tournament = TOURNAMENT.value_in(experiment)
        if tournament is None or experiment.protocol not in PROTOCOLS:
            return [(name, experiment)]
        protocol = PROTOCOLS[experiment.protocol]
        try:
            params = protocol.params.model_validate(dict(experiment.params))
        except ValidationError:  # this is reported when the experiment is read
            return [(name, experiment)]
        debaters = protocol.debaters
        sides = debaters.seats(params) if debaters and debaters.assigns_sides(params) else ()
        if len(sides) != DEBATERS:
            raise UserError(
                "a tournament is of two debaters, each told what to argue for; protocol"
                f" '{experiment.protocol}' with these `params` has {len(sides)} such seats. Choose"
                " another protocol or parameters (docs/reference.md)."
            )
        expanded = []
        for pair in tournament.pairs:
            seats = {**params.seats, **dict(zip(sides, pair, strict=True))}
            update = {"params": {**experiment.params, "seats": seats}, TOURNAMENT.key: None}
            expanded.append((name + pairing_suffix(pair), experiment.model_copy(update=update)))
        return expanded


ANALYSES.register("ratings")(RatingsAnalysis())
