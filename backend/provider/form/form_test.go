package form

import (
	"encoding/json"
	"reflect"
	"testing"
)

const sample = `{"type":"object","required":["name"],"properties":{
	"name":{"type":"string","title":"Name","description":"Your name"},
	"count":{"type":"integer"},
	"share":{"type":"number"},
	"sure":{"type":"boolean","title":"Sure?"},
	"colour":{"type":"string","enum":["r","b"],"enumNames":["Red"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"}]},
	"many":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}},
	"key":{"type":"string","format":"password"}}}`

func parse(t *testing.T, text string) Schema {
	t.Helper()
	var s Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestQuestionsKeepTheirOrder(t *testing.T) {
	questions := parse(t, sample).Questions()
	var ids []string
	for _, q := range questions {
		ids = append(ids, q.ID)
	}
	if want := []string{"name", "count", "share", "sure", "colour", "size", "many", "key"}; !reflect.DeepEqual(ids, want) {
		t.Fatalf("questions %v, want %v", ids, want)
	}
	if q := questions[0]; q.Text != "Your name" || !q.FreeText {
		t.Errorf("name: %+v", q)
	}
	if q := questions[4]; len(q.Choices) != 2 || q.Choices[0].Label != "Red" || q.Choices[1].Label != "b" || q.FreeText {
		t.Errorf("colour: %+v", q)
	}
	if q := questions[6]; !q.Multiple || len(q.Choices) != 2 {
		t.Errorf("many: %+v", q)
	}
	if !questions[7].Secret {
		t.Error("a password is asked for in the open")
	}
}

func TestContent(t *testing.T) {
	s := parse(t, sample)
	cases := []struct {
		name    string
		answers map[string][]string
		want    map[string]any
		fails   bool
	}{
		{"nothing is a refusal", nil, map[string]any{}, false},
		{"typed", map[string][]string{"name": {"Ada"}, "count": {"3"}, "share": {"0.5"}, "sure": {"true"}, "many": {"x", "y"}},
			map[string]any{"name": "Ada", "count": int64(3), "share": 0.5, "sure": true, "many": []string{"x", "y"}}, false},
		{"required", map[string][]string{"count": {"3"}}, nil, true},
		{"not a number", map[string][]string{"name": {"a"}, "count": {"three"}}, nil, true},
		{"not a choice", map[string][]string{"name": {"a"}, "colour": {"green"}}, nil, true},
		{"two for one", map[string][]string{"name": {"a", "b"}}, nil, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := s.Content(tc.answers)
			if (err != nil) != tc.fails {
				t.Fatalf("error %v", err)
			}
			if !tc.fails && !reflect.DeepEqual(got, tc.want) {
				t.Fatalf("%v, want %v", got, tc.want)
			}
		})
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"properties":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Schema
		if json.Unmarshal(data, &s) != nil {
			return
		}
		answers := map[string][]string{}
		for _, q := range s.Questions() {
			answers[q.ID] = []string{"1"}
		}
		_, _ = s.Content(answers)
	})
}
