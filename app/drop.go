package app

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// dropAction tells the page that files were dropped on it.
const dropAction = "files.dropped"

// maxDropped bounds how many files one drop brings.
const maxDropped = 100

// The web view of Linux gives a page no files on a drop, not even their
// names; the toolkit sees their paths. Elsewhere the page gets files itself.

// drop is what was dropped last, and what of it the page may attach.
type drop struct {
	mu    sync.Mutex
	last  dropped
	paths []string
}

// dropped is where files were dropped, in pixels of the page, and what.
type dropped struct {
	X     int           `json:"x"`
	Y     int           `json:"y"`
	Items []droppedItem `json:"items"`
}

type droppedItem struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	Folder bool   `json:"folder"`
	Size   int64  `json:"size"` // bytes, of a file
}

// put keeps a drop; what cannot be looked at is left out.
func (d *drop) put(x, y int, paths []string) {
	found := dropped{X: x, Y: y, Items: []droppedItem{}}
	for _, path := range paths[:min(len(paths), maxDropped)] {
		info, err := os.Stat(path)
		if err != nil || !filepath.IsAbs(path) || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		item := droppedItem{Path: path, Name: info.Name(), Folder: info.IsDir()}
		if !item.Folder {
			item.Size = info.Size()
		}
		found.Items = append(found.Items, item)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last, d.paths = found, paths
}

func (d *drop) take() dropped {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.last
	d.last = dropped{Items: []droppedItem{}}
	return last
}

// allows says whether the user dropped that path. A page may read nothing
// that it only names.
func (d *drop) allows(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.paths, path)
}

func (n *native) takeDropped(w http.ResponseWriter, _ *http.Request) { answer(w, n.drop.take()) }

// attach uploads a dropped file to the backend.
func (n *native) attach(w http.ResponseWriter, r *http.Request) {
	var in struct{ Path string }
	if !read(w, r, &in) {
		return
	}
	if !n.drop.allows(in.Path) {
		refuse(w, http.StatusForbidden, "forbidden", "This file was not dropped on the window.")
		return
	}
	u, err := n.upload(r.Context(), in.Path)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "not_attached", err.Error())
		return
	}
	answer(w, u)
}

func (n *native) upload(ctx context.Context, path string) (any, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("only files can be attached")
	}
	return n.opts.Backend.Upload(ctx, info.Name(), "", info.Size(), f)
}
