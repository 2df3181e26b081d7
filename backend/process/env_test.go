package process

import (
	"slices"
	"strings"
	"testing"
)

func TestChildEnv(t *testing.T) {
	parent := []string{
		"HOME=/home/u", "PATH=/bin", "CLAUDECODE=1", "CLAUDECODE_X=1", "CLAUDE_CODE_USE_BEDROCK=1",
		"BERTH_TOKEN=secret", "BERTH_OWNER_TOKEN=secret", "BERTH_STATE=/state", "BERTH_EXECUTION=outer",
		"BERTH_PROCESS=outer", "ANTHROPIC_API_KEY=key", "TWICE=1", "EMPTY=", "garbage",
	}
	for _, c := range []struct {
		name, path string
		spec       Spec
		want       []string
	}{
		{
			"plain", "/usr/bin", Spec{},
			[]string{"HOME=/home/u", "CLAUDE_CODE_USE_BEDROCK=1", "BERTH_STATE=/state", "ANTHROPIC_API_KEY=key",
				"TWICE=1", "EMPTY=", "PATH=/usr/bin", "BERTH_EXECUTION=proc_1", "BERTH_PROCESS=proc_1"},
		},
		{
			"spec wins, marks win over it", "", Spec{Dir: "/work", Execution: "exec_1",
				Env: []string{"TWICE=2", "HOME=/tmp/h", "BERTH_RUN_TOKEN=its own", "BERTH_PROCESS=forged", "TWICE=3"}},
			[]string{"PATH=/bin", "CLAUDE_CODE_USE_BEDROCK=1", "BERTH_STATE=/state", "ANTHROPIC_API_KEY=key",
				"EMPTY=", "PWD=/work", "HOME=/tmp/h", "BERTH_RUN_TOKEN=its own", "TWICE=3",
				"BERTH_EXECUTION=exec_1", "BERTH_PROCESS=proc_1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := childEnv(parent, c.path, c.spec, "proc_1"); !slices.Equal(got, c.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), strings.Join(c.want, " "))
			}
		})
	}
}

func TestCutVariable(t *testing.T) {
	for _, c := range []struct {
		in, name, value string
		ok              bool
	}{
		{"A=1", "A", "1", true}, {"A=", "A", "", true}, {"A=b=c", "A", "b=c", true}, {"=C:=C:\\x", "=C:", "C:\\x", true},
		{"A", "", "", false}, {"", "", "", false}, {"=", "", "", false},
	} {
		if name, value, ok := cutVariable(c.in); name != c.name || value != c.value || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.in, name, value, ok)
		}
	}
}
