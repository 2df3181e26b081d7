package api

import (
	"context"
	"sync"

	"berth/backend/event"
	"berth/backend/provider"
)

// echo is an agent that repeats what it is told. "/ask" asks for permission,
// "/wait" does nothing until it is interrupted.
type echo struct{}

func (*echo) Name() string { return "echo" }

func (*echo) Describe(context.Context, provider.Host) provider.Description {
	return provider.Description{Name: "echo", Title: "Echo", Mark: "Ec", Status: provider.Ready,
		Models: []provider.Model{{Label: "Default"}}, Modes: []provider.Permission{provider.Ask, provider.Full}}
}

func (*echo) Open(context.Context, provider.Host, provider.Spec) (provider.Session, error) {
	return &echoing{events: make(chan provider.Event, 64)}, nil
}

type echoing struct {
	events chan provider.Event
	close  sync.Once
}

func (e *echoing) Send(_ context.Context, in provider.Input) (provider.Delivery, error) {
	e.events <- provider.Event{Accepted: &provider.Accepted{}}
	switch in.Text {
	case "/wait":
	case "/ask":
		e.events <- provider.Event{Request: &provider.Request{Key: "r" + in.Turn, Kind: event.Approval, Body: event.Request{Title: "May I?",
			Options: []event.Option{{ID: "yes", Kind: event.AllowOnce, Label: "Yes"}, {ID: "no", Kind: event.RejectOnce, Label: "No", Reason: true}}}}}
	default:
		e.say(in.Turn, in.Text)
	}
	return provider.Sent, nil
}

func (e *echoing) say(key, text string) {
	e.events <- provider.Event{Text: &provider.Text{Key: key, Kind: event.Answer, Text: text}}
	e.events <- provider.Event{Item: &provider.Item{Key: key, Kind: event.Answer, Status: event.Completed, Body: event.Body{Text: text}}}
	e.end("completed")
}

func (e *echoing) end(state string) {
	e.events <- provider.Event{TurnEnded: &provider.TurnEnded{State: state}}
}

func (*echoing) Steer(context.Context, provider.Input) (provider.Delivery, error) {
	return provider.NotSent, provider.ErrUnsupported
}
func (e *echoing) Interrupt(context.Context) error { e.end("stopped"); return nil }
func (e *echoing) Answer(_ context.Context, key string, a provider.Answer) error {
	if !a.Cancelled {
		e.say(key, "You said "+a.Option+".")
	}
	return nil
}
func (e *echoing) Close(context.Context) error {
	e.close.Do(func() { e.events <- provider.Event{Closed: &provider.Closed{}}; close(e.events) })
	return nil
}
func (e *echoing) Events() <-chan provider.Event { return e.events }
func (e *echoing) Processes() []string           { return nil }
