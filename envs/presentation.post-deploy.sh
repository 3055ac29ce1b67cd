#!/usr/bin/env bash
# What presentation.yaml needs beyond conda-forge, with the hashes of lock.txt, as `make lock` writes them: Snakemake copies this
# file alone. Dependencies are listed here or in presentation.yaml.
# Packages: genai-prices httpx2 httpcore2 anyio h11 idna truststore typing-extensions
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
truststore==0.10.5 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:30d36967ccaded5cbb38d602c433f53600036c79d502f4533a49b60a03bbefcd \
    --hash=sha256:9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c
typing-extensions==4.16.0 ; (platform_machine == 'aarch64' or platform_machine == 'x86_64') and sys_platform == 'linux' or sys_platform == 'darwin' \
    --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8 \
    --hash=sha256:dc983d19a509c94dba722ee6abd33940f7c05a89e243c47e907eb4db6f1a43e5
LOCK
