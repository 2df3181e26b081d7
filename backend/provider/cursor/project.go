package cursor

import (
	"fmt"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// maxCalls bounds the tool calls of a turn.
const maxCalls = 4096

// projector turns the lines of one turn into events. It does no I/O and
// belongs to the goroutine that reads.
type projector struct {
	cwd  string
	turn string // Berth's, for keys
	out  []provider.Event
	// working is told when a tool begins to run and has ended.
	working func(id string, runs bool)

	parts   int    // texts and thoughts so far
	message *part  // the message in the making
	thought *part  // the thought in the making
	answer  string // the text of the last whole message
	last    *provider.Item
	open    map[string]*provider.Item // calls that run
	calls   int
}

// part is a text in the making.
type part struct {
	key  string
	text strings.Builder
}

func newProjector(turn, cwd string, working func(string, bool)) *projector {
	return &projector{cwd: cwd, turn: turn, working: working, open: map[string]*provider.Item{}}
}

func (p *projector) take() []provider.Event {
	out := p.out
	p.out = nil
	return out
}

func (p *projector) emit(it provider.Item) { p.out = append(p.out, provider.Event{Item: &it}) }

// key makes a key that is unique in the session: the CLI gives none to texts.
func (p *projector) key(what string) string {
	p.parts++
	return fmt.Sprintf("%s.%s.%d", p.turn, what, p.parts)
}

func (p *projector) grow(at **part, kind event.Kind, text string) {
	if text == "" {
		return
	}
	if *at == nil {
		*at = &part{key: p.key(string(kind))}
	}
	(*at).text.WriteString(text)
	p.out = append(p.out, provider.Event{Text: &provider.Text{Key: (*at).key, Kind: kind, Text: text}})
}

// said takes a message or a piece of one. With --stream-partial-output the
// pieces come first, and then the whole message again.
func (p *projector) said(l *line) {
	text := l.said()
	if text == "" {
		return
	}
	p.thoughtEnded()
	if l.piece() {
		p.answer = ""
		p.grow(&p.message, event.Answer, text)
		return
	}
	if p.message == nil {
		if text == p.answer {
			return // said before
		}
		p.grow(&p.message, event.Answer, text)
	} else if streamed := p.message.text.String(); !strings.HasSuffix(text, streamed) {
		p.message.text.Reset()
		p.message.text.WriteString(text)
	}
	p.messageEnded()
}

func (p *projector) messageEnded() {
	if p.message == nil {
		return
	}
	p.answer = p.message.text.String()
	it := provider.Item{Key: p.message.key, Kind: event.Answer, Status: event.Completed, Body: event.Body{Text: p.answer}}
	p.message, p.last = nil, &it
	p.emit(it)
}

// thinking takes a piece of a thought, or its end.
func (p *projector) thinking(l *line) {
	if l.Subtype == "completed" {
		p.thoughtEnded()
		return
	}
	p.messageEnded()
	p.grow(&p.thought, event.Thought, l.Text)
}

func (p *projector) thoughtEnded() {
	if p.thought == nil {
		return
	}
	it := provider.Item{Key: p.thought.key, Kind: event.Thought, Status: event.Completed, Body: event.Body{Text: p.thought.text.String()}}
	p.thought = nil
	p.emit(it)
}

// called takes a line about a tool call. false: there are too many.
func (p *projector) called(l *line) bool {
	c, ok := readCall(l.Tool)
	if !ok || l.Call == "" {
		c, l.Call = toolCall{name: "unknown"}, cut(l.Call, maxTitle)
	}
	p.thoughtEnded()
	p.messageEnded()
	p.commentary()
	id := p.turn + ".call." + l.Call
	it := p.open[id]
	if it == nil {
		if p.calls++; p.calls > maxCalls {
			return false
		}
		it = &provider.Item{Key: id, Kind: event.ToolCall, Status: event.InProgress, ProviderID: l.Call, Body: event.Body{Tool: c.tool()}}
		p.open[id] = it
		p.working(id, true)
		if !planTool(c.name) {
			p.emit(*it)
		}
	}
	if l.Subtype == "completed" {
		delete(p.open, id)
		p.working(id, false)
		p.completed(it, &c)
	}
	return true
}

func (p *projector) completed(it *provider.Item, c *toolCall) {
	tool := c.tool()
	if len(c.args) == 0 && it.Body.Tool != nil { // the end need not repeat the beginning
		*tool = *it.Body.Tool
		c.args = tool.Input
	}
	it.Body.Tool = tool
	it.Status = c.finish(tool, p.cwd)
	if planTool(c.name) && it.Status == event.Completed {
		if entries := c.plan(); len(entries) > 0 {
			p.emit(provider.Item{Key: p.turn + ".plan", Kind: event.Plan, Status: event.Completed, Body: event.Body{Plan: entries}})
		}
		return
	}
	p.emit(*it)
}

// commentary marks what was said before a tool call: the work goes on.
func (p *projector) commentary() {
	if p.last == nil {
		return
	}
	it := *p.last
	it.Body.Commentary = true
	p.last = nil
	p.emit(it)
}

// end closes what is open; calls without an end get one. It says whether
// there were such calls.
func (p *projector) end() bool {
	p.thoughtEnded()
	p.messageEnded()
	unfinished := len(p.open) > 0
	for id, it := range p.open {
		delete(p.open, id)
		p.working(id, false)
		tool := *it.Body.Tool
		tool.Error = "The agent ended before this did."
		it.Body.Tool, it.Status = &tool, event.Cancelled
		p.emit(*it)
	}
	return unfinished
}

// spent tells the figures of a turn.
func (p *projector) spent(u *usage, model string) {
	if u == nil {
		return
	}
	out := provider.Usage{Model: model, CachedTokens: u.CacheRead, OutputTokens: u.Output, InputTokens: u.Input}
	if u.Input != nil && u.CacheWrite != nil {
		input := *u.Input + *u.CacheWrite
		out.InputTokens = &input
	}
	p.out = append(p.out, provider.Event{Usage: &out})
}
