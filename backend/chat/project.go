package chat

import (
	"encoding/json"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// summaryLength bounds the one line that lists show of an item, in
// characters.
const summaryLength = 200

// flushSize is how much streaming text is stored at once although its time
// has not come, in bytes.
const flushSize = 32 << 10

// handle takes one event of the agent.
func (a *actor) handle(ev provider.Event) {
	switch {
	case ev.Text != nil:
		a.text(ev.Text)
	case ev.Item != nil:
		a.item(ev.Item)
	case ev.Accepted != nil:
		a.accepted(ev.Accepted.Steered)
	case ev.Request != nil:
		a.ask(ev.Request)
	case ev.Withdrawn != "":
		a.withdrawn(ev.Withdrawn)
	case ev.Conversation != "":
		a.conversation(ev.Conversation)
	case ev.Usage != nil:
		a.usage(ev.Usage)
	case ev.Commands != nil:
		a.commands(*ev.Commands)
	case ev.Background != nil:
		a.background(*ev.Background)
	case ev.Raw != nil:
		if a.s.raw != nil {
			a.s.raw(a.chat.id, ev.Raw)
		}
	case ev.TurnEnded != nil:
		a.turnEnded(ev.TurnEnded)
	case ev.Closed != nil:
		a.agentClosed(ev.Closed)
	}
}

// turnID is the turn that late items belong to, empty between turns.
func (a *actor) turnID() string {
	if a.turn == nil {
		return ""
	}
	return a.turn.ID
}

// text shows a piece of text at once and has it stored soon.
func (a *actor) text(t *provider.Text) {
	en := a.agent.entries[t.Key]
	if en == nil {
		if a.agent.ids[t.Key] != "" {
			return // a late piece of an item that has ended
		}
		en = event.NewEntry(event.Item{Chat: a.chat.id, Turn: a.turnID(), Parent: a.agent.ids[t.Parent], Kind: t.Kind, Status: event.InProgress},
			t.Kind != event.ToolCall)
		if t.Kind == event.ToolCall {
			now := store.Now()
			en.Body.Tool = &event.Tool{Kind: event.ToolOther, StartedAt: &now}
		}
		if !a.put(t.Key, en) {
			return
		}
	}
	if en.Kind == event.ToolCall {
		a.output(t.Key).write(t.Text)
		a.markDirty(t.Key)
		return
	}
	text := a.boundText(t.Key, len(en.Body.Text), t.Text)
	if text == "" {
		return
	}
	a.s.log.Live(en, text)
	if en.Unflushed() >= flushSize {
		a.store()
		return
	}
	a.storeSoon()
}

// tellsWhatHappens are the kinds that lists show as what happened last.
var tellsWhatHappens = map[event.Kind]bool{event.Answer: true, event.ToolCall: true, event.Artifact: true, event.Notice: true}

// put stores an entry's present state; false means that it could not be.
func (a *actor) put(key string, en *event.Entry) bool {
	err := a.write("write an item", func(tx *store.Tx) error {
		if err := a.s.log.Put(tx, en); err != nil {
			return err
		}
		if en.Summary == "" || !tellsWhatHappens[en.Kind] {
			return nil
		}
		_, err := tx.Exec("update chats set last_line = ? where id = ?", en.Summary, a.chat.id)
		return err
	})
	if err != nil && en.Seq == 0 {
		return false
	}
	a.agent.ids[key] = en.ID
	if en.Status == event.InProgress || en.Status == event.Pending {
		a.agent.entries[key] = en
	} else {
		delete(a.agent.entries, key)
		delete(a.agent.outputs, key)
	}
	delete(a.agent.dirty, key)
	return true
}

// item takes a new item, or a new state of one.
func (a *actor) item(it *provider.Item) {
	en := a.agent.entries[it.Key]
	if en == nil {
		if id := a.agent.ids[it.Key]; id != "" {
			if en = a.ended(id); en == nil {
				return
			}
		} else {
			streams := (it.Kind == event.Answer || it.Kind == event.Thought) && it.Status == event.InProgress
			en = event.NewEntry(event.Item{Chat: a.chat.id, Turn: a.turnID(), Kind: it.Kind}, streams)
		}
	}
	fresh := en.Seq == 0
	changed := fresh || en.Status != it.Status
	a.merge(en, it)
	if !changed && en.Status == event.InProgress && en.Kind == event.ToolCall {
		a.markDirty(it.Key)
		return
	}
	a.put(it.Key, en)
}

// ended gives an item again that had ended, for a driver that has more to
// say of it.
func (a *actor) ended(id string) *event.Entry {
	it, err := a.s.log.Item(a.s.ctx, id)
	if err != nil {
		return nil
	}
	return event.NewEntry(it, false)
}

// merge lets an entry follow what the driver reports; text that was streamed
// stays unless the driver states the whole.
func (a *actor) merge(en *event.Entry, it *provider.Item) {
	en.Kind, en.Status = it.Kind, it.Status
	if it.Parent != "" {
		en.Parent = a.agent.ids[it.Parent]
	}
	if it.ProviderID != "" {
		en.ProviderID = it.ProviderID
	}
	text, before := en.Body.Text, en.Body.Tool
	en.Body = it.Body
	en.Body.Text = text
	if it.Body.Text != "" {
		a.s.log.ReplaceText(en, a.boundText(it.Key, 0, it.Body.Text))
	}
	if tool := en.Body.Tool; tool != nil {
		kept := *tool
		en.Body.Tool = &kept
		a.completeTool(en, it, before)
	}
	boundBody(&en.Body)
	en.Summary = it.Summary
	if en.Summary == "" {
		en.Summary = summary(en)
	}
	for _, image := range it.Images {
		a.keepImage(en, image)
	}
}

// completeTool adds what the chat knows of a tool call and the driver may
// not: its times, and output that was streamed.
func (a *actor) completeTool(en *event.Entry, it *provider.Item, before *event.Tool) {
	tool := en.Body.Tool
	now := store.Now()
	if before != nil {
		if tool.StartedAt == nil {
			tool.StartedAt = before.StartedAt
		}
		if len(tool.Images) == 0 {
			tool.Images = before.Images
		}
		if tool.OutputFile == "" {
			tool.OutputFile = before.OutputFile
		}
	}
	if tool.StartedAt == nil {
		tool.StartedAt = &now
	}
	out := a.agent.outputs[it.Key]
	if tool.Output != "" {
		out = a.output(it.Key)
		out.replace(tool.Output)
	} else if before != nil && out == nil {
		tool.Output, tool.OutputBytes = before.Output, before.OutputBytes
	}
	ended := en.Status != event.InProgress && en.Status != event.Pending
	if out != nil {
		tool.Output, tool.OutputBytes = out.shown(ended), out.total
		if ended && out.total > shownOutput {
			tool.OutputFile = a.keepOutput(out)
		}
	}
	if ended && tool.EndedAt == nil {
		tool.EndedAt = &now
	}
}

func (a *actor) markDirty(key string) {
	en := a.agent.entries[key]
	if en == nil {
		return
	}
	a.agent.dirty[key] = true
	a.storeSoon()
}

func (a *actor) storeSoon() {
	if a.flush == nil {
		a.flush = time.NewTimer(a.s.bounds.FlushEvery)
	}
}

// store writes what streams and has not been stored, in one transaction.
func (a *actor) store() {
	if a.agent == nil {
		return
	}
	var texts, changed []*event.Entry
	for key, en := range a.agent.entries {
		if a.agent.dirty[key] {
			if out := a.agent.outputs[key]; out != nil && en.Body.Tool != nil {
				tool := *en.Body.Tool
				tool.Output, tool.OutputBytes = out.shown(false), out.total
				en.Body.Tool = &tool
			}
			changed = append(changed, en)
		} else if en.Unflushed() > 0 {
			texts = append(texts, en)
		}
	}
	if len(texts)+len(changed) == 0 {
		return
	}
	err := a.write("store what streams", func(tx *store.Tx) error {
		for _, en := range texts {
			if err := a.s.log.Flush(tx, en); err != nil {
				return err
			}
		}
		return a.putAll(tx, changed)
	})
	if err != nil {
		a.storeSoon() // it is kept in memory and tried again
		return
	}
	clear(a.agent.dirty)
}

// closeItems ends, for the transaction that ends the turn, all that is still
// open: what an agent did not finish is cancelled, what it asked no longer
// waits.
func (a *actor) closeItems() []*event.Entry {
	if a.agent == nil {
		return nil
	}
	var open []*event.Entry
	for key, en := range a.agent.entries {
		if en.Body.Tool != nil && en.Body.Tool.Background && !a.agent.closed {
			continue // it outlives the turn, though not its agent
		}
		switch {
		case en.Kind == event.Answer || en.Kind == event.Thought:
			en.Status = event.Completed
		default:
			en.Status = event.Cancelled
		}
		if out := a.agent.outputs[key]; out != nil && en.Body.Tool != nil {
			tool := *en.Body.Tool
			tool.Output, tool.OutputBytes = out.shown(true), out.total
			now := store.Now()
			tool.EndedAt = &now
			en.Body.Tool = &tool
		}
		if en.Summary == "" {
			en.Summary = summary(en)
		}
		open = append(open, en)
		delete(a.agent.entries, key)
		delete(a.agent.outputs, key)
		delete(a.agent.dirty, key)
	}
	return append(open, a.cancelRequests()...)
}

func (a *actor) conversation(id string) {
	if id == a.chat.conversation {
		return
	}
	err := a.write("keep the conversation's id", func(tx *store.Tx) error {
		_, err := tx.Exec("update chats set conversation = ? where id = ?", id, a.chat.id)
		return err
	})
	if err == nil {
		a.chat.conversation = id
	}
}

func (a *actor) usage(u *provider.Usage) {
	b, err := json.Marshal(u)
	if err != nil {
		return
	}
	_ = a.write("keep the usage", func(tx *store.Tx) error {
		_, err := tx.Exec("update chats set usage = ? where id = ?", string(b), a.chat.id)
		return err
	})
}

// maxCommands bounds what an agent may offer after "/".
const maxCommands = 500

func (a *actor) commands(list []provider.Command) {
	if len(list) > maxCommands {
		list = list[:maxCommands]
	}
	b, err := json.Marshal(list)
	if err != nil {
		return
	}
	_ = a.write("keep the commands", func(tx *store.Tx) error {
		_, err := tx.Exec("update chats set commands = ? where id = ?", string(b), a.chat.id)
		return err
	})
}

// maxBackground bounds how many background tasks of an agent are told.
const maxBackground = 256

// background keeps what the agent goes on with outside its turn; while there
// is any, its process is not evicted.
func (a *actor) background(tasks []provider.BackgroundTask) {
	running := make([]provider.BackgroundTask, 0, len(tasks))
	for _, t := range tasks {
		if t.Status == "running" && len(running) < maxBackground {
			running = append(running, t)
		}
	}
	a.agent.background = running
	a.publishState()
}

func (a *actor) turnEnded(end *provider.TurnEnded) {
	t := a.turn
	if t == nil || t.delivery == deliveryNone || t.State.Terminal() {
		return // a late word about a turn that no longer has the slot
	}
	a.accepted(false)
	switch {
	case a.stop != nil:
		a.finish(t, TurnStopped, "user", nil)
	case end.State == "failed":
		e := end.Err
		if e == nil {
			e = &provider.Error{Code: "failed", Text: "The agent ended the turn with an error it did not explain."}
		}
		a.fail(t, e)
	case end.State == "stopped":
		a.finish(t, TurnStopped, "agent", nil)
	default:
		a.finish(t, TurnCompleted, end.StopReason, nil)
	}
}

// agentClosed: the process or connection is gone.
func (a *actor) agentClosed(c *provider.Closed) {
	old, t := a.agent, a.turn
	old.closed = true
	if t == nil {
		if left := a.closeItems(); len(left) > 0 {
			_ = a.write("close what an agent left", func(tx *store.Tx) error { return a.putAll(tx, left) })
		}
	} else {
		a.endedByItself(t, c)
	}
	if a.agent == old {
		a.agent = nil
	}
	a.publishState()
	a.startNext()
}

// endedByItself: what an agent's end means for the turn that had the slot.
func (a *actor) endedByItself(t *turnRow, c *provider.Closed) {
	e := c.Err
	if e == nil {
		e = &provider.Error{Code: "agent_ended", Text: "The agent ended before the turn did.", Detail: lastLine(c.Stderr)}
	}
	switch {
	case t.State.Terminal(): // its end is being recorded
	case a.stop != nil:
		a.stopConfirmed()
	case t.delivery == deliveryWriting || t.delivery == deliverySent:
		a.uncertain(t, e)
	default:
		a.fail(t, e)
	}
}

func summary(en *event.Entry) string {
	switch {
	case en.Body.Tool != nil:
		if en.Body.Tool.Title != "" {
			return firstLine(en.Body.Tool.Title)
		}
		return beginning(en.Body.Tool.Name, summaryLength)
	case len(en.Body.Plan) > 0:
		for _, p := range en.Body.Plan {
			if p.Status == event.InProgress {
				return firstLine(p.Text)
			}
		}
		return firstLine(en.Body.Plan[0].Text)
	case en.Body.Request != nil:
		return firstLine(en.Body.Request.Title)
	case en.Body.Artifact != nil:
		return beginning(en.Body.Artifact.Name, summaryLength)
	}
	return firstLine(en.Body.Text)
}
