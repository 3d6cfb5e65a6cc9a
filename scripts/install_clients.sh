#!/usr/bin/env bash
# Install other people's clients of our service into .clients/, where the end-to-end tests find them.
# Nothing is done the second time, unless this list has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
PACKAGES_NPM=(
    @azure-rest/ai-personalizer@1.0.0-beta.1
    @azure/cognitiveservices-personalizer@2.0.1
    @openfeature/ofrep-provider
    @openfeature/ofrep-web-provider
    @openfeature/server-sdk
    @openfeature/web-sdk
    axe-core # which finds barriers on the pages of the dashboard
)
PACKAGES_PYTHON=(
    azure-ai-personalizer==1.0.0b1
    azure-cognitiveservices-personalizer==0.1.1
    openfeature-provider-ofrep
    openfeature-sdk
    "schemathesis>=4.32,<5"
)

if cmp -s "scripts/install_clients.sh" .clients/installed.sh; then exit 0; fi
mkdir -p .clients
(cd .clients && npm install --no-audit --no-fund --no-save --silent "${PACKAGES_NPM[@]}")
"${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --upgrade \
    --target .clients/python "${PACKAGES_PYTHON[@]}"
cp scripts/install_clients.sh .clients/installed.sh
