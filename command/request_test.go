package command

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"berth/backend/chat"
	"berth/backend/event"
)

var approval = &event.Request{ID: "req_1", Title: "Run make", Command: "make\x1b[2J all", Options: []event.Option{
	{ID: "once", Kind: event.AllowOnce, Label: "Allow once"},
	{ID: "no", Kind: event.RejectOnce, Label: "Deny", Reason: true},
}}

var question = &event.Request{ID: "req_2", Title: "Which?", Questions: []event.QuestionField{
	{ID: "colour", Text: "Colour", Choices: []event.Choice{{Value: "r", Label: "red"}, {Value: "b", Label: "blue"}}},
	{ID: "parts", Text: "Parts", Multiple: true, FreeText: true, Choices: []event.Choice{{Value: "x", Label: "ex"}, {Value: "y", Label: "why"}}},
}}

func TestAnswerFromFlags(t *testing.T) {
	for _, c := range []struct {
		name string
		g    given
		r    *event.Request
		want chat.GivenAnswer
		err  string
	}{
		{"allowed once", given{}, approval, chat.GivenAnswer{Option: "once"}, ""},
		{"denied with a reason", given{deny: true, reason: "no"}, approval, chat.GivenAnswer{Option: "no", Reason: "no"}, ""},
		{"an option by its id", given{option: "no"}, approval, chat.GivenAnswer{Option: "no"}, ""},
		{"answers", given{answers: []string{"colour=b", "parts=x", "parts=a=b"}}, question, chat.GivenAnswer{Answers: map[string][]string{"colour": {"b"}, "parts": {"x", "a=b"}}}, ""},
		{"no answer to a question", given{}, question, chat.GivenAnswer{}, "asks questions"},
		{"no question", given{answers: []string{"a=b"}}, approval, chat.GivenAnswer{}, "asks no question"},
		{"no value", given{answers: []string{"colour"}}, question, chat.GivenAnswer{}, "QUESTION=VALUE"},
		{"no such option", given{deny: true}, &event.Request{Options: approval.Options[:1]}, chat.GivenAnswer{}, "once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.g.answer(c.r)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestTerminalAsksUntilItIsAnswered(t *testing.T) {
	var out bytes.Buffer
	ask := func(input string) *terminal { return newTerminal(strings.NewReader(input), &out) }
	for input, want := range map[string]chat.GivenAnswer{
		"1\n":              {Option: "once"},
		"yes\n\n9\nonce\n": {Option: "once"},
		"2\nbecause\n":     {Option: "no", Reason: "because"},
		"2\n\n":            {Option: "no"},
	} {
		got, err := ask(input).askOption(approval)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives %+v, %v", input, got, err)
		}
	}
	got, err := ask("green\n2\n1, 2\n").askQuestions(question)
	if want := map[string][]string{"colour": {"b"}, "parts": {"x", "y"}}; err != nil || !reflect.DeepEqual(got.Answers, want) {
		t.Errorf("got %v, %v", got.Answers, err)
	}
	got, err = ask("1\nboth, please\n").askQuestions(question)
	if want := map[string][]string{"colour": {"r"}, "parts": {"both, please"}}; err != nil || !reflect.DeepEqual(got.Answers, want) {
		t.Errorf("got %v, %v", got.Answers, err)
	}
	if _, err := ask("1\n").askQuestions(question); err == nil {
		t.Error("the end of the input is no answer")
	}
}

func TestRequestsCannotCommandTheTerminal(t *testing.T) {
	var out bytes.Buffer
	(&shell{}).showRequest(&out, approval)
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "make[2J all") {
		t.Errorf("shown: %q", out.String())
	}
}
