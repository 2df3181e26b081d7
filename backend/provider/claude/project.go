package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// projector turns what the CLI says of the conversation into events. It does
// no I/O and belongs to the goroutine that reads.
type projector struct {
	cwd string // paths of files below it are shown relative to it
	out []provider.Event
	// working is told when a tool of a turn begins to run and has ended.
	working func(id string, runs bool)

	// streams holds, by sub-agent ("" is the conversation itself), the message
	// that the model is saying.
	streams map[string]*stream
	// tools are the calls without a result yet, or that go on in background.
	tools map[string]*call
	// answer is what the agent said last; a tool call makes it commentary.
	answer *provider.Item
	plan   plan
	usage  provider.Usage
	model  string // of the session, as the CLI resolved it

	turn  int  // number of the turn, for keys
	spoke bool // the turn has shown an answer or a tool call
	// failure is the error that the CLI reported in place of an answer.
	failure failure
	limit   rateLimit // last word about the subscription's limits
	warned  string    // limit that was warned of
	retry   *provider.Item
	retries int
	// planFile is the file that plan mode last wrote its plan to.
	planFile string
}

// stream is a message in the making.
type stream struct {
	id     string
	blocks []*part
}

// part is a content block of a message in the making.
type part struct {
	index  int
	kind   string // text, thinking, tool_use
	key    string
	text   strings.Builder
	pieces pieces
	done   bool // the CLI has stated the whole block
}

// call is a tool call that is open.
type call struct {
	item   provider.Item
	name   string
	hidden bool // a plan tool, shown as the plan
	edits  bool
}

func newProjector(cwd string) *projector {
	return &projector{cwd: cwd, streams: map[string]*stream{}, tools: map[string]*call{}, working: func(string, bool) {}}
}

// take gives the events since the last take.
func (p *projector) take() []provider.Event {
	out := p.out
	p.out = nil
	return out
}

func (p *projector) emit(it provider.Item) { p.out = append(p.out, provider.Event{Item: &it}) }

// begin starts a turn.
func (p *projector) begin() {
	p.turn++
	p.spoke, p.answer, p.failure = false, nil, failure{}
}

// streamEvent takes a piece of a message in the making.
func (p *projector) streamEvent(l *streamLine) {
	ev := &l.Event
	st := p.streams[l.Parent]
	switch ev.Type {
	case "message_start":
		p.abandon(st, l.Parent, 0)
		p.streams[l.Parent] = &stream{id: ev.Message.ID}
		p.recovered()
		p.measure(l.Parent, ev.Message.Model, &ev.Message.Usage)
	case "content_block_start":
		if st != nil {
			p.startBlock(st, l.Parent, ev)
		}
	case "content_block_delta":
		p.delta(st, l.Parent, ev)
	case "message_delta":
		p.measure(l.Parent, "", ev.Usage)
	case "message_stop":
		if l.Abandoned != nil {
			p.abandon(st, l.Parent, l.Abandoned.From)
		}
	}
}

func (p *projector) startBlock(st *stream, parent string, ev *streamEvent) {
	b := &part{index: ev.Index, kind: ev.ContentBlock.Type}
	switch {
	case callBlock(b.kind):
		b.key = ev.ContentBlock.ID
		p.announce(parent, &ev.ContentBlock)
	case b.kind == "text" || b.kind == "thinking":
		b.key = st.id + "." + strconv.Itoa(ev.Index)
	default:
		return
	}
	st.blocks = append(st.blocks, b)
}

// callBlock says whether a block calls a tool: one of the CLI's, of the API's
// own, or of an MCP server behind the API.
func callBlock(kind string) bool {
	return kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use"
}

// announce shows a call whose input is still being written.
func (p *projector) announce(parent string, b *block) {
	if b.ID == "" || p.tools[b.ID] != nil {
		return
	}
	c := &call{name: b.Name, hidden: planTool(b.Name)}
	c.item = provider.Item{Key: b.ID, Parent: parent, Kind: event.ToolCall, Status: event.Pending, ProviderID: b.ID, Body: event.Body{Tool: newTool(b.Name, nil)}}
	p.tools[b.ID] = c
	p.commentary(parent)
	if !c.hidden {
		p.emit(c.item)
	}
}

