package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"berth/backend/chat"
	"berth/backend/event"
)

// maxAsked bounds the requests that wait for the user at the terminal; agents
// ask a handful at once.
const maxAsked = 64

// follow shows what happens until the turn has ended.
func (a *asking) follow(ctx context.Context, interrupts <-chan os.Signal) (chat.Turn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches, failed := make(chan event.Batch), make(chan error, 1)
	go func() {
		for {
			b, err := a.show.stream.Next(ctx)
			if err != nil {
				failed <- err
				return
			}
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	if a.approve == "prompt" {
		go a.prompts(ctx)
	}
	presses := 0
	for {
		select {
		case b := <-batches:
			t, err := a.take(ctx, b)
			if err != nil {
				return chat.Turn{}, err
			}
			if t.State.Terminal() {
				return t, nil
			}
		case err := <-failed:
			return chat.Turn{}, fmt.Errorf("the connection to Berth was lost, the turn may go on: %w", err)
		case <-interrupts:
			presses++
			if err := a.interrupted(ctx, presses); err != nil {
				return chat.Turn{}, err
			}
		}
	}
}

// interrupted answers Ctrl-C: the first says what the second does.
func (a *asking) interrupted(ctx context.Context, presses int) error {
	switch presses {
	case 1:
		fmt.Fprintln(a.sh.err, "\nThe agent is at work. Press Ctrl-C again to stop it.")
	case 2:
		fmt.Fprintln(a.sh.err, "\nStopping…")
		go a.stop(ctx)
	default:
		return &ended{exitStopped, errors.New("gave up waiting for the agent to stop")}
	}
	return nil
}

// stop asks for the stop; its success is the end of the turn.
func (a *asking) stop(ctx context.Context) {
	r, err := a.b.Stop(ctx, a.chat)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		fmt.Fprintf(a.sh.err, "The agent could not be stopped: %v\n", err)
	case len(r.Unconfirmed) > 0:
		fmt.Fprintf(a.sh.err, "Not proven to be gone: %v\n", r.Unconfirmed)
	}
}

// take shows a batch and gives the turn if it tells of it.
func (a *asking) take(ctx context.Context, b event.Batch) (chat.Turn, error) {
	var turn chat.Turn
	if b.Reset != "" {
		return a.again(ctx)
	}
	for _, e := range b.Events {
		if a.sh.json && (e.Chat == a.chat || e.Chat == "") {
			if err := a.sh.print(e); err != nil {
				return turn, err
			}
		}
		if t, ok := turnOf(e); ok && t.ID == a.turn {
			turn = t
		}
	}
	for _, it := range b.Items {
		if err := a.item(ctx, it); err != nil {
			return turn, err
		}
	}
	if !a.sh.json {
		for _, d := range b.Deltas {
			a.show.delta(d)
		}
	}
	return turn, nil
}

// again fetches what the stream could not deliver.
func (a *asking) again(ctx context.Context) (chat.Turn, error) {
	page, err := a.b.Items(ctx, a.chat, 0, 0, pageSize)
	if err != nil {
		return chat.Turn{}, err
	}
	for _, it := range page.Items {
		if err := a.item(ctx, it); err != nil {
			return chat.Turn{}, err
		}
	}
	c, err := a.b.Chat(ctx, a.chat)
	if err != nil || c.Turn == nil || c.Turn.ID != a.turn {
		return chat.Turn{}, err
	}
	return *c.Turn, nil
}

// turnOf is the turn that an event tells of.
func turnOf(e event.Event) (chat.Turn, bool) {
	switch e.Type {
	case event.TypeTurn:
		var t chat.Turn
		return t, json.Unmarshal(e.Body, &t) == nil
	case event.TypeChat:
		var c chat.Chat
		if json.Unmarshal(e.Body, &c) == nil && c.Turn != nil {
			return *c.Turn, true
		}
	}
	return chat.Turn{}, false
}

func (a *asking) item(ctx context.Context, it event.Item) error {
	if it.Turn != a.turn {
		return nil
	}
	if a.sh.json {
		body, err := json.Marshal(it)
		if err != nil {
			return err
		}
		err = a.sh.print(event.Event{Chat: it.Chat, Seq: it.Seq, Turn: it.Turn, Item: it.ID, Type: event.TypeItem, At: it.At, Body: body})
		if err != nil {
			return err
		}
	} else {
		a.show.item(it)
	}
	if r := it.Body.Request; r != nil && it.Status == event.Pending {
		a.answer(ctx, it)
	}
	return nil
}
