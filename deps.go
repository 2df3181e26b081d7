//go:build never

package main

import (
	_ "github.com/bluekeyes/go-gitdiff/gitdiff"
	_ "github.com/charmbracelet/x/conpty"
	_ "github.com/coder/acp-go-sdk"
	_ "github.com/coder/websocket"
	_ "github.com/creack/pty"
	_ "github.com/danielgtaylor/huma/v2"
	_ "github.com/danielgtaylor/huma/v2/adapters/humago"
	_ "github.com/gen2brain/beeep"
	_ "github.com/spf13/cobra"
	_ "github.com/wailsapp/wails/v2"
	_ "github.com/wailsapp/wails/v2/pkg/options"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/sys/windows"
	_ "golang.org/x/text/unicode/norm"
	_ "pgregory.net/rapid"
)
