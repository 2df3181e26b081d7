package demo

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// tour shows everything once.
func (s *scene) tour(string) error {
	steps := []string{"Look at the project", "Change a file", "Run a command", "Ask a question", "Draw an image", "Sum it up"}
	scenes := []func() error{
		func() error {
			return s.think("A tour should show each kind of entry once, and nothing that cannot be undone.")
		},
		func() error { return s.read("") },
		func() error { return s.edit("") },
		func() error { return s.run("") },
		func() error { return s.ask("") },
		func() error { return s.image("") },
		func() error { return s.say(tourAnswer) },
	}
	if err := s.say("This is a tour of what an agent can show in Berth. I am a demonstration: everything I say is fixed, but the files and commands are real.\n"); err != nil {
		return err
	}
	// Scene 0 is the thought before the first step.
	for i, scene := range scenes {
		if err := s.showPlan(steps, max(0, i-1)); err != nil {
			return err
		}
		if err := scene(); err != nil {
			return err
		}
	}
	return s.showPlan(steps, len(steps))
}

// showPlan shows the steps, done up to a number.
func (s *scene) showPlan(steps []string, done int) error {
	entries := make([]sdk.PlanEntry, len(steps))
	for i, step := range steps {
		status := sdk.PlanEntryStatusPending
		switch {
		case i < done:
			status = sdk.PlanEntryStatusCompleted
		case i == done:
			status = sdk.PlanEntryStatusInProgress
		}
		entries[i] = sdk.PlanEntry{Content: step, Status: status, Priority: sdk.PlanEntryPriorityMedium}
	}
	return s.update(sdk.UpdatePlan(entries...))
}

func (s *scene) plan(string) error {
	steps := []string{"Understand what is wanted", "Find the place", "Change it", "Prove that it works"}
	for done := 0; done <= len(steps); done++ {
		if err := s.showPlan(steps, done); err != nil {
			return err
		}
		if err := s.wait(150 * time.Millisecond); err != nil {
			return err
		}
	}
	return s.say("That was a plan of four steps, worked off one by one.")
}

// defaultFile is what is read and edited when no file is named.
const defaultFile = "README.md"

func (s *scene) read(name string) error {
	path := s.path(firstOf(name, defaultFile))
	id := s.call()
	if err := s.update(sdk.StartToolCall(id, "Read "+firstOf(name, defaultFile), sdk.WithStartKind(sdk.ToolKindRead),
		sdk.WithStartStatus(sdk.ToolCallStatusInProgress), sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: path}}),
		sdk.WithStartRawInput(map[string]any{"path": path}))); err != nil {
		return err
	}
	text, err := s.text(path)
	if err != nil {
		if err := s.end(id, sdk.ToolCallStatusFailed, sdk.ToolContent(sdk.TextBlock(err.Error()))); err != nil {
			return err
		}
		return s.say("I could not read it: " + err.Error())
	}
	if err := s.end(id, sdk.ToolCallStatusCompleted, sdk.ToolContent(sdk.TextBlock(text))); err != nil {
		return err
	}
	return s.say(fmt.Sprintf("%s has %d lines.", firstOf(name, defaultFile), strings.Count(text, "\n")))
}

func (s *scene) text(path string) (string, error) {
	file, err := s.agent.conn.ReadTextFile(s.ctx, sdk.ReadTextFileRequest{SessionId: s.c.id, Path: path})
	return file.Content, err
}

// editedLine is what an edit adds.
const editedLine = "This line was added by the demo agent."

