package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/workspace"
)

func TestAgents(t *testing.T) {
	w := newWorld(t)
	if list := decoded[agentList](w.call("GET", "/api/v1/agents?refresh=true", nil).want(200)); len(list.Agents) != 1 || list.Agents[0].Name != "echo" {
		t.Errorf("%+v", list)
	}
	if a := decoded[provider.Description](w.call("GET", "/api/v1/agents/echo", nil).want(200)); a.Status != provider.Ready {
		t.Errorf("%+v", a)
	}
	if m := decoded[modelList](w.call("GET", "/api/v1/agents/echo/models", nil).want(200)); len(m.Models) != 1 {
		t.Errorf("%+v", m)
	}
	w.call("POST", "/api/v1/agents/echo/check", nil).want(200)
	for _, path := range []string{"", "/models"} {
		w.call("GET", "/api/v1/agents/none"+path, nil).problem(404, "unknown_agent")
	}
	w.call("POST", "/api/v1/agents/none/check", nil).problem(404, "unknown_agent")
}

func TestChats(t *testing.T) {
	w := newWorld(t)
	if raw := strings.TrimSpace(string(w.call("GET", "/api/v1/chats", nil).want(200).body)); raw != `{"chats":[]}` {
		t.Errorf("no chats: %s", raw)
	}
	c := decoded[chat.Chat](w.call("POST", "/api/v1/chats", `{"agent":"echo","cwd":"~","title":"First","permissions":"full"}`).want(201))
	if c.Cwd != w.home || c.Title != "First" || c.Permissions != provider.Full || !strings.HasPrefix(c.ID, "chat_") {
		t.Errorf("%+v", c)
	}
	w.call("POST", "/api/v1/chats", `{"agent":"echo","cwd":"/no/such/folder"}`).problem(422, "cwd_missing", "body.cwd")
	w.call("POST", "/api/v1/chats", `{"agent":"none","cwd":"~"}`).problem(422, "unknown_agent", "body.agent")
	at := "/api/v1/chats/" + c.ID
	c = decoded[chat.Chat](w.call("PATCH", at, `{"pinned":true,"title":"Renamed"}`).want(200))
	if !c.Pinned || c.Title != "Renamed" || c.Permissions != provider.Full {
		t.Errorf("%+v", c)
	}
	w.call("PATCH", at, `{"archived":true}`).want(200)
	for path, n := range map[string]int{"/api/v1/chats": 0, "/api/v1/chats?archived=true": 1} {
		if list := decoded[chatList](w.call("GET", path, nil).want(200)); len(list.Chats) != n {
			t.Errorf("%s: %+v", path, list)
		}
	}
	w.call("POST", at+"/read", `{"unread":true}`).want(204)
	if c = decoded[chat.Chat](w.call("GET", at, nil).want(200)); !c.Unread {
		t.Errorf("%+v", c)
	}
	w.call("PUT", at+"/draft", `{"text":"half a thou"}`).want(204)
	if d := decoded[chat.Draft](w.call("GET", at+"/draft", nil).want(200)); d.Text != "half a thou" {
		t.Errorf("%+v", d)
	}
	if l := decoded[commandList](w.call("GET", at+"/commands", nil).want(200)); l.Commands == nil {
		t.Errorf("%+v", l)
	}
	w.call("DELETE", at, nil).want(204)
	for _, path := range []string{"", "/items", "/queue", "/draft", "/requests", "/commands", "/files"} {
		w.call("GET", at+path, nil).problem(404, "not_found")
	}
	w.call("DELETE", at, nil).problem(404, "not_found")
}

func TestDemo(t *testing.T) {
	w := newWorld(t)
	if c := decoded[chat.Chat](w.call("POST", "/api/v1/demo", nil).want(201)); c.ID == "" {
		t.Errorf("%+v", c)
	}
}