func (p *projector) delta(st *stream, parent string, ev *streamEvent) {
	if st == nil {
		return
	}
	for _, b := range st.blocks {
		if b.index != ev.Index || b.done {
			continue
		}
		kind, raw := event.Answer, ev.Delta.Text
		if b.kind == "thinking" {
			kind, raw = event.Thought, ev.Delta.Thinking
		}
		if b.kind != "text" && b.kind != "thinking" {
			return
		}
		text := b.pieces.next(raw)
		if text == "" {
			return
		}
		b.text.WriteString(text)
		p.spoke = p.spoke || kind == event.Answer
		p.out = append(p.out, provider.Event{Text: &provider.Text{Key: b.key, Parent: parent, Kind: kind, Text: text}})
		return
	}
}

// abandon ends what a message in the making had said from a block on, and the
// CLI threw away: the stream broke off and is asked for again, or was
// interrupted.
func (p *projector) abandon(st *stream, parent string, from int) {
	if st == nil {
		return
	}
	for _, b := range st.blocks {
		if b.done || b.index < from {
			continue
		}
		b.done = true
		switch {
		case callBlock(b.kind):
			p.drop(b.key)
		case b.text.Len() > 0:
			kind := event.Answer
			if b.kind == "thinking" {
				kind = event.Thought
			}
			p.emit(provider.Item{Key: b.key, Parent: parent, Kind: kind, Status: event.Cancelled, Body: event.Body{Text: b.text.String()}})
		}
	}
}

// drop ends a call that never ran.
func (p *projector) drop(id string) {
	c := p.tools[id]
	if c == nil {
		return
	}
	delete(p.tools, id)
	p.working(id, false)
	if !c.hidden {
		c.item.Status = event.Cancelled
		p.emit(c.item)
	}
}

// assistant takes finished content blocks.
func (p *projector) assistant(l *messageLine) {
	if l.Failure != "" {
		p.failure = failure{kind: l.Failure, limit: l.FailureType == "usage_limit_reached"}
		return
	}
	for i := range l.Message.Content {
		b := &l.Message.Content[i]
		switch {
		case b.Type == "text":
			p.said(l, event.Answer, b.Type, b.Text)
		case b.Type == "thinking":
			p.said(l, event.Thought, b.Type, b.Thinking)
		case callBlock(b.Type):
			p.called(l.Parent, b)
		case strings.HasSuffix(b.Type, "tool_result"):
			p.finished(l, b)
		}
	}
}

// said takes a finished text or thought.
func (p *projector) said(l *messageLine, kind event.Kind, blockKind, text string) {
	key := p.finishBlock(l, blockKind)
	if strings.TrimSpace(text) == "" {
		return
	}
	it := provider.Item{Key: key, Parent: l.Parent, Kind: kind, Status: event.Completed, ProviderID: l.UUID, Body: event.Body{Text: text}}
	p.emit(it)
	if kind == event.Answer && l.Parent == "" {
		p.answer, p.spoke = &it, true
	}
}

// finishBlock finds the key of a block that was streamed, or makes one for
// one that was not (those of sub-agents are not).
func (p *projector) finishBlock(l *messageLine, kind string) string {
	if st := p.streams[l.Parent]; st != nil && st.id == l.Message.ID {
		for _, b := range st.blocks {
			if b.kind == kind && !b.done {
				b.done = true
				return b.key
			}
		}
	}
	return l.UUID
}

// called takes a tool call with its whole input.
func (p *projector) called(parent string, b *block) {
	if b.ID == "" {
		return
	}
	if st := p.streams[parent]; st != nil {
		for _, part := range st.blocks {
			part.done = part.done || part.key == b.ID
		}
	}
	p.announce(parent, b)
	c := p.tools[b.ID]
	c.item.Status = event.InProgress
	c.item.Body.Tool = newTool(b.Name, b.Input)
	c.edits = c.item.Body.Tool.Kind == event.ToolEdit
	p.spoke = true
	p.working(b.ID, true)
	if !c.hidden {
		p.emit(c.item)
	}
}

// commentary marks what was said before a tool call: the work goes on.
func (p *projector) commentary(parent string) {
	if p.answer == nil || parent != "" {
		return
	}
	it := *p.answer
	it.Body.Commentary = true
	p.answer = nil
	p.emit(it)
}

// user takes results of tools.
func (p *projector) user(l *messageLine) {
	for i := range l.Message.Content {
		if b := &l.Message.Content[i]; b.Type == "tool_result" {
			p.finished(l, b)
		}
	}
}

