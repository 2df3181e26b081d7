#!/usr/bin/env bash
# The browser tests: the system's Chromium against `berth serve`.
set -euo pipefail
cd "$(dirname "$0")/browser"
[ -d node_modules ] && [ node_modules -nt package-lock.json ] || { npm ci && touch node_modules; }
npm test --silent
