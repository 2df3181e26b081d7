package opencode

// shell changes nothing: a script cannot stand in for PowerShell here.
func (srv *server) shell() (string, error) { return "", nil }