func TestTurnsAndItems(t *testing.T) {
	w := newWorld(t)
	c := w.newChat()
	at := "/api/v1/chats/" + c.ID
	f := w.follow(c.ID)
	const text = "  unchanged\r\n\tbytes \u2028 <b>&amp;</b> 你好 \U0001F469\u200d\U0001F680 "
	body := chat.NewTurn{Text: text, ClientID: "c1"}
	a := decoded[chat.Accepted](w.call("POST", at+"/turns", body).want(202))
	if again := decoded[chat.Accepted](w.call("POST", at+"/turns", body).want(202)); again.Turn != a.Turn {
		t.Errorf("the same message again is turn %s, was %s", again.Turn, a.Turn)
	}
	body.Text = "another"
	w.call("POST", at+"/turns", body).problem(409, "client_id_reused")
	w.call("POST", at+"/turns", `{"text":"a","client_id":"c2","attachments":["file_none"]}`).problem(422, "invalid", "body.attachments[0]")
	if turn := f.ended(a.Turn); turn.State != chat.TurnCompleted {
		t.Errorf("%+v", turn)
	}
	page := decoded[chat.Page](w.call("GET", at+"/items", nil).want(200))
	if len(page.Items) != 2 || page.Items[0].Body.Text != text || page.Items[1].Body.Text != text || page.HasBefore || page.HasAfter {
		t.Fatalf("%+v", page)
	}
	last := page.Items[1]
	before := decoded[chat.Page](w.call("GET", fmt.Sprintf("%s/items?before=%d&limit=1", at, last.Seq), nil).want(200))
	if len(before.Items) != 1 || before.Items[0].ID != page.Items[0].ID || !before.HasAfter {
		t.Errorf("%+v", before)
	}
	after := decoded[chat.Page](w.call("GET", fmt.Sprintf("%s/items?after=%d", at, page.Items[0].Seq), nil).want(200))
	if len(after.Items) != 1 || after.Items[0].ID != last.ID || !after.HasBefore {
		t.Errorf("%+v", after)
	}
	w.call("GET", at+"/items?before=5&after=1", nil).problem(422, "invalid", "query.after")
	if one := decoded[event.Item](w.call("GET", "/api/v1/items/"+last.ID, nil).want(200)); one.Body.Text != text {
		t.Errorf("%+v", one)
	}
	w.call("GET", "/api/v1/items/item_none", nil).problem(404, "not_found")
}

func TestRequests(t *testing.T) {
	w := newWorld(t)
	c := w.newChat()
	at := "/api/v1/chats/" + c.ID
	f := w.follow(c.ID)
	turn := w.send(c.ID, "/ask").Turn
	id := f.asked()
	list := decoded[requestList](w.call("GET", at+"/requests", nil).want(200))
	if len(list.Requests) != 1 || list.Requests[0].Body.Request.ID != id || len(list.Requests[0].Body.Request.Options) != 2 {
		t.Fatalf("%+v", list)
	}
	waiting := decoded[attentionList](w.call("GET", "/api/v1/attention", nil).want(200))
	if len(waiting.Attention) != 1 || waiting.Attention[0].Request != id || waiting.Attention[0].Kind != "approval" {
		t.Errorf("%+v", waiting)
	}
	answer := "/api/v1/requests/" + id + "/answer"
	w.call("POST", answer, `{"option":"maybe"}`).problem(422, "invalid", "body.option")
	got := decoded[event.RequestAnswer](w.call("POST", answer, `{"option":"yes"}`).want(200))
	if got.Option != "yes" || got.Outcome != "answered" || got.By != "owner" {
		t.Errorf("%+v", got)
	}
	p := w.call("POST", answer, `{"option":"no"}`).problem(409, "already_answered")
	if p.Winner == nil || p.Winner.Option != "yes" {
		t.Errorf("the winner is %+v", p.Winner)
	}
	w.call("POST", "/api/v1/requests/req_none/answer", `{"option":"yes"}`).problem(404, "not_found")
	f.ended(turn)
	if list = decoded[requestList](w.call("GET", at+"/requests", nil).want(200)); len(list.Requests) != 0 {
		t.Errorf("still waiting: %+v", list)
	}
	if list = decoded[requestList](w.call("GET", at+"/requests?all=true", nil).want(200)); len(list.Requests) != 1 {
		t.Errorf("all: %+v", list)
	}
}

