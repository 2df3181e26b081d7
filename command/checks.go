package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"berth/backend/alert"
)

// gitPatience is how long git may take to tell its version.
const gitPatience = 5 * time.Second

func berthFinding(window bool) finding {
	kind := "with a window"
	if !window {
		kind = "without a window"
	}
	return finding{"berth", fine, fmt.Sprintf("%s, %s, %s/%s", version(), kind, runtime.GOOS, runtime.GOARCH), ""}
}

// stateFinding looks whether the state directory can be written.
func stateFinding(state string) finding {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return finding{"state", failed, err.Error(), "Name another place with --state or $" + StateEnv}
	}
	f, err := os.CreateTemp(state, ".doctor-*")
	if err != nil {
		return finding{"state", failed, err.Error(), "Make it writable, or name another place with --state or $" + StateEnv}
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return finding{"state", failed, err.Error(), ""}
	}
	return finding{"state", fine, state, ""}
}

func gitFinding(ctx context.Context) finding {
	path, err := exec.LookPath("git")
	if err != nil {
		return finding{"git", note, "not found", "Install git: without it there is no review of changes"}
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return finding{"git", note, path + " does not run: " + err.Error(), "Install git anew"}
	}
	return finding{"git", fine, strings.TrimPrefix(plain(string(out)), "git version ") + ", " + path, ""}
}

func displayFinding(window bool) finding {
	switch {
	case !window:
		return finding{"display", note, "this Berth has no window", "Run: berth serve"}
	case !hasDisplay():
		return finding{"display", note, "there is none", "Run: berth serve"}
	case runtime.GOOS != "linux":
		return finding{"display", fine, "the system's", ""}
	case os.Getenv("WAYLAND_DISPLAY") != "":
		return finding{"display", fine, "Wayland, " + os.Getenv("WAYLAND_DISPLAY"), ""}
	}
	return finding{"display", fine, "X11, " + os.Getenv("DISPLAY"), ""}
}

func notificationFinding() finding {
	if !alert.Possible() {
		return finding{"notifications", note, "there is no session bus", "Start Berth from within the desktop session to get notifications"}
	}
	return notificationService()
}
