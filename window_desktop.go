//go:build desktop

package main

import (
	"berth/app"
	"berth/command"
)

// window is the native one.
var window command.Window = app.Run
