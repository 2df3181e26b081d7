package settings

// Phrase is a text the user saved for reuse.
type Phrase struct {
	ID       string  `json:"id"`
	Text     string  `json:"text"`
	Position float64 `json:"position" doc:"Order, least first."`
}

// NewPhrase is a text to save.
type NewPhrase struct {
	Text string `json:"text" minLength:"1" maxLength:"16384"`
}

// PhraseChange changes a saved text; absent fields stay.
type PhraseChange struct {
	Text     *string  `json:"text,omitempty" minLength:"1" maxLength:"16384"`
	Position *float64 `json:"position,omitempty"`
}