func TestStopAndQueue(t *testing.T) {
	w := newWorld(t)
	c := w.newChat()
	at := "/api/v1/chats/" + c.ID
	f := w.follow(c.ID)
	running := w.send(c.ID, "/wait")
	first, second := w.send(c.ID, "one"), w.send(c.ID, "two")
	if first.State != chat.TurnQueued || first.Position != 1 || second.Position != 2 {
		t.Errorf("%+v, %+v", first, second)
	}
	stopped := decoded[chat.StopResult](w.call("POST", at+"/stop", nil).want(200))
	if stopped.State != "stopped" || stopped.Turn != running.Turn || stopped.Held != 2 {
		t.Errorf("%+v", stopped)
	}
	queue := decoded[turnList](w.call("GET", at+"/queue", nil).want(200))
	if len(queue.Turns) != 2 || queue.Turns[0].State != chat.TurnHeld || queue.Turns[0].Text != "one" {
		t.Fatalf("%+v", queue)
	}
	w.call("DELETE", "/api/v1/queue/"+first.Turn, nil).want(204)
	w.call("DELETE", "/api/v1/queue/turn_none", nil).problem(404, "not_found")
	w.call("POST", at+"/queue/release", `{}`).want(204)
	if turn := f.ended(second.Turn); turn.State != chat.TurnCompleted {
		t.Errorf("%+v", turn)
	}
	if stopped = decoded[chat.StopResult](w.call("POST", at+"/stop", nil).want(200)); stopped.State != "idle" {
		t.Errorf("%+v", stopped)
	}
}

func TestSettingsAndPhrases(t *testing.T) {
	w := newWorld(t)
	got := decoded[settings.Settings](w.call("GET", "/api/v1/settings", nil).want(200))
	if got.Theme != "system" || got.Agents == nil {
		t.Errorf("%+v", got)
	}
	got = decoded[settings.Settings](w.call("PATCH", "/api/v1/settings", `{"theme":"dark","agents":{"echo":{"env":["A=1"]}}}`).want(200))
	if got.Theme != "dark" || got.Agents["echo"].Env[0] != "A=1" {
		t.Errorf("%+v", got)
	}
	w.call("PATCH", "/api/v1/settings", `{"theme":"pink","text_size":110}`).problem(422, "invalid", "body.theme")
	w.call("PATCH", "/api/v1/settings", `{"idle_minutes":0}`).problem(422, "invalid", "body.idle_minutes")
	if got = decoded[settings.Settings](w.call("GET", "/api/v1/settings", nil).want(200)); got.TextSize != 100 {
		t.Errorf("half of a change was made: %+v", got)
	}

	one := decoded[settings.Phrase](w.call("POST", "/api/v1/phrases", `{"text":"Go on."}`).want(201))
	one = decoded[settings.Phrase](w.call("PATCH", "/api/v1/phrases/"+one.ID, `{"text":"Please go on."}`).want(200))
	if list := decoded[phraseList](w.call("GET", "/api/v1/phrases", nil).want(200)); len(list.Phrases) != 1 || list.Phrases[0] != one {
		t.Errorf("%+v", list)
	}
	w.call("DELETE", "/api/v1/phrases/"+one.ID, nil).want(204)
	w.call("DELETE", "/api/v1/phrases/"+one.ID, nil).problem(404, "not_found")
	w.call("POST", "/api/v1/phrases", `{"text":""}`).problem(422, "invalid", "body.text")
}

