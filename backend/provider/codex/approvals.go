package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// Decisions of commands and edits.
const (
	accept    = "accept"
	acceptAll = "acceptForSession"
	decline   = "decline"
	cancel    = "cancel"
)

// commandRequest asks whether a command may run, or what it asks for be
// granted.
func (s *session) commandRequest(r *request, in *ask) event.Request {
	var command string
	_ = json.Unmarshal(in.Command, &command) // absent for access to the network
	body := event.Request{
		Title: clip(unwrap(command), maxInput), Command: clip(unwrap(command), maxInput), Cwd: clip(in.Cwd, maxPath),
		Reason: in.Reason, ToolKind: event.ToolExecute, Input: bounded(in.Additional, maxInput),
	}
	if in.Network != nil {
		body.Host = clip(in.Network.Host, maxText)
		body.Title = "Reach " + body.Host
	}
	if in.Kind == "writeStdin" {
		body.Title = "Type into the running command"
	}
	body.Title = cmp.Or(body.Title, "Run a command")
	body.Options = r.choose(commandChoices(in))
	r.cancelled = decision(cancel)
	return body
}

// commandChoices are the decisions that Codex offers, in its order. Declining
// is always possible, offered or not: the turn then goes on.
func commandChoices(in *ask) []choice {
	offered := in.Decisions
	if len(offered) == 0 {
		offered = []json.RawMessage{json.RawMessage(`"accept"`), json.RawMessage(`"cancel"`)}
	}
	var allow, refuse []choice
	declines := false
	for i, raw := range offered {
		c, ok := commandChoice(raw, i)
		switch {
		case !ok:
		case c.option.Kind == event.RejectOnce || c.option.Kind == event.RejectAlways:
			declines = declines || c.option.ID == decline
			refuse = append(refuse, c)
		default:
			allow = append(allow, c)
		}
	}
	if !declines {
		allow = append(allow, plainChoice(decline))
	}
	return append(allow, refuse...)
}

