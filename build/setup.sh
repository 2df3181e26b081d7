#!/usr/bin/env bash
# Installs what the system must provide, on Debian and Ubuntu; elsewhere it
# says what is missing. Nothing is done twice.
#
#   build/setup.sh window    to build the window (GTK and WebKit headers)
#   build/setup.sh browser   for the browser tests (Chromium)
#   build/setup.sh display   for the window test (a display of its own, tools)
set -euo pipefail

missing() { # missing PACKAGE... : those that are not installed
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || echo "$p"
  done
}

case "${1:-}" in
  window) packages=(gcc pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev) ;;
  browser) packages=(chromium fonts-noto-color-emoji) ;;
  display) packages=(xvfb openbox dunst dbus dbus-x11 xdotool imagemagick x11-utils) ;;
  *) echo "usage: build/setup.sh window|browser|display" >&2; exit 2 ;;
esac

[ "$(uname -s)" = Linux ] || exit 0 # macOS and Windows bring a web view; the tests use an installed Chrome

if ! command -v dpkg-query >/dev/null; then
  case "$1" in
    window) pkg-config --exists gtk+-3.0 webkit2gtk-4.1 && exit 0 ;;
    browser) command -v chromium chromium-browser google-chrome >/dev/null && exit 0 ;;
    display) command -v Xvfb >/dev/null && command -v xdotool >/dev/null && exit 0 ;;
  esac
  echo "Install with this system's package manager what Debian calls: ${packages[*]}" >&2
  exit 1
fi

# Ubuntu's chromium package is a snap in disguise, which cannot run everywhere.
if [ "$1" = browser ] && command -v google-chrome >/dev/null; then
  packages=(fonts-noto-color-emoji)
fi

need=$(missing "${packages[@]}")
[ -n "$need" ] || exit 0
echo "Installing:" $need
run=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "Run as root, or install: $need" >&2; exit 1; }
  run=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
install() { "${run[@]}" apt-get install -y --no-install-recommends $need </dev/null; }
install || { "${run[@]}" apt-get update && install; }
