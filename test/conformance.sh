#!/usr/bin/env bash
# What `make conformance` runs: the real agents at their pinned versions
# against the scripted model.
cd "$(dirname "$0")/.." || exit 1
. test/steps.sh
step clis check go run ./test/clis/cmd/clis || { finish; exit 1; }
# LEAVE_OUT names an agent whose cases are not run.
[ -z "${LEAVE_OUT:-}" ] || echo "conformance: the cases of $LEAVE_OUT are left out"
step conformance go env BERTH_CONFORMANCE=1 go test ./test/conformance -count=1 -timeout 40m -v ${LEAVE_OUT:+-skip "/$LEAVE_OUT\$"}
finish
