// Package refusal is how the small packages below the API say no: with a
// stable code, the field that was wrong, and a sentence for the user.
package refusal

// Codes that doors turn into statuses.
const (
	NotFound = "not_found"
	Invalid  = "invalid"
	Conflict = "conflict"
	TooLarge = "too_large"
	Denied   = "denied" // the operating system did not allow it
)

// Error is a refusal. Nothing was changed when it is returned.
type Error struct {
	Code  string
	Field string // of the input, as in the API, empty if none
	Text  string
}

func (e *Error) Error() string { return e.Text }

// New makes a refusal.
func New(code, field, text string) *Error { return &Error{Code: code, Field: field, Text: text} }
