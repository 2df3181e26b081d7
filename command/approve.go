package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/event"
)

func (sh *shell) approveCommand() *cobra.Command {
	var a given
	c := &cobra.Command{
		Use: "approve [REQUEST]", Short: "List what waits for you, or answer it", Args: cobra.MaximumNArgs(1),
		Long: "Without a request, list all that wait. With one, allow it once; or choose another option, deny it, or answer its questions.",
		Example: "  berth approve\n  berth approve req_01h…\n  berth approve req_01h… --deny --reason \"use the staging host\"\n" +
			"  berth approve req_01h… --answer colour=blue",
	}
	f := c.Flags()
	f.StringVar(&a.option, "option", "", "id of the option to choose")
	f.BoolVar(&a.deny, "deny", false, "deny it")
	f.StringVar(&a.reason, "reason", "", "reason that reaches the agent, where it takes one")
	f.StringArrayVar(&a.answers, "answer", nil, "QUESTION=VALUE; may be given again")
	c.MarkFlagsMutuallyExclusive("option", "deny", "answer")
	does(c, func(c *cobra.Command, args []string) error {
		return sh.connected(func(b *client.Client) error {
			if len(args) == 0 {
				return sh.listRequests(c.Context(), b)
			}
			return sh.answerRequest(c.Context(), b, args[0], a)
		})
	})
	return c
}

// given is an answer as the flags say it.
type given struct {
	option  string
	deny    bool
	reason  string
	answers []string
}

// answer fits what was given to what the request offers.
func (g given) answer(r *event.Request) (chat.GivenAnswer, error) {
	out := chat.GivenAnswer{Reason: g.reason}
	if len(r.Questions) > 0 {
		if len(g.answers) == 0 {
			return out, usage("this request asks questions; answer each with --answer QUESTION=VALUE")
		}
		out.Answers = map[string][]string{}
		for _, text := range g.answers {
			question, value, ok := strings.Cut(text, "=")
			if !ok {
				return out, usage("--answer is QUESTION=VALUE, not %q", text)
			}
			out.Answers[question] = append(out.Answers[question], value)
		}
		return out, nil
	}
	if len(g.answers) > 0 {
		return out, usage("this request asks no question; choose an --option")
	}
	out.Option = g.option
	if out.Option == "" {
		kinds := []event.OptionKind{event.AllowOnce}
		if g.deny {
			kinds = []event.OptionKind{event.RejectOnce, event.RejectAlways}
		}
		o, ok := firstOption(r.Options, kinds...)
		if !ok {
			return out, usage("this request has no such option; it offers: %s", optionIDs(r.Options))
		}
		out.Option = o.ID
	}
	return out, nil
}

// firstOption is the first option of the first kind that is offered.
func firstOption(options []event.Option, kinds ...event.OptionKind) (event.Option, bool) {
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return o, true
			}
		}
	}
	return event.Option{}, false
}

func optionIDs(options []event.Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return strings.Join(ids, ", ")
}

// waiting gives the requests of all chats that wait for the human.
func waiting(ctx context.Context, b *client.Client) ([]event.Item, error) {
	list, err := b.Attention(ctx)
	if err != nil {
		return nil, err
	}
	var items []event.Item
	for _, a := range list {
		if a.Request == "" {
			continue
		}
		it, err := b.Item(ctx, a.Item)
		if err != nil {
			return nil, err
		}
		if it.Body.Request != nil && it.Status == event.Pending {
			items = append(items, it)
		}
	}
	return items, nil
}

func (sh *shell) listRequests(ctx context.Context, b *client.Client) error {
	items, err := waiting(ctx, b)
	if err != nil {
		return err
	}
	for _, it := range items {
		if sh.json {
			if err := sh.print(it); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(sh.out, "%s  %s\n", it.Body.Request.ID, it.Chat)
		sh.showRequest(sh.out, it.Body.Request)
	}
	return nil
}

func (sh *shell) answerRequest(ctx context.Context, b *client.Client, id string, g given) error {
	items, err := waiting(ctx, b)
	if err != nil {
		return err
	}
	for _, it := range items {
		r := it.Body.Request
		if r.ID != id {
			continue
		}
		answer, err := g.answer(r)
		if err != nil {
			return err
		}
		out, err := b.Answer(ctx, id, answer)
		if err != nil {
			return err
		}
		if sh.json {
			return sh.print(out)
		}
		fmt.Fprintf(sh.out, "%s %s\n", out.Outcome, out.Option)
		return nil
	}
	return fmt.Errorf("no request %s waits; berth approve lists those that do", id)
}
