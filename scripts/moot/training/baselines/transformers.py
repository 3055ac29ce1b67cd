"""Transformers fine-tuned on the training split: Legal-BERT, Lawformer, and a convolution over BERT's embeddings.

No package ships their weights: an environment variable names each one's folder, or its name on the Hugging Face hub.
Sources: Debate-Feedback, 4.1 and Table 2; Chalkidis et al. (2020), Xiao et al. (2021), Kim (2014) for the convolution.
"""

import os
from typing import TYPE_CHECKING

from moot.core.errors import UnavailableError
from moot.core.optional import optional
from moot.training.baselines import baseline

if TYPE_CHECKING:
    from moot.training.transformers import ConvolutionOverEmbeddings, FineTunedTransformer

FAMILY = "transformers"
EXTRA = "transformers"
BERT, LEGAL_BERT, LAWFORMER = "MOOT_BERT_MODEL", "MOOT_LEGAL_BERT_MODEL", "MOOT_LAWFORMER_MODEL"


def named_model(variable: str) -> str:
    """The folder or hub name that an environment variable holds.

    Raises:
        UnavailableError: a library is not installed, or the variable is empty.
    """
    optional("torch", EXTRA)
    optional("transformers", EXTRA)
    if not os.environ.get(variable):
        raise UnavailableError(f"no model named: set {variable} to its folder or its name on the Hugging Face hub")
    return os.environ[variable]


@baseline("cnn-bert", "CNN over BERT embeddings", family=FAMILY, kind="text", stored=False)
def cnn_bert(seed: int, threads: int) -> "ConvolutionOverEmbeddings":
    model = named_model(BERT)
    from moot.training.transformers import ConvolutionOverEmbeddings

    # a convolution learns faster than an encoder would
    return ConvolutionOverEmbeddings(model, epochs=10, batch=16, rate=1e-3, seed=seed)


@baseline("legal-bert", "Legal-BERT, fine-tuned", family=FAMILY, kind="text", stored=False)
def legal_bert(seed: int, threads: int) -> "FineTunedTransformer":
    model = named_model(LEGAL_BERT)
    from moot.training.transformers import FineTunedTransformer

    return FineTunedTransformer(model, seed=seed)


@baseline("lawformer", "Lawformer, fine-tuned", family=FAMILY, kind="text", stored=False)
def lawformer(seed: int, threads: int) -> "FineTunedTransformer":
    model = named_model(LAWFORMER)
    from moot.training.transformers import FineTunedTransformer

    return FineTunedTransformer(model, window=4096, batch=2, seed=seed)
