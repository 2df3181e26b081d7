package command

import (
	"context"
	"errors"
	"fmt"

	"berth/backend/api"
	"berth/backend/chat"
	"berth/backend/event"
)

// asked is a request that waits for the user at the terminal.
type asked struct{ item event.Item }

// answer sees to a request as --approve says. A request that comes again
// because its item changed is answered once.
func (a *asking) answer(ctx context.Context, it event.Item) {
	r := it.Body.Request
	if a.show.seenRequest(r.ID) {
		return
	}
	switch {
	case a.approve == "prompt":
		select {
		case a.asks <- asked{it}:
		default:
			a.giveUp(ctx, errors.New("the agent asks more than can be shown at once"))
		}
	case len(r.Questions) > 0:
		a.giveUp(ctx, fmt.Errorf("the agent asks a question (%s); answer it in the window, or ask with --approve prompt", plain(r.Title)))
	default:
		kinds := []event.OptionKind{event.RejectOnce, event.RejectAlways}
		if a.approve == "all" {
			kinds = []event.OptionKind{event.AllowOnce, event.AllowSession, event.AllowAlways}
		}
		o, ok := firstOption(r.Options, kinds...)
		if !ok {
			a.giveUp(ctx, fmt.Errorf("the agent asks (%s) and offers no option for --approve %s", plain(r.Title), a.approve))
			return
		}
		a.send(ctx, r, chat.GivenAnswer{Option: o.ID})
	}
}

// giveUp stops the turn because nobody can answer what the agent asks.
func (a *asking) giveUp(ctx context.Context, why error) {
	a.failed = why
	go a.stop(ctx)
}

// send gives the answer to Berth. That somebody else was faster is no fault.
func (a *asking) send(ctx context.Context, r *event.Request, answer chat.GivenAnswer) {
	_, err := a.b.Answer(ctx, r.ID, answer)
	var p *api.Problem
	switch {
	case err == nil && !a.sh.json:
		fmt.Fprintf(a.sh.err, "  answered: %s\n", label(r, answer))
	case errors.As(err, &p) && p.Code == "already_answered":
		fmt.Fprintln(a.sh.err, "  This was answered elsewhere.")
	case err != nil && ctx.Err() == nil:
		fmt.Fprintf(a.sh.err, "  The answer was not taken: %v\n", explain(err))
	}
}

func label(r *event.Request, answer chat.GivenAnswer) string {
	for _, o := range r.Options {
		if o.ID == answer.Option {
			return plain(o.Label)
		}
	}
	return "as given"
}

// prompts asks the user, one request after the other, until ctx ends.
func (a *asking) prompts(ctx context.Context) {
	t := newTerminal(a.sh.in, a.sh.err)
	for {
		var next asked
		select {
		case next = <-a.asks:
		case <-ctx.Done():
			return
		}
		r := next.item.Body.Request
		fmt.Fprintln(a.sh.err)
		a.sh.showRequest(a.sh.err, r)
		ask := t.askOption
		if len(r.Questions) > 0 {
			ask = t.askQuestions
		}
		answer, err := ask(r)
		if err != nil {
			fmt.Fprintf(a.sh.err, "  %v; it can be answered in the window, or Ctrl-C twice stops the agent\n", err)
			return
		}
		a.send(ctx, r, answer)
	}
}
