"""Classifiers on transformers, with scikit-learn's interface; they read the column `text`.

A text longer than the model's window is cut into overlapping windows. In training every window has
the label of its text. A prediction is the mean of the windows' probabilities. Several labels per
text are learnt together, each with its own output. Needs the extra `transformers`.
"""

from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from moot.core.types import Numbers

Floats = NDArray[np.float64]

EVEN_ODDS = 0.5


class _WindowedClassifier(ClassifierMixin, BaseEstimator):
    """The shared part of both classifiers: windows, the training loop, and means over windows.

    Args:
        window: maximum tokens of a window, limited by the model.
        stride: tokens that neighbouring windows share.
        epochs, batch, rate: of the training, by AdamW.
        seed: for the new layers, the order of windows and dropout.
    """

    learns_several_labels = True

    def __init__(
        self,
        model: str,
        *,
        window: int = 512,
        stride: int = 128,
        epochs: int = 3,
        batch: int = 8,
        rate: float = 3e-5,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.window = window
        self.stride = stride
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.seed = seed

    def _network(self, labels: int) -> torch.nn.Module:
        raise NotImplementedError

    def _logits(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        raise NotImplementedError

    def fit(self, frame: pd.DataFrame, targets: Numbers) -> Self:
        """Train on texts and their labels.

        Args:
            targets: one label per text, or a matrix of zeros and ones, shape (texts, labels).
        """
        self.several_ = np.ndim(targets) > 1
        self.classes_ = np.arange(np.shape(targets)[1]) if self.several_ else np.unique(targets)
        encoded = (
            targets.astype(np.float32) if self.several_ else np.searchsorted(self.classes_, targets)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.tokenizer_ = AutoTokenizer.from_pretrained(self.model)
            self.network_ = self._network(len(self.classes_))
            tokens, text_of = self._windows(frame)
            labels = torch.as_tensor(encoded[text_of.numpy()])
            trained = [weight for weight in self.network_.parameters() if weight.requires_grad]
            optimizer = torch.optim.AdamW(trained, lr=self.rate)
            self.network_.train()
            for _ in range(self.epochs):
                for rows in torch.randperm(len(labels)).split(self.batch):
                    loss = self._loss(self._logits(_rows(tokens, rows)), labels[rows])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        return self

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return probabilities, shape (texts, classes): the mean over each text's windows."""
        tokens, text_of = self._windows(frame)
        self.network_.eval()
        with torch.no_grad():
            shares = [
                self._shares(self._logits(_rows(tokens, rows)))
                for rows in torch.arange(len(text_of)).split(self.batch)
            ]
        by_window = torch.cat(shares).double()
        total = torch.zeros(len(frame), len(self.classes_), dtype=torch.double).index_add_(
            0, text_of, by_window
        )
        counts = torch.bincount(text_of, minlength=len(frame)).unsqueeze(1)
        mean: Floats = (total / counts).numpy()
        return mean

    def predict(self, frame: pd.DataFrame) -> Numbers:
        """Return the most probable label of each text, or a matrix of all likely labels.

        With several labels, those of even or better odds are likely.
        """
        if self.several_:
            return np.asarray(self.predict_proba(frame) >= EVEN_ODDS, dtype=np.int64)
        answers: Numbers = self.classes_[self.predict_proba(frame).argmax(axis=1)]
        return answers

    def _loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if self.several_:
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return torch.nn.functional.cross_entropy(logits, labels)

    def _shares(self, logits: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(logits) if self.several_ else torch.softmax(logits, dim=1)

    def _max_tokens(self) -> int:
        """Return the most tokens of a window, special ones included."""
        return int(min(self.window, self.tokenizer_.model_max_length, _positions(self.network_)))

    def _windows(self, frame: pd.DataFrame) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Return all windows of all texts, padded, and the position of each window's text."""
        longest = self._max_tokens()
        batch = self.tokenizer_(
            list(frame["text"]),
            truncation=True,
            max_length=longest,
            stride=min(self.stride, longest // 4),
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        text_of = batch.pop("overflow_to_sample_mapping")
        return dict(batch), text_of


class FineTunedTransformer(_WindowedClassifier):
    """A pretrained encoder with a classification head, all weights trained."""

    def _network(self, labels: int) -> torch.nn.Module:
        network: torch.nn.Module = AutoModelForSequenceClassification.from_pretrained(
            self.model, num_labels=labels
        )
        return network

    def _logits(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self.network_(**tokens).logits
        return logits


class ConvolutionOverEmbeddings(_WindowedClassifier):
    """A convolutional classifier over the last layer of a frozen encoder (Kim 2014).

    It takes the maxima of filters of widths 3 to 5. The encoder is not trained; it is an embedding
    layer.
    """

    def _network(self, labels: int) -> torch.nn.Module:
        return _Convolution(AutoModel.from_pretrained(self.model), labels)

    def _logits(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self.network_(tokens)
        return logits


class _Convolution(torch.nn.Module):
    def __init__(self, encoder: torch.nn.Module, labels: int, filters: int = 100) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        width = int(encoder.config.hidden_size)
        self.config = encoder.config
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(width, filters, size, padding=size // 2) for size in (3, 4, 5)
        )
        self.head = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(3 * filters, labels))

    def forward(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        with torch.no_grad():
            self.encoder.eval()
            embedded = self.encoder(**tokens).last_hidden_state
        embedded = (embedded * tokens["attention_mask"].unsqueeze(-1)).transpose(1, 2)
        pooled = [torch.relu(layer(embedded)).amax(dim=2) for layer in self.convolutions]
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


def _rows(tokens: dict[str, torch.Tensor], rows: torch.Tensor) -> dict[str, torch.Tensor]:
    return {name: values[rows] for name, values in tokens.items()}


def _positions(network: torch.nn.Module) -> int:
    """Return how many tokens the network's position embeddings can take."""
    return int(getattr(network.config, "max_position_embeddings", 512))
