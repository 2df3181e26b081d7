// Package form reads the forms by which agents ask the user: the restricted
// JSON Schema of MCP's elicitation, which the Agent Client Protocol shares
// (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
package form

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"berth/backend/event"
)

// maxFields bounds the questions of one form.
const maxFields = 50

// Schema is the restricted JSON Schema of a form: an object of primitive
// properties, whose order is that of the text.
type Schema struct {
	fields   []field
	required []string
}

// field is one property.
type field struct {
	name        string
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []titled `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []titled `json:"anyOf"`
		OneOf []titled `json:"oneOf"`
	} `json:"items"`
	Format string `json:"format"`
}

type titled struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// UnmarshalJSON keeps the order of the properties.
func (s *Schema) UnmarshalJSON(data []byte) error {
	var in struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	s.required = in.Required
	if len(in.Properties) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(in.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("properties: not an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		f := field{name: fmt.Sprint(name)}
		if err := dec.Decode(&f); err != nil {
			return err
		}
		if len(s.fields) == maxFields {
			return fmt.Errorf("properties: more than %d", maxFields)
		}
		s.fields = append(s.fields, f)
	}
	return nil
}

// Questions are the fields as Berth asks them.
func (s Schema) Questions() []event.QuestionField {
	var list []event.QuestionField
	for _, f := range s.fields {
		q := event.QuestionField{ID: f.name, Header: f.Title, Text: cmp.Or(f.Description, f.Title, f.name), Choices: f.choices()}
		q.Multiple = f.Type == "array"
		q.FreeText = len(q.Choices) == 0
		q.Secret = f.Format == "password"
		list = append(list, q)
	}
	return list
}

func (f field) choices() []event.Choice {
	var list []event.Choice
	if f.Type == "boolean" {
		return []event.Choice{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	}
	for _, o := range slices.Concat(f.OneOf, f.Items.AnyOf, f.Items.OneOf) {
		list = append(list, event.Choice{Value: o.Const, Label: cmp.Or(o.Title, o.Const), Note: o.Description})
	}
	for i, value := range slices.Concat(f.Enum, f.Items.Enum) {
		label := value
		if i < len(f.EnumNames) {
			label = f.EnumNames[i]
		}
		list = append(list, event.Choice{Value: value, Label: label})
	}
	return list
}

// Content turns answers into the values the schema asks for; the error names
// the question.
func (s Schema) Content(answers map[string][]string) (map[string]any, error) {
	content := map[string]any{}
	if len(answers) == 0 {
		return content, nil // declined
	}
	for _, f := range s.fields {
		given := answers[f.name]
		if len(given) == 0 {
			if slices.Contains(s.required, f.name) {
				return nil, fmt.Errorf("answers.%s: an answer is needed", f.name)
			}
			continue
		}
		value, err := f.value(given)
		if err != nil {
			return nil, fmt.Errorf("answers.%s: %w", f.name, err)
		}
		content[f.name] = value
	}
	return content, nil
}

func (f field) value(given []string) (any, error) {
	if choices := f.choices(); len(choices) > 0 {
		for _, g := range given {
			if !slices.ContainsFunc(choices, func(c event.Choice) bool { return c.Value == g }) {
				return nil, fmt.Errorf("%q is not one of the choices", g)
			}
		}
	}
	if f.Type == "array" {
		return given, nil
	}
	if len(given) > 1 {
		return nil, fmt.Errorf("one answer, not %d", len(given))
	}
	switch f.Type {
	case "boolean":
		return given[0] == "true", nil
	case "integer":
		n, err := strconv.ParseInt(given[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", given[0])
		}
		return n, nil
	case "number":
		n, err := strconv.ParseFloat(given[0], 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", given[0])
		}
		return n, nil
	}
	return given[0], nil
}
