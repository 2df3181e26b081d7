package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// Create makes a chat. Its agent is started by the first message.
func (s *Service) Create(ctx context.Context, n NewChat) (Chat, error) {
	d, ok := s.agents.Known(n.Agent)
	if !ok {
		return Chat{}, &Error{Code: "unknown_agent", Field: "agent", Text: fmt.Sprintf("There is no agent %q.", n.Agent)}
	}
	if len(n.CwdRaw) > 0 {
		n.Cwd = string(n.CwdRaw)
	}
	cwd, err := resolveCwd(n.Cwd)
	if err != nil {
		return Chat{}, err
	}
	if n.Permissions == "" {
		n.Permissions = provider.Ask
		if len(d.Modes) > 0 && !slices.Contains(d.Modes, provider.Ask) {
			n.Permissions = d.Modes[0]
		}
	}
	if err := s.checkMode(n.Agent, n.Permissions); err != nil {
		return Chat{}, err
	}
	id, now := store.NewID("chat"), store.Now().UnixMilli()
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`insert into chats(id, agent, cwd, title, title_by_user, folder, model, effort, permissions, instructions, root_bypass, position, created_at, updated_at)
			values(?,?,?,?,?,?,?,?,?,?,?,(select coalesce(min(position), 0) - 1 from chats),?,?)`,
			id, n.Agent, cwd, n.Title, n.Title != "", n.Folder, n.Model, n.Effort, n.Permissions, n.Instructions, n.RootBypass, now, now)
		if err != nil {
			return err
		}
		return s.log.Append(tx, event.Event{Chat: id, Type: event.TypeCreated})
	})
	if err != nil {
		return Chat{}, asDiskFull(err, "make a chat")
	}
	s.pushSummary(id)
	return s.Get(ctx, id)
}

// Update changes a chat. What concerns the agent takes effect with the next
// turn; the one that runs keeps what it has.
func (s *Service) Update(ctx context.Context, id string, c Change) (Chat, error) {
	if len(c.CwdRaw) > 0 {
		cwd := string(c.CwdRaw)
		c.Cwd = &cwd
	}
	err := s.do(ctx, id, func(a *actor) error { return a.update(c) })
	if err != nil {
		return Chat{}, err
	}
	s.pushSummary(id)
	return s.Get(ctx, id)
}

func (a *actor) update(c Change) error {
	next := *a.chat
	if c.Agent != nil && *c.Agent != next.agent {
		if a.chat.conversation != "" || a.turn != nil {
			return invalid("agent", "The agent of a chat is fixed once it has begun.")
		}
		if _, ok := a.s.agents.Known(*c.Agent); !ok {
			return &Error{Code: "unknown_agent", Field: "agent", Text: fmt.Sprintf("There is no agent %q.", *c.Agent)}
		}
		next.agent = *c.Agent
	}
	if c.Cwd != nil {
		cwd, err := resolveCwd(*c.Cwd)
		if err != nil {
			return err
		}
		if cwd != next.cwd && (a.chat.conversation != "" || a.turn != nil) {
			return invalid("cwd", "The folder of a chat is fixed once it has begun.")
		}
		next.cwd = cwd
	}
	if c.Permissions != nil {
		next.permissions = *c.Permissions
	}
	if c.Permissions != nil || c.Agent != nil {
		if err := a.s.checkMode(next.agent, next.permissions); err != nil {
			return err
		}
	}
	set(&next.title, c.Title)
	set(&next.model, c.Model)
	set(&next.effort, c.Effort)
	set(&next.instructions, c.Instructions)
	set(&next.rootBypass, c.RootBypass)
	next.titleByUser = next.titleByUser || c.Title != nil && *c.Title != ""
	if c.NewConversation != nil && *c.NewConversation {
		if a.turn != nil || a.agent != nil {
			return &Error{Code: "conflict", Field: "new_conversation", Text: "The agent still holds the conversation."}
		}
		next.conversation, a.dead = "", ""
	}
	err := a.write("change a chat", func(tx *store.Tx) error {
		_, err := tx.Exec(`update chats set agent = ?, conversation = ?, cwd = ?, permissions = ?, title = ?, title_by_user = ?, model = ?, effort = ?, instructions = ?, root_bypass = ?,
			folder = coalesce(?, folder), pinned = coalesce(?, pinned), archived = coalesce(?, archived), position = coalesce(?, position) where id = ?`,
			next.agent, next.conversation, next.cwd, next.permissions, next.title, next.titleByUser, next.model, next.effort, next.instructions, next.rootBypass,
			c.Folder, c.Pinned, c.Archived, c.Position, a.chat.id)
		if err != nil {
			return err
		}
		return a.s.log.Append(tx, event.Event{Chat: a.chat.id, Type: event.TypeChanged})
	})
	if err == nil {
		a.chat = &next
		a.publishState()
	}
	return err
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Delete stops a chat, ends its agent and removes it. Once its turn has
// stopped this is carried through although ctx ends. The agent's own history
// is not touched.
func (s *Service) Delete(ctx context.Context, id string) error {
	stop, err := s.Stop(ctx, id)
	if err != nil {
		return err
	}
	if stop.State != "stopped" && stop.State != "idle" {
		return &Error{Code: "fenced", Text: "The chat's agent could not be ended, so the chat is kept."}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.bounds.Close)
	defer cancel()
	a, err := s.actor(ctx, id)
	if err != nil {
		return err
	}
	if err := a.shutdown(ctx); err != nil {
		return fmt.Errorf("end the chat's agent: %w", err)
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.log.Append(tx, event.Event{Chat: id, Type: event.TypeDeleted}); err != nil {
			return err
		}
		_, err := tx.Exec("update chats set deleted = 1 where id = ?", id)
		return err
	})
	s.mu.Lock()
	if s.actors[id] == a {
		delete(s.actors, id)
	}
	delete(s.states, id)
	closed := s.closed
	s.mu.Unlock()
	if err != nil {
		return asDiskFull(err, "delete a chat")
	}
	if !closed {
		s.work.Go(s.purgeDeleted)
	}
	return nil
}

// resolveCwd gives the folder as an absolute path, ~ expanded.
func resolveCwd(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", invalid("cwd", "There is no home directory to expand ~ with.")
		}
		path = filepath.Join(home, path[1:])
	}
	if !filepath.IsAbs(path) {
		return "", invalid("cwd", "The folder must be an absolute path.")
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return "", &Error{Code: "cwd_missing", Field: "cwd", Text: "There is no folder at this path."}
	}
	return path, nil
}

func asDiskFull(err error, doing string) error {
	if errors.Is(err, store.ErrFull) {
		return &Error{Code: "disk_full", Text: "The disk is full. Nothing was accepted."}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