// commandChoice reads one decision: a word, or an object with what is to be
// allowed from now on.
func commandChoice(raw json.RawMessage, i int) (choice, bool) {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		c := plainChoice(word)
		return c, c.option.ID != ""
	}
	var in struct {
		Rule *struct {
			Prefix []string `json:"execpolicy_amendment"`
		} `json:"acceptWithExecpolicyAmendment"`
		Network *struct {
			Amendment struct {
				Host   string `json:"host"`
				Action string `json:"action"`
			} `json:"network_policy_amendment"`
		} `json:"applyNetworkPolicyAmendment"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return choice{}, false
	}
	id := fmt.Sprintf("always-%d", i)
	switch {
	case in.Rule != nil && len(in.Rule.Prefix) > 0:
		return choice{event.Option{ID: id, Kind: event.AllowAlways, Label: "Always allow " + ruleLabel(in.Rule.Prefix)}, decision(raw)}, true
	case in.Network != nil && in.Network.Amendment.Action == "deny":
		return choice{event.Option{ID: id, Kind: event.RejectAlways, Label: "Never allow " + clip(in.Network.Amendment.Host, maxText)}, decision(raw)}, true
	case in.Network != nil:
		return choice{event.Option{ID: id, Kind: event.AllowAlways, Label: "Always allow " + clip(in.Network.Amendment.Host, maxText)}, decision(raw)}, true
	}
	return choice{}, false
}

// ruleLabel is the beginning of the commands that a rule allows. A whole
// command line is shown as the model wrote it.
func ruleLabel(prefix []string) string {
	if len(prefix) == 3 && shells[prefix[0][strings.LastIndexByte(prefix[0], '/')+1:]] && (prefix[1] == "-lc" || prefix[1] == "-c") {
		return "this: " + clip(prefix[2], maxText)
	}
	return "commands that begin with: " + clip(strings.Join(prefix, " "), maxText)
}

// plainChoice is a decision without further content; the option is empty for
// one that is not known.
func plainChoice(word string) choice {
	c := choice{result: decision(word)}
	switch word {
	case accept:
		c.option = event.Option{ID: accept, Kind: event.AllowOnce, Label: "Allow"}
	case acceptAll:
		c.option = event.Option{ID: acceptAll, Kind: event.AllowSession, Label: "Allow for this session"}
	case decline:
		c.option = event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny", Reason: true}
	case cancel:
		c.option = event.Option{ID: cancel, Kind: event.RejectOnce, Label: "Deny and stop the turn"}
	}
	return c
}

// filesRequest asks whether an edit may be made. What it changes stands in
// the item that waits.
func (s *session) filesRequest(r *request, in *ask) event.Request {
	body := event.Request{Title: "Edit files", Reason: in.Reason, Cwd: s.spec.Cwd, ToolKind: event.ToolEdit}
	if e := s.entries[rawKey(in.TurnID, in.ItemID)]; e != nil && e.tool != nil {
		body.Title, body.ToolKind, body.Files = e.tool.Title, e.tool.Kind, e.tool.Files
	}
	if in.GrantRoot != "" {
		body.Reason = strings.TrimSpace(body.Reason + "\nWriting below " + clip(in.GrantRoot, maxPath) + " is asked for, too.")
	}
	body.Options = r.choose([]choice{plainChoice(accept), plainChoice(acceptAll), plainChoice(decline), plainChoice(cancel)})
	r.cancelled = decision(cancel)
	return body
}

// permissionsRequest asks for more than the sandbox allows.
func (s *session) permissionsRequest(r *request, in *ask) event.Request {
	granted := withoutNulls(in.Permissions)
	grant := func(scope string) any { return map[string]any{"permissions": granted, "scope": scope} }
	return event.Request{
		Title: permissionsTitle(in.Permissions), Reason: in.Reason, Cwd: clip(in.Cwd, maxPath), Input: bounded(in.Permissions, maxInput), ToolKind: event.ToolOther,
		Options: r.choose([]choice{
			{event.Option{ID: "turn", Kind: event.AllowOnce, Label: "Allow for this turn"}, grant("turn")},
			{event.Option{ID: "session", Kind: event.AllowSession, Label: "Allow for this session"}, grant("session")},
			{event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny", Reason: true}, declined(methodPermissions)},
		}),
	}
}

// withoutNulls is what was asked for, to be granted as it stands: fields that
// ask for nothing are left out, as the answer wants it.
func withoutNulls(raw json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all) // nothing asked for, nothing granted
	granted := map[string]json.RawMessage{}
	for name, value := range all {
		if string(value) != "null" {
			granted[name] = value
		}
	}
	return granted
}

// permissionsTitle says in words what is asked for.
func permissionsTitle(raw json.RawMessage) string {
	var in struct {
		Network *struct {
			Enabled bool `json:"enabled"`
		} `json:"network"`
		Files *struct {
			Read  []string `json:"read"`
			Write []string `json:"write"`
		} `json:"fileSystem"`
	}
	_ = json.Unmarshal(raw, &in) // the whole stands below the title
	var parts []string
	if in.Network != nil && in.Network.Enabled {
		parts = append(parts, "reach the network")
	}
	if in.Files != nil && len(in.Files.Write) > 0 {
		parts = append(parts, "write to "+strings.Join(in.Files.Write, ", "))
	}
	if in.Files != nil && len(in.Files.Read) > 0 {
		parts = append(parts, "read "+strings.Join(in.Files.Read, ", "))
	}
	if len(parts) == 0 {
		return "Codex asks for more permissions"
	}
	return clip("Codex asks to "+strings.Join(parts, " and to "), maxText)
}

// oldChange is a file of the older request for an edit.
type oldChange struct {
	Type    string  `json:"type"`
	Content string  `json:"content"`
	Patch   string  `json:"unified_diff"`
	Move    *string `json:"move_path"`
}

// oldRequest asks what older servers ask, with their own decisions.
func (s *session) oldRequest(r *request, in *ask, method string) event.Request {
	body := event.Request{Title: "Edit files", Reason: in.Reason, Cwd: clip(in.Cwd, maxPath), ToolKind: event.ToolEdit}
	if method == methodOldCommand {
		var words []string
		_ = json.Unmarshal(in.Command, &words) // shown empty then
		body.Command = clip(strings.Join(words, " "), maxInput)
		body.Title, body.ToolKind = cmp.Or(body.Command, "Run a command"), event.ToolExecute
	}
	for name, change := range in.OldChanges {
		c := fileChange{Path: name, Diff: cmp.Or(change.Patch, change.Content)}
		c.Kind.Type, c.Kind.Move = change.Type, change.Move
		body.Files = append(body.Files, s.fileDiff(c))
		if len(body.Files) == maxFiles {
			break
		}
	}
	denied := func(a provider.Answer) any {
		return decision(map[string]any{"denied": map[string]any{"rejection": cmp.Or(a.Reason, "denied")}})
	}
	body.Options = r.choose([]choice{
		{event.Option{ID: accept, Kind: event.AllowOnce, Label: "Allow"}, decision("approved")},
		{event.Option{ID: acceptAll, Kind: event.AllowSession, Label: "Allow for this session"}, decision("approved_for_session")},
		{event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny", Reason: true}, nil},
		{event.Option{ID: cancel, Kind: event.RejectOnce, Label: "Deny and stop the turn"}, decision("abort")},
	})
	known := r.reply
	r.reply = func(a provider.Answer) (any, error) {
		result, err := known(a)
		if err == nil && a.Option == decline {
			return denied(a), nil
		}
		return result, err
	}
	r.reason = nil // it goes with the decision
	r.cancelled = decision("abort")
	return body
}
