//go:build unix

package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// rawCat repeats every byte that is typed, as it is.
var rawCat = NewTerminal{Command: []string{"sh", "-c", "stty raw -echo; printf ready; cat"}}

// openCat opens a terminal in which rawCat is ready, at position 5.
func (w *world) openCat() Terminal {
	w.t.Helper()
	one := decoded[Terminal](w.call("POST", "/api/v1/terminals", rawCat).want(201))
	w.output(one.ID, 0, "ready")
	return one
}

// output reads what a terminal wrote from a position on, until it is want.
func (w *world) output(id string, after int64, want string) {
	w.t.Helper()
	got := ""
	for next := after; len(got) < len(want); {
		out := decoded[TerminalOutput](w.call("GET", fmt.Sprintf("/api/v1/terminals/%s/output?after=%d&wait=10", id, next), nil).want(200))
		if out.After != next || out.Ended {
			w.t.Fatalf("wrote %q, then %+v", got, out)
		}
		got, next = got+string(out.Data), out.Next
	}
	if got != want {
		w.t.Fatalf("wrote %q, want %q", got, want)
	}
}

func TestTerminals(t *testing.T) {
	w := newWorld(t)
	one := w.openCat()
	if one.Columns != 80 || one.Rows != 24 || one.State != "running" || one.Cwd != w.home {
		t.Errorf("opened %+v", one)
	}
	at := "/api/v1/terminals/" + one.ID
	if raw := string(w.call("GET", at+"/output?after=5", nil).want(200).body); !strings.Contains(raw, `"data":""`) {
		t.Errorf("nothing more was written: %s", raw)
	}
	// Bytes go through unchanged, also half a character.
	w.call("POST", at+"/input", map[string][]byte{"data": {0xe4, 0xbd, 0x1b}}).want(204)
	w.output(one.ID, 6, "\xbd\x1b")
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

func TestTheExitOfATerminalIsKnown(t *testing.T) {
	w := newWorld(t)
	one := decoded[Terminal](w.call("POST", "/api/v1/terminals", NewTerminal{Command: []string{"sh", "-c", "exit 3"}}).want(201))
	for after := int64(0); ; {
		out := decoded[TerminalOutput](w.call("GET", fmt.Sprintf("/api/v1/terminals/%s/output?after=%d&wait=10", one.ID, after), nil).want(200))
		if after = out.Next; out.Ended {
			break
		}
	}
	list := decoded[terminalList](w.call("GET", "/api/v1/terminals", nil).want(200)).Terminals
	if len(list) != 1 || list[0].State != "ended" || list[0].ExitCode == nil || *list[0].ExitCode != 3 {
		t.Errorf("%+v", list)
	}
}

func TestTerminalSocket(t *testing.T) {
	w := newWorld(t)
	one := w.openCat()
	c, err := w.dial(w.listen(), "/api/v1/terminals/"+one.ID+"/ws?after=2", socketProtocol, ticketProtocol+w.ticket())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	read := func(kind websocket.MessageType, want string) {
		t.Helper()
		k, data, err := c.Read(ctx)
		if err != nil || k != kind || string(data) != want {
			t.Fatalf("%v %q, %v; want %q", k, data, err, want)
		}
	}
	write := func(kind websocket.MessageType, data string) {
		t.Helper()
		if err := c.Write(ctx, kind, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	read(websocket.MessageText, `{"after":2,"next":5}`)
	read(websocket.MessageBinary, "ady")
	write(websocket.MessageText, "nonsense")
	write(websocket.MessageText, `{"columns":0,"rows":9}`)
	write(websocket.MessageText, `{"columns":100,"rows":30}`)
	write(websocket.MessageBinary, "\xff\x1b[A")
	read(websocket.MessageBinary, "\xff\x1b[A")
	if now := decoded[terminalList](w.call("GET", "/api/v1/terminals", nil)).Terminals[0]; now.Columns != 100 || now.Rows != 30 {
		t.Errorf("%+v", now)
	}
	w.call("POST", "/api/v1/terminals/"+one.ID+"/resize", `{"columns":90,"rows":30}`).want(204)
	w.features.Terminals.CloseAll(ctx)
	read(websocket.MessageText, `{"ended":true}`)
	if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("it ended by %v", err)
	}
	if c, err = w.dial(w.listen(), "/api/v1/terminals/term_none/ws", socketProtocol, ticketProtocol+w.ticket()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(ctx); !strings.Contains(fmt.Sprint(err), "not_found") {
		t.Errorf("a terminal that is not there: %v", err)
	}
}
