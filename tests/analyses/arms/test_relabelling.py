"""New names of labels, and answers that are translated back."""

from types import SimpleNamespace
from typing import Any

from moot.analyses.arms.relabelling import LETTERS, relabel
from moot.core.cases import Case, Task
from moot.core.experiment_config import ExperimentConfig


def test_many_labels_get_numbers_which_are_explained_in_the_language_of_the_cases() -> None:
    labels = tuple(f"article {number}" for number in range(len(LETTERS) + 1))
    task = Task("the defendant", "Which?", labels, "", multilabel=True, language="zh")
    case = Case("a", "toy", "test", "Facts.", "article 0;article 1", labels)
    config = ExperimentConfig(protocol="panel", dataset="toy", models=("m",))
    rewording = relabel(config, [case], task)
    names = tuple(f"l{number}" for number in range(1, len(labels) + 1))
    assert rewording.task.labels == rewording.cases[0].labels == names
    first, last = names[0], names[-1]
    assert rewording.cases[0].target == ";".join(sorted((names[-2], last)))
    assert rewording.task.background.startswith(f"{first.upper()}：答案是{labels[-1]}；")
    assert rewording.task.background.endswith(f"{last.upper()}：答案是{labels[0]}。")
    parsed = {"prediction": [first.upper(), "none"], "shares": {first: 0.75}, "confidence": 80}
    utterance = SimpleNamespace(prediction=f"{first};{last}", parsed=parsed)
    debate: Any = SimpleNamespace(utterances=[utterance])
    assert rewording.restore(debate) is debate
    assert utterance.prediction == ";".join(sorted((labels[0], labels[-1])))
    assert utterance.parsed == {
        "prediction": [labels[-1].upper(), "none"],
        "shares": {labels[-1]: 0.75},
        "confidence": 80,
    }
