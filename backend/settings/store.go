package settings

import "context"

type Store struct{}

func (s *Store) Get() Settings                                          { panic(1) }
func (s *Store) Update(ctx context.Context, c Change) (Settings, error) { panic(1) }

type Phrases struct{}

func (p *Phrases) List(ctx context.Context) ([]Phrase, error)                            { panic(1) }
func (p *Phrases) Create(ctx context.Context, n NewPhrase) (Phrase, error)               { panic(1) }
func (p *Phrases) Update(ctx context.Context, id string, c PhraseChange) (Phrase, error) { panic(1) }
func (p *Phrases) Delete(ctx context.Context, id string) error                           { panic(1) }