func (s *scene) edit(name string) error {
	name = firstOf(name, defaultFile)
	path := s.path(name)
	var before *string
	if text, err := s.text(path); err == nil {
		before = &text
	}
	after := editedLine + "\n"
	if before != nil {
		after = strings.TrimRight(*before, "\n") + "\n\n" + editedLine + "\n"
	}
	diff := sdk.ToolCallContent{Diff: &sdk.ToolCallContentDiff{Type: "diff", Path: path, OldText: before, NewText: after}}
	id := s.call()
	if err := s.update(sdk.StartToolCall(id, "Edit "+name, sdk.WithStartKind(sdk.ToolKindEdit), sdk.WithStartStatus(sdk.ToolCallStatusPending),
		sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: path}}), sdk.WithStartRawInput(map[string]any{"path": path}),
		sdk.WithStartContent([]sdk.ToolCallContent{diff}))); err != nil {
		return err
	}
	ok, err := s.permitted("edit", sdk.ToolCallUpdate{ToolCallId: id, Title: sdk.Ptr("Edit " + name), Kind: sdk.Ptr(sdk.ToolKindEdit),
		Locations: []sdk.ToolCallLocation{{Path: path}}, Content: []sdk.ToolCallContent{diff}})
	if err != nil {
		return err
	}
	if !ok {
		return s.declined(id, "I did not edit "+name+".")
	}
	if _, err := s.agent.conn.WriteTextFile(s.ctx, sdk.WriteTextFileRequest{SessionId: s.c.id, Path: path, Content: after}); err != nil {
		if err := s.end(id, sdk.ToolCallStatusFailed, sdk.ToolContent(sdk.TextBlock(err.Error()))); err != nil {
			return err
		}
		return s.say("I could not write it: " + err.Error())
	}
	if err := s.end(id, sdk.ToolCallStatusCompleted, diff); err != nil {
		return err
	}
	return s.say("I edited " + name + ".")
}

// declined ends a call that was not permitted.
func (s *scene) declined(id sdk.ToolCallId, text string) error {
	if err := s.end(id, sdk.ToolCallStatusFailed); err != nil {
		return err
	}
	if s.mode == modePlan {
		text += " In this mode I only plan."
	} else {
		text += " You did not permit it."
	}
	return s.say(text)
}

// defaultCommand is understood by sh and PowerShell alike.
const defaultCommand = "echo one; sleep 1; echo two; sleep 1; echo three"

func (s *scene) run(line string) error {
	line = firstOf(line, defaultCommand)
	id := s.call()
	if err := s.update(sdk.StartToolCall(id, line, sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusPending),
		sdk.WithStartRawInput(map[string]any{"command": line}))); err != nil {
		return err
	}
	ok, err := s.permitted("execute", sdk.ToolCallUpdate{ToolCallId: id, Title: &line, Kind: sdk.Ptr(sdk.ToolKindExecute), RawInput: map[string]any{"command": line}})
	if err != nil {
		return err
	}
	if !ok {
		return s.declined(id, "I did not run it.")
	}
	terminal, err := s.agent.conn.CreateTerminal(s.ctx, sdk.CreateTerminalRequest{SessionId: s.c.id, Command: line})
	if err != nil {
		if err := s.end(id, sdk.ToolCallStatusFailed, sdk.ToolContent(sdk.TextBlock(err.Error()))); err != nil {
			return err
		}
		return s.say("I could not run it: " + err.Error())
	}
	if err := s.update(sdk.UpdateToolCall(id, sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress),
		sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolTerminalRef(terminal.TerminalId)}))); err != nil {
		return err
	}
	exit, err := s.agent.conn.WaitForTerminalExit(s.ctx, sdk.WaitForTerminalExitRequest{SessionId: s.c.id, TerminalId: terminal.TerminalId})
	if err != nil {
		return err
	}
	status, said := sdk.ToolCallStatusCompleted, "The command ended well."
	if exit.ExitCode == nil || *exit.ExitCode != 0 {
		status, said = sdk.ToolCallStatusFailed, "The command did not end well."
	}
	if err := s.end(id, status); err != nil {
		return err
	}
	if _, err := s.agent.conn.ReleaseTerminal(s.ctx, sdk.ReleaseTerminalRequest{SessionId: s.c.id, TerminalId: terminal.TerminalId}); err != nil {
		return err
	}
	return s.say(said)
}

