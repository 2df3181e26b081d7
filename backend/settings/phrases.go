package settings

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"berth/backend/event"
	"berth/backend/refusal"
	"berth/backend/store"
)

// maxPhrases bounds the list, which is always shown whole.
const maxPhrases = 500

// step is the room between two phrases, for others to move between them.
const step = 1000.0

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

// Phrases is the list of saved phrases. Its methods may be called from any
// goroutine. Each change is told by an event of event.TypePhrases.
type Phrases struct {
	db     *store.DB
	events *event.Log
}

// NewPhrases gives the saved phrases of a database.
func NewPhrases(db *store.DB, events *event.Log) *Phrases { return &Phrases{db, events} }

// List gives all phrases in order.
func (p *Phrases) List(ctx context.Context) ([]Phrase, error) {
	rows, err := p.db.Read().QueryContext(ctx, "select id, text, position from phrases order by position, id")
	if err != nil {
		return nil, fmt.Errorf("read the phrases: %w", err)
	}
	defer rows.Close()
	list := []Phrase{}
	for rows.Next() {
		var one Phrase
		if err := rows.Scan(&one.ID, &one.Text, &one.Position); err != nil {
			return nil, fmt.Errorf("read the phrases: %w", err)
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// Create saves a phrase at the end of the list.
func (p *Phrases) Create(ctx context.Context, n NewPhrase) (Phrase, error) {
	if err := checkText(n.Text); err != nil {
		return Phrase{}, err
	}
	one := Phrase{ID: store.NewID("phrase"), Text: n.Text}
	err := p.db.Write(ctx, func(tx *store.Tx) error {
		var count int
		err := tx.QueryRow("select count(*), coalesce(max(position), 0) from phrases").Scan(&count, &one.Position)
		if err != nil {
			return fmt.Errorf("count the phrases: %w", err)
		}
		if count >= maxPhrases {
			return refusal.New(refusal.Conflict, "", fmt.Sprintf("At most %d phrases can be saved.", maxPhrases))
		}
		one.Position += step
		if _, err := tx.Exec("insert into phrases(id, text, position) values(?, ?, ?)", one.ID, one.Text, one.Position); err != nil {
			return fmt.Errorf("save a phrase: %w", err)
		}
		return p.tell(tx, one.ID)
	})
	return one, err
}

// Update changes the text or the place of a phrase.
func (p *Phrases) Update(ctx context.Context, id string, c PhraseChange) (Phrase, error) {
	if c.Text != nil {
		if err := checkText(*c.Text); err != nil {
			return Phrase{}, err
		}
	}
	if c.Position != nil && (math.IsNaN(*c.Position) || math.IsInf(*c.Position, 0)) {
		return Phrase{}, wrong("position", "must be a number")
	}
	one := Phrase{ID: id}
	err := p.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow("update phrases set text = coalesce(?, text), position = coalesce(?, position) where id = ? returning text, position",
			c.Text, c.Position, id).Scan(&one.Text, &one.Position)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoPhrase
		}
		if err != nil {
			return fmt.Errorf("change a phrase: %w", err)
		}
		return p.tell(tx, id)
	})
	return one, err
}

// Delete forgets a phrase.
func (p *Phrases) Delete(ctx context.Context, id string) error {
	return p.db.Write(ctx, func(tx *store.Tx) error {
		done, err := tx.Exec("delete from phrases where id = ?", id)
		if err != nil {
			return fmt.Errorf("forget a phrase: %w", err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errNoPhrase)
		}
		return p.tell(tx, id)
	})
}

var errNoPhrase = refusal.New(refusal.NotFound, "", "There is no such phrase.")

// tell says that the phrases changed: clients fetch the short list again.
func (p *Phrases) tell(tx *store.Tx, id string) error {
	body, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return err
	}
	return p.events.Append(tx, event.Event{Type: event.TypePhrases, Body: body})
}

// maxPhrase is the longest phrase, in bytes.
const maxPhrase = 64 << 10

func checkText(text string) error {
	if strings.TrimSpace(text) == "" || len(text) > maxPhrase {
		return wrong("text", fmt.Sprintf("must hold some text and at most %d bytes", maxPhrase))
	}
	return nil
}
