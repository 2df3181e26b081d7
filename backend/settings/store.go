package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"berth/backend/event"
	"berth/backend/store"
)

// Store is the settings of this state directory. Its methods may be called
// from any goroutine.
type Store struct {
	db     *store.DB
	events *event.Log

	changing sync.Mutex // one change at a time; readers do not wait for it
	mu       sync.RWMutex
	current  Settings
}

// Open reads the settings.
func Open(ctx context.Context, db *store.DB, events *event.Log, log *slog.Logger) (*Store, error) {
	stored := map[string]json.RawMessage{}
	rows, err := db.Read().QueryContext(ctx, "select key, value from settings")
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
		stored[key] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	s := &Store{db: db, events: events, current: Defaults()}
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		next, err := s.current.with(key, stored[key])
		if err == nil {
			err = next.validate()
		}
		if err != nil {
			log.Warn("a setting is not understood; its default is used", "key", key, "error", err)
			continue
		}
		s.current = next
	}
	return s, nil
}

// Get gives the settings as they now are; the caller must not change what
// they refer to.
func (s *Store) Get() Settings {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current
}

// Update applies a change, whole or not at all, and gives the settings after
// it. A *refusal.Error names the field that was wrong.
func (s *Store) Update(ctx context.Context, c Change) (Settings, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	before := s.Get()
	after := c.apply(before)
	if err := after.validate(); err != nil {
		return Settings{}, err
	}
	changed, err := differences(before, after)
	if err != nil || len(changed) == 0 {
		return after, err
	}
	body, err := json.Marshal(after.public())
	if err != nil {
		return Settings{}, fmt.Errorf("tell of the settings: %w", err)
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		for key, value := range changed {
			_, err := tx.Exec("insert into settings(key, value) values(?, ?) on conflict(key) do update set value = excluded.value", key, string(value))
			if err != nil {
				return fmt.Errorf("keep the setting %s: %w", key, err)
			}
		}
		tx.AfterCommit(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.current = after
		})
		return s.events.Append(tx, event.Event{Type: event.TypeSettings, Body: body})
	})
	if err != nil {
		return Settings{}, err
	}
	return after, nil
}

// public is what the event log may hold: an agent's environment can carry
// keys, and stays out of it.
func (s Settings) public() Settings {
	agents := make(map[string]AgentSettings, len(s.Agents))
	for name, a := range s.Agents {
		a.Env = nil
		agents[name] = a
	}
	s.Agents = agents
	return s
}

// with gives the settings with one field, by its JSON name, replaced. A name
// that is not known changes nothing.
func (s Settings) with(key string, value json.RawMessage) (Settings, error) {
	if key == "agents" {
		s.Agents = nil // decoding would merge into the map
	}
	one, err := json.Marshal(map[string]json.RawMessage{key: value})
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(one, &s); err != nil {
		return s, err
	}
	if s.Agents == nil {
		s.Agents = map[string]AgentSettings{}
	}
	return s, nil
}

// differences gives the fields of after that are not those of before, by
// their JSON names.
func differences(before, after Settings) (map[string]json.RawMessage, error) {
	old, err := fields(before)
	if err != nil {
		return nil, err
	}
	changed, err := fields(after)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(changed, func(key string, value json.RawMessage) bool { return string(old[key]) == string(value) })
	return changed, nil
}

func fields(s Settings) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the settings: %w", err)
	}
	out := map[string]json.RawMessage{}
	return out, json.Unmarshal(text, &out)
}

// apply gives s with the change made.
func (c Change) apply(s Settings) Settings {
	set(&s.Language, c.Language)
	set(&s.Theme, c.Theme)
	set(&s.Contrast, c.Contrast)
	set(&s.Density, c.Density)
	set(&s.TextSize, c.TextSize)
	set(&s.LetterKeys, c.LetterKeys)
	set(&s.DefaultAgent, c.DefaultAgent)
	set(&s.DefaultPermissions, c.DefaultPermissions)
	set(&s.Notify, c.Notify)
	set(&s.NotifyText, c.NotifyText)
	set(&s.GPU, c.GPU)
	set(&s.KeepRaw, c.KeepRaw)
	set(&s.IdleMinutes, c.IdleMinutes)
	set(&s.Onboarded, c.Onboarded)
	if len(c.Agents) > 0 {
		s.Agents = maps.Clone(s.Agents)
		for name, a := range c.Agents {
			if a.empty() {
				delete(s.Agents, name)
			} else {
				s.Agents[name] = a
			}
		}
	}
	return s
}

func (a AgentSettings) empty() bool {
	return a.Executable == "" && len(a.Env) == 0 && a.Model == "" && a.Effort == "" && a.Permissions == "" && !a.Hidden
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
