"""The reliability assistant as a fine-tuned transformer that reads case background and opinion.

It is stored only as arrays and texts, so that loading runs no code of the file. It needs the extra
`transformers`.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.core.optional import import_optional
from moot.core.types import Fields, JsonObject
from moot.training.baselines.transformers import EXTRA

if TYPE_CHECKING:
    from moot.training.transformer_classifiers import PairTransformer

MIN_PROBABILITY = 1e-6
"""Probabilities are kept at least this far from 0 and 1, so that log-odds are finite."""


@dataclass(frozen=True)
class OpinionNetwork:
    """A fine-tuned encoder that says how likely an opinion on a case is right."""

    classifier: "PairTransformer"

    def log_odds(self, opinions: pd.DataFrame) -> NDArray[np.float64]:
        """Return the log-odds that each opinion is right, shape (rows, 1).

        Args:
            opinions: columns facts, position and opinion.
        """
        probabilities = self.classifier.predict_proba(_text_pairs(opinions))[:, -1]
        clipped = np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        odds: NDArray[np.float64] = np.log(clipped / (1 - clipped))
        return odds.reshape(-1, 1)

    def as_fields(self) -> JsonObject:
        """Return settings, tokenizer files (base64) and weights (arrays) for storage."""
        weights = {}
        for name, tensor in self.classifier.network_.state_dict().items():
            weights[name] = tensor.detach().cpu().float().numpy()
        return {
            "settings": json.dumps(self.classifier.get_params(), sort_keys=True),
            "config": self.classifier.network_.config.to_json_string(),
            "tokenizer": _files_of(self.classifier.tokenizer_),
            "weights": weights,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> "OpinionNetwork":
        """Build a network from what `as_fields` returned.

        Raises:
            UnavailableError: a library is not installed.
        """
        torch = import_optional("torch", EXTRA)
        transformers = import_optional("transformers", EXTRA)
        from moot.training.transformer_classifiers import PairTransformer

        config = json.loads(fields["config"])
        kind = config.pop("model_type")
        network = transformers.AutoModelForSequenceClassification.from_config(
            transformers.AutoConfig.for_model(kind, **config)
        )
        weights = network.state_dict()
        for name, values in fields["weights"].items():
            weights[name] = torch.as_tensor(np.array(values)).to(weights[name].dtype)
        network.load_state_dict(weights)
        classifier = PairTransformer(**json.loads(fields["settings"]))
        classifier.restore(network, _tokenizer_from(fields["tokenizer"]), np.array([0, 1]))
        return cls(classifier)


def train_network(model: str, opinions: pd.DataFrame, seed: int, **settings: Any) -> OpinionNetwork:
    """Fine-tune a pre-trained encoder on opinions.

    Args:
        model: its folder, or its name on the Hugging Face hub.
        opinions: columns facts, position, opinion and right.
        seed: for the new layer, the order of opinions and dropout.
        settings: of `PairTransformer`, for instance `epochs`.

    Raises:
        UnavailableError: a library is not installed.
    """
    import_optional("torch", EXTRA)
    import_optional("transformers", EXTRA)
    from moot.training.transformer_classifiers import PairTransformer

    classifier = PairTransformer(model, seed=seed, **settings)
    classifier.fit(_text_pairs(opinions), opinions["right"].astype(int).to_numpy())
    return OpinionNetwork(classifier)


def _text_pairs(opinions: pd.DataFrame) -> pd.DataFrame:
    """Return the opinion, after the position that it takes, and the facts of its case."""
    texts: Sequence[str] = [
        f"{position}: {opinion}"
        for position, opinion in zip(opinions["position"], opinions["opinion"], strict=True)
    ]
    return pd.DataFrame({"text": texts, "context": opinions["facts"].to_list()})


def _files_of(tokenizer: Any) -> dict[str, str]:
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        contents = {}
        for path in files:
            name = path.relative_to(folder).as_posix()
            contents[name] = base64.b64encode(path.read_bytes()).decode()
        return contents


def _tokenizer_from(files: Fields) -> Any:
    transformers = import_optional("transformers", EXTRA)
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / Path(name).name
            path.write_bytes(base64.b64decode(content))
        return transformers.AutoTokenizer.from_pretrained(folder)
