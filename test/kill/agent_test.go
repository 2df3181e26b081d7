package kill

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"berth/backend/provider/acp"
	"berth/backend/provider/demo"
)

// recordEnv names the file to which the recording agent appends its input.
const recordEnv = "KILL_TEST_RECORD"

// playAgent is the demo agent with a recorder before it. Each line is in the
// file before the agent sees it.
func playAgent() error {
	record, err := os.OpenFile(os.Getenv(recordEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer record.Close()
	return demo.Main(io.TeeReader(os.Stdin, record), os.Stdout)
}

// recorder is the agent under test: an entry of the agents file that runs
// this test's own executable.
type recorder struct{ file string }

// agentName is the recorder's in the agents file.
const agentName = "recorded"

// installRecorder writes the agents file into a state directory.
func installRecorder(t *testing.T, state string) recorder {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := recorder{file: filepath.Join(t.TempDir(), "received.jsonl")}
	data, err := json.Marshal(acp.AgentsFile{Agents: []acp.Entry{{
		ID: agentName, Title: "Recorded demo", Command: self, Args: []string{"demo-agent"}, Env: map[string]string{
			recordEnv: r.file, "BERTH_DEMO_STATE": filepath.Join(t.TempDir(), "demo"),
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "agents.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// received counts the prompts that hold exactly this text.
func (r recorder) received(text string) (int, error) {
	f, err := os.Open(r.file)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	count := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct {
			Method string `json:"method"`
			Params struct {
				Prompt []struct {
					Text string `json:"text"`
				} `json:"prompt"`
			} `json:"params"`
		}
		// A line that a death cut short is no prompt.
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Method != "session/prompt" {
			continue
		}
		for _, p := range line.Params.Prompt {
			if p.Text == text {
				count++
			}
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("read what the agent received: %w", err)
	}
	return count, nil
}
