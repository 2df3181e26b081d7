#!/usr/bin/env bash
# Draws build/icon.svg in all sizes, with Chromium, and packs the Windows icon.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for size in 16 32 48 128 256 512 1024; do
  cat >"$scratch/page.html" <<HTML
<body style="margin:0"><img src="file://$here/icon.svg" width="$size" height="$size" style="display:block"></body>
HTML
  "$browser" --headless=new --no-sandbox --user-data-dir="$scratch/profile" --hide-scrollbars \
    --default-background-color=00000000 --window-size="$size,$size" \
    --screenshot="$here/icons/$size.png" "file://$scratch/page.html" >/dev/null 2>&1
done
convert "$here"/icons/{16,32,48,256}.png "$here/windows/icon.ico"
