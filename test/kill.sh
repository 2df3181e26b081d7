#!/usr/bin/env bash
# What `make kill` runs: Berth killed at every commit point of a turn.
cd "$(dirname "$0")/.." || exit 1
. test/steps.sh
step clis check go run ./test/clis/cmd/clis || { finish; exit 1; }
step kill go env BERTH_KILL=1 go test ./test/kill -count=1 -timeout 20m -v
finish
