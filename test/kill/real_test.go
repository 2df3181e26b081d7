package kill

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"berth/backend/settings"
	"berth/test/clis"
	"berth/test/modelserver"
)

// rotationEnv chooses which tenth of the deaths is struck with the real
// agents; without it the day does, so that ten days strike all.
const rotationEnv = "BERTH_KILL_ROTATION"

// tenth is the part of the deaths that the real agents get.
const tenth = 10

// realAgents are those that can take up a conversation at any time. Gemini CLI
// cannot within the minute in which it began (see package conformance).
var realAgents = []struct {
	name     string
	settings func(*modelserver.Server, string) ([]string, error)
}{
	{"claude", (*modelserver.Server).Claude},
	{"codex", (*modelserver.Server).Codex},
}

// texts that make the model take its time, and the agent ask for permission.
var (
	realSlow = modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 60, MS: 50})
	realAsk  = modelserver.Directive(modelserver.Step{Scenario: "shell", Command: "echo made > made.txt"})
)

// model is a real agent's model server, which knows what arrived.
type model struct{ *modelserver.Server }

// received counts the conversations' messages with this text, by the requests
// that open a turn with it.
func (m model) received(text string) (int, error) {
	n := 0
	for _, r := range modelserver.Turns(m.Requests()) {
		if r.Opens && r.Prompt == text {
			n++
		}
	}
	return n, nil
}

// TestReal strikes a rotating tenth with the real agents.
func TestReal(t *testing.T) {
	turn, err := rotation()
	if err != nil {
		t.Fatal(err)
	}
	all := strikes(sourcePoints(t))
	struck := 0
	for i, s := range all {
		if i%tenth != turn%tenth {
			continue
		}
		a := realAgents[(i/tenth+turn)%len(realAgents)]
		t.Run(a.name+" "+s.name(), func(t *testing.T) {
			path, err := clis.Find(a.name)
			if err != nil {
				t.Fatal(err)
			}
			server, err := modelserver.Start()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			})
			env, err := a.settings(server, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			w := &world{t: t, state: newState(t), name: a.name, agent: model{server}, slow: realSlow, ask: realAsk}
			w.setUp(a.name, settings.AgentSettings{Executable: path, Env: env})
			w.strike(s, t.TempDir())
		})
		struck++
	}
	t.Logf("%d of %d deaths, rotation %d", struck, len(all), turn)
	if struck == 0 {
		t.Error("no death was struck with a real agent")
	}
}

func rotation() (int, error) {
	v := os.Getenv(rotationEnv)
	if v == "" {
		return int(time.Now().Unix() / (24 * 60 * 60)), nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is a number from 0, not %q", rotationEnv, v)
	}
	return n, nil
}

// setUp tells Berth about an agent, in a start of its own that nothing ends.
func (w *world) setUp(agent string, s settings.AgentSettings) {
	w.t.Helper()
	w.serve("")
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if _, err := w.program.UpdateSettings(ctx, settings.Change{Agents: map[string]settings.AgentSettings{agent: s}}); err != nil {
		w.t.Fatal(err)
	}
	w.stop()
}
