package settings

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/refusal"
	"berth/backend/store"
)

type fixture struct {
	db  *store.DB
	hub *event.Hub
	log *event.Log
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	hub, err := event.NewHub(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return fixture{db, hub, event.NewLog(db, hub)}
}

func (f fixture) open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(context.Background(), f.db, f.log, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told gives the types of event that follow after the cursor.
func (f fixture) told(t *testing.T, after string) []event.Event {
	t.Helper()
	s, err := f.hub.Subscribe(context.Background(), "test", after, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	b, err := s.Next(ended, event.MaxBatch)
	if err != nil {
		t.Fatal(err)
	}
	return b.Events
}

func ptr[T any](v T) *T { return &v }

func TestDefaultsAreValid(t *testing.T) {
	d := Defaults()
	if err := d.validate(); err != nil {
		t.Fatal(err)
	}
}

func TestUpdateIsKeptAndTold(t *testing.T) {
	f := newFixture(t)
	s := f.open(t)
	cursor := f.hub.Cursor()
	env := []string{"API_KEY=secret value"}
	got, err := s.Update(context.Background(), Change{
		Theme: ptr("dark"), TextSize: ptr(112.5), LetterKeys: ptr(false),
		Agents: map[string]AgentSettings{"claude": {Executable: "/opt/claude", Env: env}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Theme, want.TextSize, want.LetterKeys = "dark", 112.5, false
	want.Agents = map[string]AgentSettings{"claude": {Executable: "/opt/claude", Env: env}}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.Get(), want) {
		t.Errorf("after the change: %+v", got)
	}
	if again := f.open(t).Get(); !reflect.DeepEqual(again, want) {
		t.Errorf("after a restart: %+v", again)
	}
	events := f.told(t, cursor)
	if len(events) != 1 || events[0].Type != event.TypeSettings || !strings.Contains(string(events[0].Body), `"theme":"dark"`) {
		t.Fatalf("told: %+v", events)
	}
	if strings.Contains(string(events[0].Body), "secret value") {
		t.Error("an agent's key is in the event log")
	}

	// The same again changes nothing and tells nothing.
	if _, err := s.Update(context.Background(), Change{Theme: ptr("dark")}); err != nil {
		t.Fatal(err)
	}
	if n := len(f.told(t, cursor)); n != 1 {
		t.Errorf("%d events after a change that changes nothing", n)
	}

	// Empty settings of an agent take them away; others stay.
	if _, err := s.Update(context.Background(), Change{Agents: map[string]AgentSettings{"codex": {Hidden: true}}}); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Update(context.Background(), Change{Agents: map[string]AgentSettings{"claude": {}}}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Agents, map[string]AgentSettings{"codex": {Hidden: true}}) {
		t.Errorf("agents: %+v", got.Agents)
	}
	if again := f.open(t).Get(); !reflect.DeepEqual(again, got) {
		t.Errorf("after a restart: %+v", again)
	}
}

func TestAWrongFieldChangesNothing(t *testing.T) {
	f := newFixture(t)
	s := f.open(t)
	for field, c := range map[string]Change{
		"language":                       {Language: ptr("xx")},
		"theme":                          {Theme: ptr("")},
		"contrast":                       {Contrast: ptr("less")},
		"density":                        {Density: ptr("tight")},
		"text_size":                      {TextSize: ptr(20.0)},
		"idle_minutes":                   {IdleMinutes: ptr(0)},
		"notify":                         {Notify: ptr("some")},
		"default_permissions":            {DefaultPermissions: ptr(provider.Permission("yolo"))},
		"default_agent":                  {DefaultAgent: ptr("../x")},
		"agents.A B":                     {Agents: map[string]AgentSettings{"A B": {Hidden: true}}},
		"agents.claude.executable":       {Agents: map[string]AgentSettings{"claude": {Executable: "claude"}}},
		"agents.claude.env[1]":           {Agents: map[string]AgentSettings{"claude": {Env: []string{"A=1", "no"}}}},
		"agents.claude.permissions":      {Agents: map[string]AgentSettings{"claude": {Permissions: "sometimes"}}},
		"agents.with-a-good-name.env[0]": {Agents: map[string]AgentSettings{"with-a-good-name": {Env: []string{"A=\x00"}}}},
	} {
		c.GPU = ptr(true)
		_, err := s.Update(context.Background(), c)
		var refused *refusal.Error
		if !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if !reflect.DeepEqual(s.Get(), Defaults()) {
		t.Errorf("something was changed: %+v", s.Get())
	}
}

func TestWhatIsNotUnderstoodIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	stored := map[string]string{"theme": `"neon"`, "density": `12`, "future": `{"a":1}`, "notify": `"off"`, "agents": `{"claude":{"env":["broken"]}}`}
	err := f.db.Write(context.Background(), func(tx *store.Tx) error {
		for k, v := range stored {
			if _, err := tx.Exec("insert into settings(key, value) values(?, ?)", k, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Notify = "off"
	s := f.open(t)
	if !reflect.DeepEqual(s.Get(), want) {
		t.Errorf("read %+v", s.Get())
	}
	if _, err := s.Update(context.Background(), Change{GPU: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	var kept string
	if err := f.db.Read().QueryRow("select value from settings where key = 'future'").Scan(&kept); err != nil || kept != stored["future"] {
		t.Errorf("the setting of a later version became %q, %v", kept, err)
	}
}

// TestDeclarationsAgree holds together what the API declares and what is
// checked.
func TestDeclarationsAgree(t *testing.T) {
	allowed := map[string][]string{"Language": languages, "Theme": themes, "Contrast": contrasts, "Density": densities, "Notify": notifies}
	for _, of := range []reflect.Type{reflect.TypeFor[Settings](), reflect.TypeFor[Change]()} {
		for name, values := range allowed {
			field, _ := of.FieldByName(name)
			if got := field.Tag.Get("enum"); got != strings.Join(values, ",") {
				t.Errorf("%s.%s declares %s, allowed are %v", of, name, got, values)
			}
		}
	}
	settings, change := reflect.TypeFor[Settings](), reflect.TypeFor[Change]()
	if settings.NumField() != change.NumField() {
		t.Error("a setting cannot be changed")
	}
	for i := range settings.NumField() {
		a, b := settings.Field(i), change.Field(i)
		if a.Name != b.Name || a.Tag.Get("json")+",omitempty" != b.Tag.Get("json") {
			t.Errorf("%s and %s are not the same setting", a.Name, b.Name)
		}
	}
}

func TestPhrases(t *testing.T) {
	f := newFixture(t)
	p := NewPhrases(f.db, f.log)
	ctx := context.Background()
	cursor := f.hub.Cursor()
	a, err := p.Create(ctx, NewPhrase{Text: "  first\n"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Create(ctx, NewPhrase{Text: "第二"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = p.Update(ctx, a.ID, PhraseChange{Position: ptr(b.Position + 1)}); err != nil {
		t.Fatal(err)
	}
	if b, err = p.Update(ctx, b.ID, PhraseChange{Text: ptr("second")}); err != nil {
		t.Fatal(err)
	}
	list, err := p.List(ctx)
	if err != nil || !reflect.DeepEqual(list, []Phrase{b, a}) || list[1].Text != "  first\n" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := p.Delete(ctx, a.ID); err != nil {
		t.Fatal(err)
	}
	events := f.told(t, cursor)
	if len(events) != 5 || events[0].Type != event.TypePhrases {
		t.Errorf("told %d times: %+v", len(events), events)
	}
	for name, err := range map[string]error{
		refusal.NotFound: p.Delete(ctx, a.ID),
		refusal.Invalid:  second(p.Create(ctx, NewPhrase{Text: " \n"})),
	} {
		var refused *refusal.Error
		if !errors.As(err, &refused) || refused.Code != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Update(ctx, "phrase_none", PhraseChange{Text: ptr("x")}); !errors.Is(err, errNoPhrase) {
		t.Errorf("changed a phrase that is not there: %v", err)
	}
}

func TestPhrasesAreBounded(t *testing.T) {
	f := newFixture(t)
	p := NewPhrases(f.db, f.log)
	err := f.db.Write(context.Background(), func(tx *store.Tx) error {
		for range maxPhrases {
			if _, err := tx.Exec("insert into phrases(id, text, position) values(?, 'x', 1)", store.NewID("phrase")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var refused *refusal.Error
	if _, err := p.Create(context.Background(), NewPhrase{Text: "one more"}); !errors.As(err, &refused) || refused.Code != refusal.Conflict {
		t.Errorf("one more than %d: %v", maxPhrases, err)
	}
}

func second[T any](_ T, err error) error { return err }
