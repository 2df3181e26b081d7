//go:build !linux

package main

import "errors"

// resident is known on Linux, where the figures are kept.
func resident(int) (int64, error) { return 0, errors.ErrUnsupported }
