package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// The states of provider.TurnEnded.
const (
	completed = "completed"
	failed    = "failed"
	stopped   = "stopped"
)

// The bounds of what is sent along with a message; a larger file is linked.
const (
	maxImage    = 20 << 20
	maxEmbedded = 512 << 10
)

// Send writes the message; what it proves stands in the package comment.
func (s *session) Send(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	s.mu.Lock()
	if s.turn != nil || s.sending {
		s.mu.Unlock()
		return provider.NotSent, errors.New("a turn of this conversation is running")
	}
	s.sending = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.sending = false
		s.mu.Unlock()
	}()
	if in.Mode == "" {
		in.Mode = s.spec.Mode
	}
	if err := s.apply(ctx, in.Model, in.Effort, in.Mode); err != nil {
		var own *provider.Error
		if !errors.As(err, &own) {
			err = turnError(s.entry.Title, err)
		}
		return provider.NotSent, err
	}
	blocks, tells, err := s.blocks(in)
	if err != nil {
		return provider.NotSent, err
	}
	return s.prompt(ctx, blocks, tells)
}

// prompt starts the turn and writes it. A write that a stuck agent holds up
// goes on after ctx: it may yet arrive.
func (s *session) prompt(ctx context.Context, blocks []sdk.ContentBlock, tells bool) (provider.Delivery, error) {
	s.mu.Lock()
	s.turns++
	t := &turn{number: s.turns, tools: map[string]*tool{}}
	s.turn = t
	s.mu.Unlock()
	s.dog.Begin()

	type written struct {
		delivery provider.Delivery
		err      error
	}
	result := make(chan written, 1)
	go func() {
		_, d, err := s.rpc.Begin(s.ctx, sdk.AgentMethodSessionPrompt,
			sdk.PromptRequest{SessionId: s.id, Prompt: blocks}, func(m wire.Message) { s.finish(t, m) })
		result <- written{d, err}
	}()
	var w written
	select {
	case w = <-result:
	case <-ctx.Done():
		return provider.Uncertain, ctx.Err()
	}
	if w.err != nil && w.delivery == provider.NotSent {
		s.mu.Lock()
		s.turn = nil
		s.mu.Unlock()
		s.dog.Stop()
		return w.delivery, w.err
	}
	if tells {
		s.mu.Lock()
		s.told = true
		s.mu.Unlock()
		s.rememberTold()
	}
	return w.delivery, w.err
}

// blocks makes the content of a message: the chat's instructions once per
// conversation, files, and the user's own words unchanged as one block. tells
// says that the instructions are among them. A message that calls one of the
// agent's commands goes without them: some agents join the blocks and would
// no longer see the slash first.
func (s *session) blocks(in provider.Input) (blocks []sdk.ContentBlock, tells bool, err error) {
	s.mu.Lock()
	images, embed, told := s.caps.PromptCapabilities.Image, s.caps.PromptCapabilities.EmbeddedContext, s.told
	s.mu.Unlock()
	if s.spec.Instructions != "" && !told && !strings.HasPrefix(in.Text, "/") {
		blocks = append(blocks, sdk.TextBlock(s.spec.Instructions))
		tells = true
	}
	blocks = append(blocks, sdk.TextBlock(in.Text))
	for _, a := range in.Attachments {
		b, err := attach(a, images, embed)
		if err != nil {
			return nil, false, &provider.Error{Code: "attachment", Text: "The file " + a.Name + " cannot be read.", Detail: err.Error(), Err: err}
		}
		blocks = append(blocks, b)
	}
	return blocks, tells, nil
}

// attach makes a content block of a file: the bytes where the agent takes
// them, else a link to it.
func attach(a provider.Attachment, images, embed bool) (sdk.ContentBlock, error) {
	uri := fileURI(a.Path)
	switch {
	case images && strings.HasPrefix(a.Type, "image/") && a.Type != "image/svg+xml" && a.Size <= maxImage:
		data, err := readWhole(a.Path, maxImage)
		if err != nil {
			return sdk.ContentBlock{}, err
		}
		b := sdk.ImageBlock(base64.StdEncoding.EncodeToString(data), a.Type)
		b.Image.Uri = &uri
		return b, nil
	case embed && a.Size <= maxEmbedded:
		data, err := readWhole(a.Path, maxEmbedded)
		if err != nil {
			return sdk.ContentBlock{}, err
		}
		if utf8.Valid(data) && !strings.ContainsRune(string(data), 0) {
			return sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{
				Uri: uri, MimeType: sdk.Ptr(a.Type), Text: string(data),
			}}), nil
		}
	}
	if _, err := os.Stat(a.Path); err != nil {
		return sdk.ContentBlock{}, err
	}
	b := sdk.ResourceLinkBlock(a.Name, uri)
	if a.Type != "" {
		b.ResourceLink.MimeType = sdk.Ptr(a.Type)
	}
	b.ResourceLink.Size = sdk.Ptr(int(a.Size))
	return b, nil
}

