package process

import (
	"runtime"
	"strings"
)

// The names by which descendants of a child are told, and no secret.
const (
	// executionName carries Spec.Execution, or the process's own id where
	// there is none.
	executionName = "BERTH_EXECUTION"
	// processName carries the process's id: several processes may work for
	// one execution, and only what came of one of them may end with it.
	processName = "BERTH_PROCESS"
)

// keptNames are the variables of Berth's own that a child may see. All others
// that begin with BERTH_ may be secrets, and new ones are kept back unasked.
var keptNames = map[string]bool{"BERTH_STATE": true}

// withheld says whether a variable of ours is kept from children. CLAUDECODE
// variables tell Claude Code that it runs inside another one.
func withheld(name string) bool {
	name = canonicalName(name)
	return strings.HasPrefix(name, "CLAUDECODE") ||
		strings.HasPrefix(name, "BERTH_") && !keptNames[name]
}

// canonicalName folds what the system holds equal.
func canonicalName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// childEnv is the environment of a child: that of parent without what is
// withheld, with path as PATH, then what the spec adds, then the marks. Of
// each name the last one counts.
func childEnv(parent []string, path string, spec Spec, id string) []string {
	var env []string
	for _, v := range parent {
		if name, _, ok := cutVariable(v); ok && !withheld(name) {
			env = append(env, v)
		}
	}
	if path != "" {
		env = append(env, "PATH="+path)
	}
	if spec.Dir != "" {
		env = append(env, "PWD="+spec.Dir)
	}
	env = append(env, spec.Env...)
	execution := spec.Execution
	if execution == "" {
		execution = id
	}
	return lastOfEach(append(env, executionName+"="+execution, processName+"="+id))
}

// cutVariable splits NAME=value. Windows has names that begin with "=".
func cutVariable(v string) (name, value string, ok bool) {
	i := strings.Index(v[min(1, len(v)):], "=")
	if i < 0 {
		return "", "", false
	}
	return v[:i+1], v[i+2:], true
}

// lastOfEach keeps the last variable of each name, in order.
func lastOfEach(env []string) []string {
	last := make(map[string]int, len(env))
	for i, v := range env {
		if name, _, ok := cutVariable(v); ok {
			last[canonicalName(name)] = i
		}
	}
	kept := env[:0]
	for i, v := range env {
		if name, _, ok := cutVariable(v); ok && last[canonicalName(name)] == i {
			kept = append(kept, v)
		}
	}
	return kept
}
