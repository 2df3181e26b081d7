package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// command is what the agent offers after "/".
type command struct {
	name, description, hint string
	play                    func(s *scene, rest string) error
}

var commands []command

func init() { // the scenes use the list themselves
	commands = []command{
		{"tour", "See everything once: plan, thought, file, edit, command, question, image, long answer", "", (*scene).tour},
		{"plan", "Show a plan and work it off", "", (*scene).plan},
		{"read", "Read a file", "path", (*scene).read},
		{"edit", "Edit a file, with permission", "path", (*scene).edit},
		{"run", "Run a command, with permission", "command", (*scene).run},
		{"ask", "Ask you something", "", (*scene).ask},
		{"image", "Draw an image", "", (*scene).image},
		{"long", "Answer at length", "KB", (*scene).long},
		{"slow", "Speak a word every 100 ms", "seconds", (*scene).slow},
		{"fail", "End with an error", "", (*scene).fail},
		{"crash", "End the agent's process", "exit, kill or garbage", (*scene).crash},
	}
}

// scene is one turn.
type scene struct {
	ctx   context.Context
	agent *agent
	c     *conversation
	mode  string
	model string
	count int
	calls int
}

// editWish recognises a request to edit a file.
var (
	editWish = regexp.MustCompile(`(?i)\b(edit|change|modify|rewrite|update)\b`)
	fileName = regexp.MustCompile(`[\w./-]*\w\.\w{1,8}\b`)
)

func (s *scene) play(text string, files []string) error {
	if name, rest, _ := strings.Cut(strings.TrimSpace(text), " "); strings.HasPrefix(name, "/") {
		for _, c := range commands {
			if name == "/"+c.name {
				return c.play(s, strings.TrimSpace(rest))
			}
		}
		return s.say("I do not know " + name + ". Type / to see what I can show.")
	}
	if s.model == "demo-thorough" {
		if err := s.think("The user wrote something that is not one of my commands. I repeat it, so that they see that it arrived unchanged."); err != nil {
			return err
		}
	}
	if editWish.MatchString(text) {
		if name := fileName.FindString(text); name != "" || strings.Contains(strings.ToLower(text), "file") {
			return s.edit(name)
		}
	}
	answer := fmt.Sprintf("You said: %s\n\nThis is message %d of our conversation. I am a demonstration and answer with fixed text.", text, s.count)
	if len(files) > 0 {
		answer += "\n\nYou sent along: " + strings.Join(files, ", ") + "."
	}
	if s.count == 1 {
		answer += " Type `/tour` to see what Berth can show."
	}
	return s.say(answer)
}

// wait passes time unless the turn is cancelled.
func (s *scene) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (s *scene) update(u sdk.SessionUpdate) error {
	return s.agent.conn.SessionUpdate(s.ctx, sdk.SessionNotification{SessionId: s.c.id, Update: u})
}

// pace is the time between two pieces of an answer.
func (s *scene) pace() time.Duration {
	if s.model == "demo-thorough" {
		return 40 * time.Millisecond
	}
	return 10 * time.Millisecond
}

// pieces cuts a text behind its spaces and line ends, eight words to a piece.
func pieces(text string) []string {
	var list []string
	words, from := 0, 0
	for i, r := range text {
		if r == ' ' || r == '\n' {
			if words++; words == 8 {
				list = append(list, text[from:i+1])
				words, from = 0, i+1
			}
		}
	}
	return append(list, text[from:])
}

func (s *scene) say(text string) error {
	for _, piece := range pieces(text) {
		if err := s.update(sdk.UpdateAgentMessageText(piece)); err != nil {
			return err
		}
		if err := s.wait(s.pace()); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) think(text string) error {
	for _, piece := range pieces(text) {
		if err := s.update(sdk.UpdateAgentThoughtText(piece)); err != nil {
			return err
		}
		if err := s.wait(s.pace()); err != nil {
			return err
		}
	}
	return nil
}

// call makes the id of a tool call, the same in each run.
func (s *scene) call() sdk.ToolCallId {
	s.calls++
	return sdk.ToolCallId(fmt.Sprintf("%s-%d-%d", s.c.id, s.count, s.calls))
}

// path gives the absolute path of a name in the chat's folder.
func (s *scene) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.c.cwd, name)
}

// The answers to a request for permission.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// permitted says whether work of a kind may be done now, asking where the
// mode says so.
func (s *scene) permitted(kind string, call sdk.ToolCallUpdate) (bool, error) {
	s.agent.mu.Lock()
	always, known := s.c.always[kind]
	s.agent.mu.Unlock()
	switch {
	case s.mode == modePlan:
		return false, nil
	case s.mode == modeFull, s.mode == modeAcceptEdits && kind == "edit":
		return true, nil
	case known:
		return always, nil
	}
	answer, err := s.agent.conn.RequestPermission(s.ctx, sdk.RequestPermissionRequest{
		SessionId: s.c.id, ToolCall: call, Options: []sdk.PermissionOption{
			{OptionId: allowOnce, Name: "Allow once", Kind: sdk.PermissionOptionKindAllowOnce},
			{OptionId: allowAlways, Name: "Always allow in this conversation", Kind: sdk.PermissionOptionKindAllowAlways},
			{OptionId: rejectOnce, Name: "Deny", Kind: sdk.PermissionOptionKindRejectOnce},
			{OptionId: rejectAlways, Name: "Always deny in this conversation", Kind: sdk.PermissionOptionKindRejectAlways},
		},
	})
	if err != nil {
		return false, err
	}
	if answer.Outcome.Selected == nil {
		return false, context.Canceled
	}
	option := string(answer.Outcome.Selected.OptionId)
	if option == allowAlways || option == rejectAlways {
		s.agent.mu.Lock()
		s.c.always[kind] = option == allowAlways
		s.agent.mu.Unlock()
	}
	return option == allowOnce || option == allowAlways, nil
}

// end ends a tool call.
func (s *scene) end(id sdk.ToolCallId, status sdk.ToolCallStatus, content ...sdk.ToolCallContent) error {
	options := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(status)}
	if content != nil {
		options = append(options, sdk.WithUpdateContent(content))
	}
	return s.update(sdk.UpdateToolCall(id, options...))
}

// number reads a count that stands after a command.
func number(text string, otherwise, least, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("a number from %d to %d, please", least, most)
	}
	return n, nil
}

// usage counts as if a token were four bytes.
func (s *scene) usage(said int) *sdk.Usage {
	in, out := 200+said/4, 120
	return &sdk.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}
}

// window is the size of the context that the agent claims, in tokens.
const window = 32_000

func (s *scene) spend(said int) {
	used := min(1_000+s.count*320+said/4, window)
	_ = s.update(sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{SessionUpdate: "usage_update", Used: used, Size: window}})
}

// errFailed is what /fail ends with.
var errFailed = errors.New("the demo agent failed, as it was asked to")
