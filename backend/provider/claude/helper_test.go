package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"berth/backend/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tale tells events in a line each, for messages.
func tale(events []provider.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Text != nil:
			fmt.Fprintf(&b, "\n  text %s %s %q", e.Text.Key, e.Text.Kind, e.Text.Text)
		case e.Usage != nil:
			b.WriteString("\n  usage")
		case e.Commands != nil:
			fmt.Fprintf(&b, "\n  %d commands", len(*e.Commands))
		default:
			data, _ := json.Marshal(e)
			fmt.Fprintf(&b, "\n  %.600s", strings.ReplaceAll(strings.ReplaceAll(string(data), `null,`, ``), `"":`, ``))
		}
	}
	return b.String()
}
