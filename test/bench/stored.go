package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/backend/store"
	"berth/test/program"
)

// The state that is measured, and the aims of the issue.
const (
	chatCount   = 1000
	longChat    = 100_000 // items
	shortChat   = 100     // items
	pageItems   = 50
	pageReads   = 100 // pages read of each chat
	starts      = 5
	startAim    = 300 // milliseconds
	memoryAim   = 60  // megabytes
	pageAim     = 20  // milliseconds
	pageRatio   = 1.3
	settleAfter = 5 * time.Second // until idle memory is read
)

func (b *bench) state(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.Mkdir(dir, 0o700)
}

// size measures the programs on disk.
func (b *bench) size(r *rival) error {
	theirs, err := os.Stat(r.path) // follows the link
	if err != nil {
		return err
	}
	for _, p := range []struct{ name, path string }{{"size of the headless program", b.binary}, {"size of the program with the window", b.window}} {
		ours, err := os.Stat(p.path)
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is not built: make build build-headless", p.path)
		}
		if err != nil {
			return err
		}
		b.add(p.name, float64(ours.Size())/megabyte, "MB", "opencode", float64(theirs.Size())/megabyte, 0)
	}
	return nil
}

// stored measures what depends on what is kept: start, idle memory, pages.
func (b *bench) stored(r *rival) error {
	state, err := b.state("stored")
	if err != nil {
		return err
	}
	if err := seed(b.ctx, filepath.Join(state, "berth.db"), b.events); err != nil {
		return fmt.Errorf("fill a database: %w", err)
	}
	var took []time.Duration
	for range starts {
		p, err := program.Serve(b.ctx, b.binary, state)
		if err != nil {
			return err
		}
		took = append(took, p.StartedIn)
		if err := p.End(b.ctx); err != nil {
			return err
		}
	}
	b.add(fmt.Sprintf("start to ready, %d chats and %d events, median of %d", chatCount, b.events, starts),
		quantile(took, 0.5), "ms", "opencode serve, empty", float64(r.startedIn)/float64(time.Millisecond), startAim)
	p, err := program.Serve(b.ctx, b.binary, state)
	if err != nil {
		return err
	}
	defer func() { _ = p.Kill() }() // gone already, if all went well
	if err := pause(b.ctx, settleAfter); err != nil {
		return err
	}
	if err := b.memory(p, r); err != nil {
		return err
	}
	if err := b.pages(p); err != nil {
		return err
	}
	return p.End(b.ctx)
}

// memory measures idle programs.
func (b *bench) memory(p *program.Program, r *rival) error {
	ours, err := resident(p.Pid)
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Fprintln(os.Stderr, "bench: memory is not measured on this system")
		return nil
	}
	if err != nil {
		return err
	}
	theirs, err := resident(r.cmd.Process.Pid)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("resident memory of an idle serve, %d chats", chatCount), float64(ours)/megabyte, "MB", "opencode serve, idle, no sessions", float64(theirs)/megabyte, memoryAim)
	return nil
}

// pages measures the first page of a long chat and of a short one, in turns,
// so that what else the machine does falls on both.
func (b *bench) pages(p *program.Program) error {
	var long, short []time.Duration
	for range pageReads {
		for _, c := range []struct {
			chat string
			into *[]time.Duration
		}{{chatID(0), &long}, {chatID(1), &short}} {
			began := time.Now()
			page, err := p.Items(b.ctx, c.chat, 0, 0, pageItems)
			if err != nil {
				return err
			}
			if len(page.Items) != pageItems {
				return fmt.Errorf("a page has %d items", len(page.Items))
			}
			*c.into = append(*c.into, time.Since(began))
		}
	}
	name := fmt.Sprintf("first page of a chat with %d items", longChat)
	other := quantile(short, 0.5)
	b.add(name+", median", quantile(long, 0.5), "ms", fmt.Sprintf("chat with %d items", shortChat), other, min(pageAim, pageRatio*other))
	b.add(name+", 99th percentile", quantile(long, 0.99), "ms", fmt.Sprintf("chat with %d items", shortChat), quantile(short, 0.99), pageAim)
	return nil
}

func chatID(i int) string { return fmt.Sprintf("chat_%026d", i) }

// seed fills a new database: chatCount chats with one turn each, a long and a
// short chat, and events up to the number wanted, spread over the chats.
func seed(ctx context.Context, path string, events int) error {
	db, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx *store.Tx) error { return fill(tx, events) })
	return errors.Join(err, db.Close())
}

func fill(tx *store.Tx, events int) error {
	for _, f := range []struct {
		query string
		args  []any
	}{
		{`with recursive n(i) as (select 0 union all select i + 1 from n where i < ? - 1)
			insert into chats(id, agent, cwd, title, turn_id, position, seq, created_at, updated_at)
			select printf('chat_%026d', i), 'demo', '/', 'Chat ' || i, printf('turn_%026d', i), i, 1000000, 1700000000000 + i, 1700000000000 + i from n`, []any{chatCount}},
		{`insert into turns(id, chat_id, state, client_id, request_hash, text, created_at, started_at, ended_at)
			select turn_id, id, 'completed', 'client', '', 'Please look at this and repair it.', created_at, created_at, created_at + 1000 from chats`, nil},
		{`with recursive n(i) as (select 1 union all select i + 1 from n where i <= ?)
			insert into items(id, chat_id, turn_id, kind, status, seq, last_event, revision, at, summary, body)
			select printf('item_l%025d', i), ?, printf('turn_%026d', 0), 'answer', 'completed', i, i, 1, 1700000000000 + i, 'An answer', json_object('text', ?) from n`,
			[]any{longChat, chatID(0), answerText}},
		{`with recursive n(i) as (select 1 union all select i + 1 from n where i <= ?)
			insert into items(id, chat_id, turn_id, kind, status, seq, last_event, revision, at, summary, body)
			select printf('item_s%025d', i), ?, printf('turn_%026d', 1), 'answer', 'completed', i, i, 1, 1700000000000 + i, 'An answer', json_object('text', ?) from n`,
			[]any{shortChat, chatID(1), answerText}},
		{`with recursive n(i) as (select 0 union all select i + 1 from n where i < ? - 1)
			insert into events(chat_id, seq, turn_id, item_id, type, at, body)
			select printf('chat_%026d', i % ?), i / ? + 1, printf('turn_%026d', i % ?), printf('item_l%025d', i), 'item', 1700000000000 + i, json_object('text', ?) from n`,
			[]any{events, chatCount, chatCount, chatCount, eventText}},
	} {
		if _, err := tx.Exec(f.query, f.args...); err != nil {
			return err
		}
	}
	return nil
}

// Texts of the length that answers and events have on average.
const (
	answerText = "The total was computed before the discount was taken off. I moved the rounding behind it, added a test for the half cent, and ran the whole suite: 214 passed. The change is in shop.py and test_shop.py; nothing else needed to be touched."
	eventText  = "The total was computed before the discount was taken off. I moved the rounding behind it."
)
