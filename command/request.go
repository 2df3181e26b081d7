package command

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth/backend/chat"
	"berth/backend/event"
)

// showRequest writes what an agent asks, and what can be answered.
func (sh *shell) showRequest(w io.Writer, r *event.Request) {
	fmt.Fprintf(w, "  %s\n", plain(r.Title))
	for _, fact := range []struct{ name, value string }{
		{"command", r.Command}, {"folder", r.Cwd}, {"host", r.Host}, {"why", r.Reason},
	} {
		if fact.value != "" {
			fmt.Fprintf(w, "    %s: %s\n", fact.name, plain(fact.value))
		}
	}
	if len(r.Files) > 0 {
		fmt.Fprintf(w, "    changes: %s\n", filesLine(r.Files))
	}
	for i, o := range r.Options {
		fmt.Fprintf(w, "    %d  %s (%s)\n", i+1, plain(o.Label), o.ID)
	}
	for _, q := range r.Questions {
		fmt.Fprintf(w, "    %s (%s)\n", plain(q.Text), q.ID)
		for i, c := range q.Choices {
			fmt.Fprintf(w, "      %d  %s\n", i+1, plain(c.Label))
		}
	}
}

// terminal asks the user at the terminal.
type terminal struct {
	in  *bufio.Reader
	out io.Writer
}

// askOption asks which option to choose until one is named. It fails when
// the input ends.
func (t *terminal) askOption(r *event.Request) (chat.GivenAnswer, error) {
	for {
		fmt.Fprintf(t.out, "  Choose 1 to %d: ", len(r.Options))
		line, err := t.line()
		if err != nil {
			return chat.GivenAnswer{}, err
		}
		for i, o := range r.Options {
			if line != strconv.Itoa(i+1) && line != o.ID {
				continue
			}
			answer := chat.GivenAnswer{Option: o.ID}
			if o.Reason {
				fmt.Fprint(t.out, "  Reason (may be empty): ")
				if answer.Reason, err = t.line(); err != nil {
					return answer, err
				}
			}
			return answer, nil
		}
	}
}

// askQuestions asks each question until it has an answer that it takes.
func (t *terminal) askQuestions(r *event.Request) (chat.GivenAnswer, error) {
	answers := map[string][]string{}
	for _, q := range r.Questions {
		for len(answers[q.ID]) == 0 {
			fmt.Fprintf(t.out, "  %s %s: ", plain(q.Text), hint(q))
			line, err := t.line()
			if err != nil {
				return chat.GivenAnswer{}, err
			}
			answers[q.ID] = valuesOf(q, line)
		}
	}
	return chat.GivenAnswer{Answers: answers}, nil
}

func hint(q event.QuestionField) string {
	switch {
	case len(q.Choices) > 0 && q.Multiple && q.FreeText:
		return fmt.Sprintf("(numbers 1 to %d with commas, or words)", len(q.Choices))
	case len(q.Choices) > 0 && q.Multiple:
		return fmt.Sprintf("(numbers 1 to %d with commas)", len(q.Choices))
	case len(q.Choices) > 0 && q.FreeText:
		return fmt.Sprintf("(1 to %d, or words)", len(q.Choices))
	case len(q.Choices) > 0:
		return fmt.Sprintf("(1 to %d)", len(q.Choices))
	}
	return ""
}

// valuesOf reads an answer: numbers name choices, other words are free text
// where that is allowed. Nothing means that the question is not answered.
func valuesOf(q event.QuestionField, line string) []string {
	if line == "" {
		return nil
	}
	parts := []string{line}
	if q.Multiple {
		parts = strings.Split(line, ",")
	}
	var values []string
	for _, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || n < 1 || n > len(q.Choices) {
			if q.FreeText {
				return []string{line}
			}
			return nil
		}
		values = append(values, q.Choices[n-1].Value)
	}
	return values
}

func (t *terminal) line() (string, error) {
	line, err := t.in.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}
