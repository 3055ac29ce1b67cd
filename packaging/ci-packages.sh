#!/usr/bin/env bash
# Install the system packages that some tests need, on Debian or Ubuntu as root.
# Without root it installs nothing. It names the programs that are missing and then fails.
set -uo pipefail

PACKAGES=(chromium lmodern munge postgresql slurm-wlm texlive-latex-recommended)
PROGRAMS=(chromium pdflatex munged initdb slurmctld)

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if ! dpkg --status "${PACKAGES[@]}" > /dev/null 2>&1; then
        apt-get update --quiet --quiet
        apt-get install --quiet --quiet --yes --no-install-recommends "${PACKAGES[@]}" > /dev/null
    fi
    if command -v npm > /dev/null && [ ! -d "$(npm root --global)/axe-core" ]; then
        npm install --global --silent axe-core
    fi
fi

missing=()
for program in "${PROGRAMS[@]}"; do
    command -v "$program" > /dev/null || compgen -G "/usr/lib/postgresql/*/bin/$program" > /dev/null || missing+=("$program")
done
if [ "${#missing[@]}" != 0 ]; then
    echo "Not installed: ${missing[*]}. The tests that need them are skipped."
    exit 1
fi
