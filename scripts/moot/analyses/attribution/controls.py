"""The control `attribution`: it is an experiment of its own protocol, and changes no debate."""

from moot.analyses.attribution.protocol import ATTRIBUTION
from moot.protocols.controls import CONTROLS, Control

CONTROLS.register(ATTRIBUTION)(
    Control("one turn taken out or replaced, the judge alone asked again")
)
