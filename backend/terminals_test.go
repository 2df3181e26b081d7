//go:build unix

package backend

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"berth/backend/api"
)

// request calls the API as a command does, and decodes into out if given.
func (b *berth) request(method, path string, body, out any) {
	b.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://localhost/api/v1/"+path, bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.Transport().RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		b.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestACommandInATerminal(t *testing.T) {
	b := start(t)
	var one api.Terminal
	b.request("POST", "terminals", api.NewTerminal{Command: []string{"sh", "-c", "stty size; read x; echo got $x; exit 3"}, Columns: 100, Rows: 30}, &one)
	if one.State != "running" || one.Title != "sh" || one.ExitCode != nil {
		t.Errorf("opened %+v", one)
	}
	b.request("POST", "terminals/"+one.ID+"/input", map[string][]byte{"data": []byte("it\n")}, nil)
	var seen string
	for next := int64(0); ; {
		var out api.TerminalOutput
		b.request("GET", "terminals/"+one.ID+"/output?wait=20&after="+strconv.FormatInt(next, 10), nil, &out)
		seen += string(out.Data)
		if out.Ended {
			break
		}
		next = out.Next
	}
	if !strings.Contains(seen, "30 100") || !strings.Contains(seen, "got it") {
		t.Errorf("seen %q", seen)
	}
	var list struct{ Terminals []api.Terminal }
	b.request("GET", "terminals", nil, &list)
	if len(list.Terminals) != 1 || list.Terminals[0].State != "ended" || *list.Terminals[0].ExitCode != 3 {
		t.Errorf("listed %+v", list)
	}
	b.request("DELETE", "terminals/"+one.ID, nil, nil)
	b.request("GET", "terminals", nil, &list)
	if len(list.Terminals) != 0 {
		t.Errorf("listed %+v", list)
	}
}
