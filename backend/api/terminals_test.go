package api

import (
	"context"
	"slices"
	"sync"
	"testing"

	"berth/backend/refusal"
	"berth/backend/store"
)

// terminals repeats what is typed, as a terminal that runs cat does.
type terminals struct {
	mu   sync.Mutex
	list []Terminal
	out  map[string][]byte
	wake chan struct{}
}

func newTerminals() *terminals {
	return &terminals{out: map[string][]byte{}, wake: make(chan struct{})}
}

func (t *terminals) changed() { close(t.wake); t.wake = make(chan struct{}) }

func (t *terminals) find(id string) int {
	return slices.IndexFunc(t.list, func(x Terminal) bool { return x.ID == id })
}

var errNoTerminal = refusal.New(refusal.NotFound, "", "There is no such terminal.")

func (t *terminals) List() []Terminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (t *terminals) Open(_ context.Context, n NewTerminal) (Terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := Terminal{ID: store.NewID("term"), Command: n.Command, Columns: n.Columns, Rows: n.Rows, State: "running", StartedAt: store.Now()}
	t.list = append(t.list, one)
	return one, nil
}

func (t *terminals) Output(ctx context.Context, id string, after int64) (TerminalOutput, error) {
	for {
		t.mu.Lock()
		i := t.find(id)
		if i < 0 {
			t.mu.Unlock()
			return TerminalOutput{}, errNoTerminal
		}
		out, wake, ended := t.out[id], t.wake, t.list[i].State == "ended"
		t.mu.Unlock()
		if int64(len(out)) > after || ended || ctx.Err() != nil {
			after = min(after, int64(len(out)))
			return TerminalOutput{After: after, Next: int64(len(out)), Data: slices.Clone(out[after:]), Ended: ended}, nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
}

func (t *terminals) Input(_ context.Context, id string, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(id)
	if i < 0 {
		return errNoTerminal
	}
	if slices.Equal(data, []byte{4}) { // ^D
		t.list[i].State = "ended"
	} else {
		t.out[id] = append(t.out[id], data...)
	}
	t.changed()
	return nil
}

func (t *terminals) Resize(_ context.Context, id string, columns, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(id)
	if i < 0 {
		return errNoTerminal
	}
	t.list[i].Columns, t.list[i].Rows = columns, rows
	t.changed()
	return nil
}

func (t *terminals) Close(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(id)
	if i < 0 {
		return errNoTerminal
	}
	t.list = slices.Delete(t.list, i, i+1)
	t.changed()
	return nil
}

func TestTerminals(t *testing.T) {
	w := newWorld(t)
	one := decoded[Terminal](w.call("POST", "/api/v1/terminals", NewTerminal{Command: []string{"cat"}}).want(201))
	if one.Columns != 80 || one.Rows != 24 {
		t.Errorf("opened with %d by %d", one.Columns, one.Rows)
	}
	at := "/api/v1/terminals/" + one.ID
	if out := decoded[TerminalOutput](w.call("GET", at+"/output?after=0", nil).want(200)); len(out.Data) != 0 || out.Ended {
		t.Errorf("wrote %+v", out)
	}
	// Bytes go through unchanged, also half a character.
	w.call("POST", at+"/input", map[string][]byte{"data": {0xe4, 0xbd, 0x1b}}).want(204)
	out := decoded[TerminalOutput](w.call("GET", at+"/output?after=1&wait=5", nil).want(200))
	if string(out.Data) != "\xbd\x1b" || out.After != 1 || out.Next != 3 {
		t.Errorf("wrote %+v", out)
	}
	w.call("POST", at+"/resize", `{"columns":120,"rows":40}`).want(204)
	if list := decoded[terminalList](w.call("GET", "/api/v1/terminals", nil).want(200)); len(list.Terminals) != 1 || list.Terminals[0].Columns != 120 {
		t.Errorf("%+v", list)
	}
	w.call("POST", at+"/resize", `{"columns":1,"rows":40}`).problem(422, "invalid", "body.columns")
	w.call("POST", at+"/input", `{"data":"%%"}`).problem(422, "invalid", "body.data")
	w.call("GET", at+"/output?wait=60", nil).problem(422, "invalid", "query.wait")
	w.call("DELETE", at, nil).want(204)
	w.call("DELETE", at, nil).problem(404, "not_found")
	w.call("GET", at+"/output", nil).problem(404, "not_found")
}
