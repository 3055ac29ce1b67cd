"""Where modules of the user's own are found: see `moot.core.extensions`."""

import os
from pathlib import Path

from moot.core.extensions import VARIABLE, add_folder

for folder in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
    add_folder(Path(folder))
