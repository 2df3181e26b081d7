package conformance

import (
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// patience bounds every wait of a case; the agents take seconds to start on a
// small machine.
const patience = 90 * time.Second

// talk is a chat with a real agent, through a driver or through the whole
// program. A method that cannot do its part fails the test.
type talk interface {
	// send sends a message, with files by path.
	send(text string, files ...string)
	steer(text string)
	interrupt()
	// asked waits for a request of that kind.
	asked(kind event.Kind) request
	// decide answers an approval with the first of the option's kinds.
	decide(r request, reason string, kinds ...event.OptionKind)
	// choose answers the first question of a request.
	choose(r request, answer string)
	// allow allows whatever is asked until the turn ends.
	allow() ending
	// seen waits until the items look right.
	seen(what string, ok func([]item) bool)
	// ended waits for the end of the turn.
	ended() ending
	items() []item
	// usage is the last one stated, and commands those offered.
	usage() *provider.Usage
	commands() []string
	// killAgent ends the agent's process as by SIGKILL.
	killAgent()
	// restart ends Berth's side and begins anew with the same conversation,
	// or with a fork of it.
	restart(fork bool)
	// close ends the chat's process.
	close()
}

// item is an entry of the timeline as a case looks at it.
type item struct {
	Key    string
	Parent string
	Kind   event.Kind
	Status event.Status
	Text   string
	Body   event.Body
}

// request is what the agent asked.
type request struct {
	key  string
	body event.Request
}

// ending is how a turn ended: completed, failed, stopped, or lost when the
// agent went away.
type ending struct {
	state string
	code  string
	text  string
}

const lost = "lost"

// said is all text of one kind, in order.
func said(items []item, kind event.Kind) string {
	var all strings.Builder
	for _, i := range items {
		if i.Kind == kind && i.Parent == "" {
			all.WriteString(i.Text)
		}
	}
	return all.String()
}

// tools are the tool calls of one kind.
func tools(items []item, kind event.ToolKind) []item {
	var all []item
	for _, i := range items {
		if i.Kind == event.ToolCall && i.Body.Tool != nil && i.Body.Tool.Kind == kind {
			all = append(all, i)
		}
	}
	return all
}

// patches are all patches shown, of tools and of diffs.
func patches(items []item) []event.FileDiff {
	var all []event.FileDiff
	for _, i := range items {
		all = append(all, i.Body.Files...)
		if i.Body.Tool != nil {
			all = append(all, i.Body.Tool.Files...)
		}
	}
	return all
}

func wantState(t *testing.T, got ending, want string) {
	t.Helper()
	if got.state != want {
		t.Errorf("the turn ended %s (%s: %s), want %s", got.state, got.code, got.text, want)
	}
}