// finished takes the result of a tool call.
func (p *projector) finished(l *messageLine, b *block) {
	c := p.tools[b.ToolUseID]
	if c == nil {
		if b.ToolUseID == "" {
			return
		}
		// A result without a call still gets its row.
		c = &call{item: provider.Item{Key: b.ToolUseID, Parent: l.Parent, Kind: event.ToolCall, ProviderID: b.ToolUseID, Body: event.Body{Tool: newTool("", nil)}}}
	}
	p.working(b.ToolUseID, false)
	text, images := output(imageName(c.item.Body.Tool), b.Content)
	var result json.RawMessage // of one call; a line with several does not say whose it is
	if len(l.Message.Content) == 1 {
		result = l.ToolResult
	}
	if c.hidden && !b.IsError {
		delete(p.tools, b.ToolUseID)
		p.planned(c, result)
		return
	}
	if inBackground(result) {
		tool := *c.item.Body.Tool
		tool.Background = true
		c.item.Body.Tool = &tool
		p.emit(c.item)
		return
	}
	delete(p.tools, b.ToolUseID)
	p.complete(c, text, b.IsError, result)
	if b.IsError && interrupted(l.Meta, b.ToolUseID) {
		c.item.Status = event.Cancelled
	}
	c.item.Images = images
	p.emit(c.item)
}

// complete fills in a call's result.
func (p *projector) complete(c *call, text string, failed bool, result json.RawMessage) {
	tool := *c.item.Body.Tool
	c.item.Body.Tool = &tool
	c.item.Status = event.Completed
	tool.Output = text
	if report := agentReport(result); tool.Kind == event.ToolAgent && report != "" {
		tool.Output = report
	}
	if c.name == "Bash" {
		tool.ExitCode = shellExit(text, failed, result)
	}
	if failed {
		c.item.Status = event.Failed
		tool.Error = failureText(text)
		return
	}
	tool.Files = p.changedFiles(c.name, result)
	if c.edits && len(tool.Locations) > 0 && planPath(tool.Locations[0].Path) {
		p.planFile = tool.Locations[0].Path
	}
}

// interrupted says whether a call ended because the turn was interrupted.
func interrupted(meta []resultMeta, id string) bool {
	return slices.ContainsFunc(meta, func(m resultMeta) bool { return m.ID == id && m.NotExecuted == "user-rejected" })
}

// planned shows the plan as it stands; each turn that changes it has its own
// place for it.
func (p *projector) planned(c *call, result json.RawMessage) {
	if !p.plan.apply(c.name, c.item.Body.Tool.Input, result) {
		return
	}
	p.emit(provider.Item{Key: "plan." + strconv.Itoa(p.turn), Parent: c.item.Parent, Kind: event.Plan, Status: event.Completed, Body: event.Body{Plan: p.plan.entries()}})
}

// backgroundEnded takes the end of a call that went on in the background.
func (p *projector) backgroundEnded(l *systemLine) {
	c := p.tools[l.ToolUse]
	if c == nil || !c.item.Body.Tool.Background {
		return
	}
	delete(p.tools, l.ToolUse)
	tool := *c.item.Body.Tool
	c.item.Body.Tool = &tool
	tool.Output = l.Summary
	switch l.Status {
	case "completed":
		c.item.Status = event.Completed
	case "failed":
		c.item.Status, tool.Error = event.Failed, failureText(l.Summary)
	default: // killed, stopped
		c.item.Status = event.Cancelled
	}
	p.emit(c.item)
}

// end closes what the agent left open when it went away.
func (p *projector) end() {
	for parent, st := range p.streams {
		p.abandon(st, parent, 0)
	}
	for id := range p.tools {
		p.drop(id)
	}
	p.recovered()
}

// notice puts a plain row into the timeline.
func (p *projector) notice(key, code, level, text, detail string) {
	p.emit(provider.Item{Key: key, Kind: event.Notice, Status: event.Completed,
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level, Detail: detail}}})
}

// compacted tells that the conversation was shortened.
func (p *projector) compacted(l *systemLine) {
	text := "The conversation was compacted to make room."
	if l.Compact.Trigger == "manual" {
		text = "The conversation was compacted."
	}
	detail := ""
	if l.Compact.Before > 0 && l.Compact.After > 0 {
		detail = fmt.Sprintf("%d → %d tokens", l.Compact.Before, l.Compact.After)
	}
	p.notice(cmp.Or(l.UUID, "compacted"), "compacted", "info", text, detail)
}

// informed shows what the CLI itself has to say.
func (p *projector) informed(l *systemLine) {
	if l.Content == "" || l.UUID == "" {
		return
	}
	level := "info"
	switch l.Level {
	case "warning", "error":
		level = l.Level
	}
	p.notice(l.UUID, "agent_notice", level, cut(l.Content, maxNotice), "")
}

// maxNotice bounds the CLI's own words in a notice, in bytes.
const maxNotice = 4 << 10
