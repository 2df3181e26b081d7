#!/usr/bin/env bash
# What `make test` runs once everything is installed and built.
cd "$(dirname "$0")/.." || exit 1
. test/steps.sh
MAKE=${MAKE:-make}

# The linters and the page's own tests leave each other room.
start lint-frontend check "$MAKE" --no-print-directory lint-frontend
start unit-frontend vitest npm --prefix frontend test --silent
settle
step lint-go check "$MAKE" --no-print-directory lint-go
step go go go test -race -p 2 -timeout 10m -v ./...
step browser node test/browser.sh
step window go test/window.sh
finish
