"""Transformers as baselines, with a tiny random model and without downloads."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.core.errors import UnavailableError
from moot.training.baselines import BASELINES
from moot.training.baselines.transformers import BERT, LAWFORMER, LEGAL_BERT

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny_bert(folder: Path, words: Iterable[str], positions: int = 24) -> Path:
    """Write a BERT with random weights and a vocabulary of whole words; skip without the extra."""
    torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
    transformers = pytest.importorskip(
        "transformers", reason="the extra 'transformers' is not installed"
    )
    vocabulary = list(dict.fromkeys([*SPECIAL_TOKENS, *words]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        max_position_embeddings=positions,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.2,  # at the usual 0.02 one start in six learns no word at all
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        transformers.BertModel(config).save_pretrained(folder)
    return folder


WORDS = ["the", "carrier", "broke", "glass", "buyer", "paid", "late", "a"]
TEXTS = pd.DataFrame({"text": ["the carrier broke the glass", "a buyer paid late"] * 12})
TARGETS = np.array([1, 0] * 12)


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("tiny-bert"), WORDS)


@pytest.mark.parametrize(
    ("name", "variable"), [("cnn-bert", BERT), ("legal-bert", LEGAL_BERT), ("lawformer", LAWFORMER)]
)
def test_a_transformer_learns_a_decisive_word(
    name: str, variable: str, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tiny_bert))
    classifier = BASELINES[name].build(3, 1).set_params(epochs=30, rate=5e-3, batch=8)
    fitted = classifier.fit(TEXTS, TARGETS)
    shares = fitted.predict_proba(TEXTS)
    assert shares.shape == (24, 2) and np.allclose(shares.sum(axis=1), 1)
    assert (fitted.predict(TEXTS) == TARGETS).all()
    second = (
        BASELINES[name].build(3, 1).set_params(epochs=30, rate=5e-3, batch=8).fit(TEXTS, TARGETS)
    )
    assert (second.predict_proba(TEXTS) == shares).all()


def test_long_texts_are_read_to_their_end(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEGAL_BERT, str(tiny_bert))
    filler = "a the " * 15
    long_texts = pd.DataFrame(
        {"text": [filler + text for text in TEXTS["text"]]}
    )  # the window holds 24 tokens
    classifier = BASELINES["legal-bert"].build(3, 1).set_params(epochs=60, rate=5e-3)
    shares = classifier.fit(long_texts, TARGETS).predict_proba(long_texts)
    assert (shares[TARGETS == 1, 1].min()) > (shares[TARGETS == 0, 1].max())


def test_several_labels_are_learnt_at_once(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LAWFORMER, str(tiny_bert))
    both = np.column_stack([TARGETS, 1 - TARGETS, np.ones_like(TARGETS)])
    classifier = (
        BASELINES["lawformer"]
        .build(3, 1)
        .set_params(epochs=60, rate=5e-3, batch=8)
        .fit(TEXTS, both)
    )
    assert (classifier.predict(TEXTS) == both).all()
    assert classifier.predict_proba(TEXTS).shape == (24, 3)


def test_a_missing_model_names_the_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LEGAL_BERT, raising=False)
    with pytest.raises(UnavailableError, match=f"{LEGAL_BERT}|the extra 'transformers'"):
        BASELINES["legal-bert"].build(3, 1)
