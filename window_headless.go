//go:build !desktop

package main

import "berth/command"

// window: this program has none.
var window command.Window
