package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Left lists the processes that belong to a state directory, by the
// BERTH_STATE in their environment, except this one: "pid command".
func Left(state string) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	mark := []byte("BERTH_STATE=" + state + "\x00")
	var left []string
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, mark) {
			continue // gone, a zombie, or not ours
		}
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		left = append(left, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(command, []byte{0}, []byte(" "))))
	}
	return left, nil
}
