package acp

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"berth/backend/process"
)

// shell gives what runs a command line, its error output joined to its
// output. PowerShell takes the line encoded, so that nothing of it is quoted
// twice.
func shell(find *process.Supervisor, command string, args []string) (string, []string) {
	line := command
	if len(args) > 0 {
		line = "& " + quote(command)
		for _, a := range args {
			line += " " + quote(a)
		}
	}
	path, err := find.LookPath("powershell.exe")
	if err != nil {
		path = "powershell.exe" // the start says that it is not found
	}
	var wide []byte
	for _, u := range utf16.Encode([]rune("& { " + line + " } 2>&1; exit $LASTEXITCODE")) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	return path, []string{"-NoProfile", "-NonInteractive", "-EncodedCommand", base64.StdEncoding.EncodeToString(wide)}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
