"""The control `attribution`, which runs a separate protocol and changes no debate."""

from moot.analyses.attribution.protocol import ATTRIBUTION
from moot.protocols.controls import CONTROLS, Control

CONTROLS.register(ATTRIBUTION)(Control("one turn removed, only the judge asked again"))
