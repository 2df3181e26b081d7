package command

import "os/exec"

func notificationService() finding {
	return finding{"notifications", fine, "the system's", ""}
}

func sandboxFinding() finding {
	path, err := exec.LookPath("sandbox-exec")
	if err != nil {
		return finding{"sandbox", note, "sandbox-exec is not there", "Unattended work cannot be confined"}
	}
	return finding{"sandbox", fine, path, ""}
}
