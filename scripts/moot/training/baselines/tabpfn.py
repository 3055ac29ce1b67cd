"""TabPFN, a transformer that reads a training table as its prompt, with the weights of version 2.

Version 2 is the one that the paper's section names, and the last whose weights are free (with
attribution). No package brings weights, and without them the library asks for an account: hence the
look for the file before the library. Source: AgenticSimLaw, Table 3; Hollmann et al. (2025).
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import UnavailableError
from moot.core.optional import import_optional
from moot.training.baselines import baseline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

FOLDER_VARIABLE = "TABPFN_MODEL_CACHE_DIR"
WEIGHTS = ("tabpfn-v2-classifier.ckpt", "tabpfn-v2-classifier-finetuned-zk73skhh.ckpt")


def weights() -> Path:
    """Return the file of version-2 weights.

    It is the first of `WEIGHTS` in the folder that TABPFN_MODEL_CACHE_DIR names.

    Raises:
        UnavailableError: no folder is named, or it holds none of the files.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise UnavailableError(
            f"weights not found: {FOLDER_VARIABLE} names no folder (docs/baselines.md says how)"
        )
    for name in WEIGHTS:
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    raise UnavailableError(
        f"weights not found: no {' or '.join(WEIGHTS)} in {folder} (docs/baselines.md says how)"
    )


@baseline("tabpfn", "TabPFN (version 2)", family=("tabular", "courtroom_paper"), stored=False)
def tabpfn(seed: int, threads: int) -> "Pipeline":
    from moot.training.preprocessing import build_ordinal_pipeline

    path = weights()
    library = import_optional("tabpfn", "tabular")
    # Folds run side by side instead: the order of a sum over several threads would change last
    # digits.
    import_optional("torch", "tabular").set_num_threads(1)
    return build_ordinal_pipeline(
        library.TabPFNClassifier(model_path=path, device="cpu", random_state=seed)
    )
