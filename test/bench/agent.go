package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// agentArg makes this program an agent.
const agentArg = "clock-agent"

// playClock is an agent of the Agent Client Protocol that answers each prompt
// "<count> <ms>" with that many pieces, one every so many milliseconds. Each
// piece is the time at which its line is written, so that whoever gets it
// knows how long it took.
func playClock(in io.Reader, out io.Writer) error {
	a := &clockAgent{out: out}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				SessionID string `json:"sessionId"`
				Prompt    []struct {
					Text string `json:"text"`
				} `json:"prompt"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read a line: %w", err)
		}
		switch m.Method {
		case "initialize":
			a.write(map[string]any{"id": m.ID, "result": map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}, "authMethods": []any{}}})
		case "session/new":
			a.write(map[string]any{"id": m.ID, "result": map[string]any{"sessionId": "clock"}})
		case "session/prompt":
			var count, ms int
			if _, err := fmt.Sscanf(m.Params.Prompt[0].Text, "%d %d", &count, &ms); err != nil {
				return fmt.Errorf("the prompt %q: %w", m.Params.Prompt[0].Text, err)
			}
			go a.answer(m.ID, m.Params.SessionID, count, time.Duration(ms)*time.Millisecond)
		}
	}
	return lines.Err()
}

type clockAgent struct {
	mu  sync.Mutex
	out io.Writer
}

func (a *clockAgent) answer(id json.RawMessage, session string, count int, pause time.Duration) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for range count {
		<-tick.C
		a.write(map[string]any{"method": "session/update", "params": map[string]any{
			"sessionId": session,
			"update": map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{
				"type": "text", "text": strconv.FormatInt(time.Now().UnixNano(), 10) + " ",
			}},
		}})
	}
	a.write(map[string]any{"id": id, "result": map[string]any{"stopReason": "end_turn"}})
}

func (a *clockAgent) write(m map[string]any) {
	m["jsonrpc"] = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // only strings and numbers
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.out.Write(append(data, '\n')) // a reader that is gone ends the agent by its input
}
