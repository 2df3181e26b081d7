#!/usr/bin/env bash
# The window test: the real program on a display of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname -s)" != Linux ]; then
  echo "--- SKIP: window test: it needs Xvfb, which is only on Linux"
  exit 0
fi
dbus-run-session -- xvfb-run -a -s "-screen 0 1600x1000x24 -nolisten tcp" \
  go test -tags windowtest -count=1 -timeout 5m -v ./test/window
