// Package frontend holds the built user interface. `npm run build` writes it
// to dist/app, which is not committed; without it a placeholder page stands
// in, so that the Go code builds and is tested without Node.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files is the built interface with index.html at its root, or the
// placeholder. Built tells them apart.
func Files() fs.FS {
	root := "dist"
	if Built() {
		root = "dist/app"
	}
	files, err := fs.Sub(dist, root)
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return files
}

// Built says whether this binary carries the real interface.
func Built() bool {
	_, err := fs.Stat(dist, "dist/app/index.html")
	return err == nil
}
