#!/usr/bin/env bash
# Packs the two Windows programs: build/windows/archive.sh VERSION
set -euo pipefail
target="$PWD/dist/berth-$1-windows-amd64.zip"
mkdir -p dist
rm -f "$target"
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
mkdir "$staging/berth-$1"
cp bin/windows/berth.exe bin/windows/berth-window.exe README.md "$staging/berth-$1/"
# Python is on every system that builds this; zip is not.
(cd "$staging" && python3 -m zipfile -c "$target" "berth-$1")
echo "$target"