func readWhole(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("the file has grown beyond what can be sent")
	}
	return data, err
}

func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// finish ends the turn with the reply to its prompt. It runs on the reading
// goroutine, after all updates that came before.
func (s *session) finish(t *turn, m wire.Message) {
	s.accept()
	s.endMessage(t)
	end := s.ending(t, m)
	s.tellDenied()
	s.sweep(t, end.State)
	s.dog.Stop()
	s.mu.Lock()
	s.turn, s.last = nil, t
	withdrawn := t.withdrawn
	for _, r := range s.takeRequests() {
		withdrawn = append(withdrawn, r.key)
		go r.cancelled()
	}
	s.mu.Unlock()
	for _, key := range withdrawn {
		s.emit(provider.Event{Withdrawn: key})
	}
	s.emit(provider.Event{TurnEnded: end})
}

// ending reads the reply: the stop reason, or what went wrong.
func (s *session) ending(t *turn, m wire.Message) *provider.TurnEnded {
	s.mu.Lock()
	interrupted, failure := t.interrupted, t.failure
	s.mu.Unlock()
	if failure != nil {
		return &provider.TurnEnded{State: failed, StopReason: "no_answer", Err: failure}
	}
	if m.Error != nil {
		if interrupted { // some agents report the interrupted request as an error
			return &provider.TurnEnded{State: stopped, StopReason: "cancelled"}
		}
		return &provider.TurnEnded{State: failed, StopReason: "error", Err: turnError(s.entry.Title, m.Error)}
	}
	var reply struct {
		StopReason string    `json:"stopReason"`
		Usage      *sdkUsage `json:"usage"`
		Meta       struct {
			Quota *quota `json:"quota"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Result, &reply); err != nil {
		return &provider.TurnEnded{State: failed, StopReason: "error", Err: &provider.Error{
			Code: "protocol", Text: s.entry.Title + " ended its turn in a way Berth does not understand.", Detail: firstBytes(string(m.Result), maxDetail), Err: err,
		}}
	}
	s.spent(reply.Usage, reply.Meta.Quota)
	return s.reason(t, reply.StopReason, interrupted)
}

// reason tells the stop reasons of the protocol apart.
func (s *session) reason(t *turn, reason string, interrupted bool) *provider.TurnEnded {
	end := &provider.TurnEnded{State: completed, StopReason: reason}
	switch reason {
	case "cancelled":
		end.State = stopped
	case "refusal":
		end.State = failed
		end.Err = &provider.Error{Code: "refused", Text: "The model refused to answer."}
	case "max_tokens":
		s.notice(t, "max_tokens", "warning", "The answer ends early: the model's limit of tokens was reached.", nil)
	case "max_turn_requests":
		s.notice(t, "max_turn_requests", "warning", s.entry.Title+" ended its turn early: its own limit of steps was reached.", nil)
	}
	if interrupted {
		end.State = stopped
	}
	return end
}

// sdkUsage is the protocol's usage of a turn; quota is Gemini CLI's.
type sdkUsage struct {
	Input  *int64 `json:"inputTokens"`
	Output *int64 `json:"outputTokens"`
	Cached *int64 `json:"cachedReadTokens"`
}

type quota struct {
	Tokens struct {
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
	} `json:"token_count"`
	Models []struct {
		Model string `json:"model"`
	} `json:"model_usage"`
}

func (s *session) spent(u *sdkUsage, q *quota) {
	if u == nil && q == nil {
		return
	}
	s.mu.Lock()
	if u != nil {
		s.usage.InputTokens, s.usage.OutputTokens, s.usage.CachedTokens = u.Input, u.Output, u.Cached
	}
	if q != nil {
		s.usage.InputTokens, s.usage.OutputTokens = q.Tokens.Input, q.Tokens.Output
		if n := len(q.Models); n > 0 {
			s.usage.Model = firstBytes(q.Models[n-1].Model, maxDetail)
		}
	}
	level := s.usage
	s.mu.Unlock()
	s.emit(provider.Event{Usage: &level})
}

// silence is the watchdog's alarm: the turn is cancelled, and if the agent
// does not even end it, the agent is.
func (s *session) silence(limit time.Duration) {
	failure := &provider.Error{
		Code: "no_answer", Text: s.entry.Title + " gave no sign of life for " + limit.String() + ".", Action: "send_again",
	}
	s.mu.Lock()
	t := s.turn
	if t == nil {
		s.mu.Unlock()
		return
	}
	t.failure = failure
	s.mu.Unlock()
	s.host.Clock.AfterFunc(cancelGrace, func() {
		s.mu.Lock()
		still := s.turn == t
		s.mu.Unlock()
		if still {
			s.fail(failure)
		}
	})
	go func() {
		_ = s.rpc.Notify(s.ctx, sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: s.id})
	}()
}
