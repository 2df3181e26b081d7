package frontend

import _ "embed"

// Actions is the one table of what the user can do, with labels, keys and
// places in the menu (docs/window.md).
//
//go:embed actions.json
var Actions []byte