// ask puts a form with a choice, several choices and free text.
func (s *scene) ask(string) error {
	s.agent.mu.Lock()
	can := s.agent.client.Elicitation != nil && s.agent.client.Elicitation.Form != nil
	s.agent.mu.Unlock()
	if !can {
		return s.say("I would ask you something, but this program does not offer questions.")
	}
	answer, err := s.agent.conn.UnstableCreateElicitation(s.ctx, sdk.UnstableCreateElicitationRequest{Form: &sdk.UnstableCreateElicitationForm{
		Mode: "form", Message: "Which way shall I go?",
		RequestedSchema: sdk.UnstableElicitationSchema{Type: "object", Required: []string{"colour"}, Properties: map[string]any{
			"colour": map[string]any{"type": "string", "title": "Colour", "description": "Which colour do you prefer?", "oneOf": []any{
				map[string]any{"const": "blue", "title": "Blue"}, map[string]any{"const": "green", "title": "Green"}}},
			"parts": map[string]any{"type": "array", "title": "Parts", "description": "Which parts shall I look at?",
				"items": map[string]any{"type": "string", "enum": []any{"code", "tests", "documents"}}},
			"remark": map[string]any{"type": "string", "title": "Remark", "description": "Anything else?"},
		}},
	}})
	if err != nil {
		return err
	}
	switch {
	case answer.Accept != nil:
		text := fmt.Sprintf("You chose %v.", answer.Accept.Content["colour"])
		if parts, ok := answer.Accept.Content["parts"].([]any); ok {
			text += fmt.Sprintf(" I would look at %v.", parts)
		}
		if remark, ok := answer.Accept.Content["remark"].(string); ok {
			text += " You remarked: " + remark
		}
		return s.say(text)
	case answer.Decline != nil:
		return s.say("You left the question open.")
	}
	return s.ctx.Err()
}

func (s *scene) image(string) error {
	var picture bytes.Buffer
	if err := draw(&picture); err != nil {
		return err
	}
	if err := s.update(sdk.UpdateAgentMessage(sdk.ImageBlock(base64.StdEncoding.EncodeToString(picture.Bytes()), "image/png"))); err != nil {
		return err
	}
	return s.say("That was a picture of 320 by 200 pixels.")
}

// long answers with about so many KB.
func (s *scene) long(rest string) error {
	kb, err := number(rest, 64, 1, 10_240)
	if err != nil {
		return s.say(err.Error())
	}
	for sent, n := 0, 1; sent < kb<<10; n++ {
		text := paragraph(n)
		if err := s.update(sdk.UpdateAgentMessageText(text)); err != nil {
			return err
		}
		sent += len(text)
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
	return nil
}

// slow speaks a word every 100 ms.
func (s *scene) slow(rest string) error {
	seconds, err := number(rest, 10, 1, 3600)
	if err != nil {
		return s.say(err.Error())
	}
	for i := range seconds * 10 {
		if err := s.update(sdk.UpdateAgentMessageText(fmt.Sprintf("word%d ", i+1))); err != nil {
			return err
		}
		if err := s.wait(100 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) fail(string) error {
	if err := s.say("Something goes wrong now."); err != nil {
		return err
	}
	return &sdk.RequestError{Code: -32603, Message: errFailed.Error()}
}

// crash ends the process, in one of three ways.
func (s *scene) crash(how string) error {
	if err := s.say("I end now."); err != nil {
		return err
	}
	switch how {
	case "", "exit":
		fmt.Fprintln(os.Stderr, "the demo agent exits, as it was asked to")
		os.Exit(3)
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Kill(); err != nil {
			return err
		}
		runtime.Goexit() // the kill needs a moment
	case "garbage":
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(s.agent.out, "garbage line %d\n", i); err != nil {
				return err
			}
		}
	}
	return s.say("I can crash by exit, kill or garbage.")
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
