#!/usr/bin/env bash
# Makes Berth.app and packs it, on macOS: build/darwin/bundle.sh VERSION
# It is signed with the identity in $BERTH_SIGN, else only for this machine.
set -euo pipefail
app=dist/Berth.app
rm -rf "$app"
mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources"
cp bin/berth "$app/Contents/MacOS/berth"
sed "s/@VERSION@/$1/" build/darwin/Info.plist >"$app/Contents/Info.plist"

set=$(mktemp -d)/Berth.iconset
mkdir "$set"
for size in 16 32 128 256 512; do
  cp "build/icons/$size.png" "$set/icon_${size}x${size}.png"
  double=$((size * 2))
  if [ -f "build/icons/$double.png" ]; then
    cp "build/icons/$double.png" "$set/icon_${size}x${size}@2x.png"
  fi
done
iconutil -c icns -o "$app/Contents/Resources/Berth.icns" "$set"
rm -rf "$(dirname "$set")"

codesign --force --deep --options runtime --sign "${BERTH_SIGN:--}" "$app"
ditto -c -k --keepParent "$app" "dist/berth-$1-macos-$(uname -m).zip"
echo "dist/berth-$1-macos-$(uname -m).zip"
