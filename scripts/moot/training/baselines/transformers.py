"""Fine-tuned transformers: Legal-BERT, Lawformer, and a convolution over BERT's embeddings.

No package ships their weights. For each one an environment variable gives the folder, or the name
on the Hugging Face hub. Sources: Debate-Feedback, 4.1 and Table 2; Chalkidis et al. (2020), Xiao et
al. (2021), Kim (2014) for the convolution.
"""

import os

from moot.core.errors import UnavailableError
from moot.core.optional import import_optional
from moot.core.types import Estimator
from moot.training.baselines import Builder, baseline

FAMILY = "transformers"
EXTRA = "transformers"
BERT, LEGAL_BERT, LAWFORMER = "MOOT_BERT_MODEL", "MOOT_LEGAL_BERT_MODEL", "MOOT_LAWFORMER_MODEL"


def named_model(variable: str) -> str:
    """Return the folder or hub name in an environment variable.

    Raises:
        UnavailableError: a library is not installed, or the variable is empty.
    """
    import_optional("torch", EXTRA)
    import_optional("transformers", EXTRA)
    if not os.environ.get(variable):
        raise UnavailableError(
            f"no model named: set {variable} to its folder or its name on the Hugging Face hub"
        )
    return os.environ[variable]


def fine_tuned(variable: str, kind: str, **settings: float) -> Builder:
    """Return the builder of a classifier on a transformer.

    It is one of `moot.training.transformer_classifiers`; an environment variable names the
    transformer.
    """

    def build(seed: int, threads: int) -> Estimator:
        model = named_model(variable)
        from moot.training import transformer_classifiers

        return getattr(transformer_classifiers, kind)(model, seed=seed, **settings)

    return build


BUILDERS = {
    # a convolution learns faster than an encoder
    ("cnn-bert", "CNN over BERT embeddings"): fine_tuned(
        BERT, "ConvolutionOverEmbeddings", epochs=10, batch=16, rate=1e-3
    ),
    ("legal-bert", "Legal-BERT, fine-tuned"): fine_tuned(LEGAL_BERT, "FineTunedTransformer"),
    ("lawformer", "Lawformer, fine-tuned"): fine_tuned(
        LAWFORMER, "FineTunedTransformer", window=4096, batch=2
    ),
}
for names, builder in BUILDERS.items():
    baseline(*names, family=FAMILY, kind="text", stored=False)(builder)
