//go:build unix

package acp

import "berth/backend/process"

// shell gives what runs a command line, its error output joined to its
// output. Agents put either a program and its arguments or a whole line for a
// shell into the command.
func shell(_ *process.Supervisor, command string, args []string) (string, []string) {
	if len(args) > 0 {
		return "/bin/sh", append([]string{"-c", `exec "$0" "$@" 2>&1`, command}, args...)
	}
	return "/bin/sh", []string{"-c", "exec 2>&1\n" + command}
}
