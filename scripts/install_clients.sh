#!/usr/bin/env bash
# Install other people's clients of our service into .clients/, where the end-to-end tests find them.
set -euo pipefail
cd "$(dirname "$0")/.."
PACKAGES_NPM=(
    @openfeature/ofrep-provider
    @openfeature/ofrep-web-provider
    @openfeature/server-sdk
    @openfeature/web-sdk
)
PACKAGES_PYTHON=(
    openfeature-provider-ofrep
    openfeature-sdk
)

mkdir -p .clients
(cd .clients && npm install --no-audit --no-fund --no-save --silent "${PACKAGES_NPM[@]}")
"${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --upgrade \
    --target .clients/python "${PACKAGES_PYTHON[@]}"
