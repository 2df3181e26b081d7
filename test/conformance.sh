#!/usr/bin/env bash
# What `make conformance` runs: the real agents at their pinned versions
# against the scripted model.
cd "$(dirname "$0")/.." || exit 1
. test/steps.sh
step clis check go run ./test/clis/cmd/clis || { finish; exit 1; }
step conformance go env BERTH_CONFORMANCE=1 go test ./test/conformance -count=1 -timeout 30m -v
finish
