package command

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

const notificationName = "org.freedesktop.Notifications"

// notificationService asks the session bus who shows notifications.
func notificationService() finding {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return finding{"notifications", note, "the session bus does not answer: " + err.Error(), ""}
	}
	defer conn.Close()
	var owned bool
	var activatable []string
	bus := conn.BusObject()
	err = bus.Call("org.freedesktop.DBus.NameHasOwner", 0, notificationName).Store(&owned)
	if err == nil && !owned {
		err = bus.Call("org.freedesktop.DBus.ListActivatableNames", 0).Store(&activatable)
	}
	switch {
	case err != nil:
		return finding{"notifications", note, "the session bus does not answer: " + err.Error(), ""}
	case !owned && !slices.Contains(activatable, notificationName):
		return finding{"notifications", note, "nothing on the session bus shows them", "Install a notification service, such as dunst"}
	}
	return finding{"notifications", fine, notificationName, ""}
}

// sandboxFinding says what the kernel offers to confine unattended work:
// Landlock's ABI (landlock_create_ruleset(2)), and bubblewrap.
func sandboxFinding() finding {
	var have []string
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno == 0 {
		have = append(have, "Landlock ABI "+strconv.Itoa(int(abi)))
	}
	if path, err := exec.LookPath("bwrap"); err == nil {
		have = append(have, "bubblewrap "+path)
	}
	if errno != 0 {
		return finding{"sandbox", note, strings.Join(append([]string{"the kernel has no Landlock"}, have...), ", "), "Unattended work cannot be confined; a kernel from 6.10 on can"}
	}
	return finding{"sandbox", fine, strings.Join(have, ", "), ""}
}
