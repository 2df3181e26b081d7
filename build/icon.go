// Package build holds what packages are made of; the program itself takes
// only its icon from here.
package build

import _ "embed"

// Icon is the program's icon, a PNG of 256 pixels.
//
//go:embed icons/256.png
var Icon []byte