func TestFolders(t *testing.T) {
	w := newWorld(t)
	got := decoded[workspace.Folder](w.call("POST", "/api/v1/folders", `{"path":"~/made here"}`).want(201))
	if got.Path != filepath.Join(w.home, "made here") {
		t.Errorf("%+v", got)
	}
	w.call("POST", "/api/v1/folders", `{"path":"~/made here"}`).problem(409, "conflict", "body.path")
	w.call("POST", "/api/v1/folders", `{"path":"~/a/b/c"}`).problem(422, "invalid", "body.path")
	list := decoded[workspace.Folders](w.call("GET", "/api/v1/folders/complete?prefix=~/MADE", nil).want(200))
	if len(list.Folders) != 1 || list.Folders[0].Path != got.Path || list.Exists {
		t.Errorf("%+v", list)
	}
	w.call("GET", "/api/v1/folders/complete?prefix=a%00", nil).problem(422, "invalid", "query.prefix")
	w.call("GET", "/api/v1/folders/complete?limit=0", nil).problem(422, "invalid", "query.limit")

	if err := os.WriteFile(filepath.Join(w.home, "notes.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := w.newChat()
	found := decoded[workspace.Found](w.call("GET", "/api/v1/chats/"+c.ID+"/files?query=nots", nil).want(200))
	if len(found.Files) != 1 || found.Files[0].Path != "notes.md" {
		t.Errorf("%+v", found)
	}
}

// TestPathsThatAreNotUTF8 walks to a chat in a folder whose name is bytes.
func TestPathsThatAreNotUTF8(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, "caf\xe9")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Skipf("this file system takes only UTF-8: %v", err)
	}
	list := decoded[workspace.Folders](w.call("GET", "/api/v1/folders/complete?prefix=~/caf", nil).want(200))
	if len(list.Folders) != 1 || string(list.Folders[0].PathRaw) != path {
		t.Fatalf("%+v", list)
	}
	raw := base64.StdEncoding.EncodeToString(list.Folders[0].PathRaw)
	below := base64.StdEncoding.EncodeToString([]byte(path + "/\xff"))
	w.call("POST", "/api/v1/folders", `{"path":"?","path_raw":"`+below+`"}`).want(201)
	list = decoded[workspace.Folders](w.call("GET", "/api/v1/folders/complete?prefix_raw="+url.QueryEscape(raw), nil).want(200))
	if !list.Exists || string(list.PathRaw) != path {
		t.Errorf("%+v", list)
	}
	c := decoded[chat.Chat](w.call("POST", "/api/v1/chats", `{"agent":"echo","cwd":"?","cwd_raw":"`+raw+`"}`).want(201))
	if string(c.CwdRaw) != path || c.Cwd != filepath.Join(w.home, "caf\uFFFD") {
		t.Errorf("%+v", c)
	}
	c = decoded[chat.Chat](w.call("PATCH", "/api/v1/chats/"+c.ID, `{"cwd_raw":"`+below+`"}`).want(200))
	if string(c.CwdRaw) != path+"/\xff" {
		t.Errorf("%+v", c)
	}
	w.call("POST", "/api/v1/folders", `{"path":"?","path_raw":"%%"}`).problem(422, "invalid", "body.path_raw")
}

func TestProcesses(t *testing.T) {
	w := newWorld(t)
	if raw := strings.TrimSpace(string(w.call("GET", "/api/v1/processes", nil).want(200).body)); raw != `{"processes":[]}` {
		t.Errorf("none run: %s", raw)
	}
}

// TestListsAreNeverNull asks for everything that can be read of an empty
// backend: clients are promised lists, if empty.
func TestListsAreNeverNull(t *testing.T) {
	w := newWorld(t)
	id := w.newChat().ID
	replace := strings.NewReplacer("/chats/{id}", "/chats/"+id, "{name}", "echo")
	for path, item := range w.operations.OpenAPI().Paths {
		if item.Get == nil || path == prefix+"/openapi.json" {
			continue
		}
		a := w.call("GET", replace.Replace(path)+"?client=a&wait=0", nil)
		var v any
		if a.status == 200 && json.Unmarshal(a.body, &v) == nil {
			if at := nullIn(v, path); len(at) > 0 {
				t.Errorf("null at %v", at)
			}
		}
	}
}

func nullIn(v any, at string) (found []string) {
	switch v := v.(type) {
	case nil:
		return []string{at}
	case []any:
		for _, x := range v {
			found = append(found, nullIn(x, at+"[]")...)
		}
	case map[string]any:
		for k, x := range v {
			found = append(found, nullIn(x, at+"."+k)...)
		}
	}
	slices.Sort(found)
	return found
}
