package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/backend/provider"
)

// tale tells events in a line each.
func tale(events []provider.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Text != nil:
			fmt.Fprintf(&b, "\ntext %s %s %q", e.Text.Key, e.Text.Kind, e.Text.Text)
		case e.Commands != nil:
			fmt.Fprintf(&b, "\n%d commands", len(*e.Commands))
		case e.Item != nil:
			body, _ := json.Marshal(e.Item.Body)
			fmt.Fprintf(&b, "\nitem %s %s %s", e.Item.Key, e.Item.Kind, e.Item.Status)
			if e.Item.Parent != "" {
				fmt.Fprintf(&b, " in %s", e.Item.Parent)
			}
			fmt.Fprintf(&b, " %s", body)
			for _, i := range e.Item.Images {
				fmt.Fprintf(&b, " image %s %s %s %d bytes", i.Name, i.Type, i.Path, len(i.Data))
			}
		case e.Request != nil:
			body, _ := json.Marshal(e.Request.Body)
			fmt.Fprintf(&b, "\nrequest %s %s for %q %s", e.Request.Key, e.Request.Kind, e.Request.Tool, body)
		case e.Usage != nil:
			body, _ := json.Marshal(e.Usage)
			fmt.Fprintf(&b, "\nusage %s", body)
		case e.Background != nil:
			body, _ := json.Marshal(e.Background)
			fmt.Fprintf(&b, "\nbackground %s", body)
		case e.Accepted != nil:
			fmt.Fprintf(&b, "\naccepted %s as %s steered %t", e.Accepted.Turn, e.Accepted.ProviderTurn, e.Accepted.Steered)
		case e.TurnEnded != nil:
			fmt.Fprintf(&b, "\nended %s %s", e.TurnEnded.State, e.TurnEnded.StopReason)
			if err := e.TurnEnded.Err; err != nil {
				fmt.Fprintf(&b, " %s: %s %s", err.Code, err, err.Action)
			}
		case e.Closed != nil:
			fmt.Fprintf(&b, "\nclosed %v", e.Closed.Err)
		case e.Conversation != "":
			fmt.Fprintf(&b, "\nconversation %s", e.Conversation)
		case e.Withdrawn != "":
			fmt.Fprintf(&b, "\nwithdrawn %s", e.Withdrawn)
		}
	}
	return b.String()
}
