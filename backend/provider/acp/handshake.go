package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// open speaks initialize, authenticates where that needs no user, and begins
// or resumes the conversation, within startTimeout.
func (s *session) open(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := s.host.Clock.AfterFunc(startTimeout, cancel)
	defer stop()

	if err := s.initialize(ctx); err != nil {
		return s.startError(ctx, err)
	}
	err := s.begin(ctx)
	if isAuthRequired(err) && s.authenticate(ctx) {
		err = s.begin(ctx)
	}
	if err != nil {
		return s.startError(ctx, err)
	}
	s.recallTold()
	if err := s.apply(ctx, s.spec.Model, s.spec.Effort, s.spec.Mode); err != nil {
		return s.startError(ctx, err)
	}
	s.listen()
	return nil
}

// listen opens the session to its reader and tells what was learned before.
func (s *session) listen() {
	s.mu.Lock()
	s.phase = open
	early, id := s.early, string(s.id)
	s.mu.Unlock()
	// Three events fit the buffer.
	s.emit(provider.Event{Conversation: id})
	if early.commands != nil {
		s.emit(provider.Event{Commands: early.commands})
	}
	if early.usage != nil {
		s.emit(provider.Event{Usage: early.usage})
	}
}

func (s *session) initialize(ctx context.Context) error {
	var hello greeting
	_, err := s.rpc.Call(ctx, sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "berth", Title: sdk.Ptr("Berth"), Version: s.host.Version},
		ClientCapabilities: sdk.ClientCapabilities{
			Fs:          sdk.FileSystemCapabilities{ReadTextFile: !s.entry.OwnFiles, WriteTextFile: !s.entry.OwnFiles},
			Terminal:    true,
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.ElicitationFormCapabilities{}},
		},
	}, &hello)
	if err != nil {
		return err
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		return &provider.Error{
			Code:   "too_old",
			Text:   fmt.Sprintf("%s speaks version %d of the Agent Client Protocol, Berth version %d.", s.entry.Title, hello.ProtocolVersion, sdk.ProtocolVersionNumber),
			Action: "install",
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caps, s.info, s.auth = hello.AgentCapabilities, hello.AgentInfo, hello.AuthMethods
	return nil
}

// begin makes the conversation, or takes up the one named in the spec.
func (s *session) begin(ctx context.Context) error {
	switch {
	case s.spec.Resume == "":
		return s.newConversation(ctx)
	case s.spec.Fork:
		return s.forkConversation(ctx)
	case s.caps.SessionCapabilities.Resume != nil:
		return s.resumeConversation(ctx)
	case s.caps.LoadSession:
		return s.loadConversation(ctx)
	}
	return &provider.Error{Code: "not_resumable", Text: s.entry.Title + " cannot take up an earlier conversation."}
}

func (s *session) newConversation(ctx context.Context) error {
	var made opened
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionNew, sdk.NewSessionRequest{Cwd: s.spec.Cwd, McpServers: []sdk.McpServer{}}, &made)
	if err != nil {
		return err
	}
	if made.SessionID == "" {
		return &provider.Error{Code: "protocol", Text: s.entry.Title + " began a conversation without naming it."}
	}
	s.settle(made.SessionID, made)
	return nil
}

func (s *session) forkConversation(ctx context.Context) error {
	if s.caps.SessionCapabilities.Fork == nil {
		return provider.ErrUnsupported
	}
	var made opened
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionFork, sdk.UnstableForkSessionRequest{
		SessionId: sdk.SessionId(s.spec.Resume), Cwd: s.spec.Cwd, McpServers: []sdk.UnstableMcpServer{},
	}, &made)
	if err != nil {
		return s.resumeError(err)
	}
	if made.SessionID == "" || string(made.SessionID) == s.spec.Resume {
		return &provider.Error{Code: "protocol", Text: s.entry.Title + " did not make a conversation of its own out of the other."}
	}
	s.settle(made.SessionID, made)
	return nil
}

func (s *session) resumeConversation(ctx context.Context) error {
	var resumed opened
	id := sdk.SessionId(s.spec.Resume)
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionResume, sdk.ResumeSessionRequest{SessionId: id, Cwd: s.spec.Cwd, McpServers: []sdk.McpServer{}}, &resumed)
	if err != nil {
		return s.resumeError(err)
	}
	s.settle(id, resumed)
	return nil
}

// loadConversation takes up a conversation whose agent replays it. The chat
// has those items already.
func (s *session) loadConversation(ctx context.Context) error {
	s.setPhase(loading)
	defer s.setPhase(starting)
	var loaded opened
	id := sdk.SessionId(s.spec.Resume)
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionLoad, sdk.LoadSessionRequest{SessionId: id, Cwd: s.spec.Cwd, McpServers: []sdk.McpServer{}}, &loaded)
	if err != nil {
		return s.resumeError(err)
	}
	s.settle(id, loaded)
	return s.replayEnd(ctx)
}

// replayEnd waits until an agent that replies before it has replayed is
// quiet.
func (s *session) replayEnd(ctx context.Context) error {
	for waited := time.Duration(0); waited < replayLimit; waited += replayQuiet {
		before := s.replayCount()
		quiet := make(chan struct{})
		stop := s.host.Clock.AfterFunc(replayQuiet, func() { close(quiet) })
		select {
		case <-quiet:
		case <-ctx.Done():
			stop()
			return ctx.Err()
		}
		if s.replayCount() == before {
			return nil
		}
	}
	return nil
}

func (s *session) replayCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replayed
}

func (s *session) setPhase(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = p
}

// authenticate tries the entry's sign-in method that needs no user.
func (s *session) authenticate(ctx context.Context) bool {
	a := s.entry.Authenticate
	if a == nil || s.env(a.Env) == "" {
		return false
	}
	_, err := s.rpc.Call(ctx, sdk.AgentMethodAuthenticate, sdk.AuthenticateRequest{MethodId: a.Method}, nil)
	return err == nil
}

// codeAuthRequired is the protocol's own error code.
const codeAuthRequired = -32000

func isAuthRequired(err error) bool {
	var rpc *wire.RPCError
	return errors.As(err, &rpc) && rpc.Code == codeAuthRequired
}

// resumeError tells a conversation that is gone from other failures.
func (s *session) resumeError(err error) error {
	var rpc *wire.RPCError
	if !errors.As(err, &rpc) || isAuthRequired(err) {
		return err
	}
	return &provider.Error{
		Code: "not_resumable", Text: s.entry.Title + " does not find this conversation any more.",
		Detail: rpcDetail(rpc), Err: err,
	}
}

// startError puts a failed start into plain words.
func (s *session) startError(ctx context.Context, err error) error {
	var own *provider.Error
	switch {
	case errors.As(err, &own), errors.Is(err, provider.ErrUnsupported):
		return err
	case isAuthRequired(err):
		return s.signedOut(err)
	case errors.Is(err, wire.ErrEnded):
		<-s.proc.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.fatal != nil {
			return s.fatal
		}
		return &provider.Error{
			Code: "start_failed", Text: s.entry.Title + " ended while it was starting.",
			Detail: s.endDetail(s.proc.StderrTail()), Err: err,
		}
	case ctx.Err() != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		return &provider.Error{
			Code: "no_answer", Text: s.entry.Title + " did not answer while it was starting.",
			Detail: firstNonEmpty(lastLine(s.proc.StderrTail()), s.lastLine), Err: err,
		}
	}
	return turnError(s.entry.Title, err)
}

// signedOut names the ways to sign in that the agent offers.
func (s *session) signedOut(err error) *provider.Error {
	var ways []string
	for _, method := range s.auth {
		ways = append(ways, firstNonEmpty(method.Name, method.ID))
	}
	text := s.entry.Title + " is not signed in."
	if len(ways) > 0 {
		text += " It offers: " + firstBytes(strings.Join(ways, ", "), maxDetail) + "."
	}
	var rpc *wire.RPCError
	detail := ""
	if errors.As(err, &rpc) {
		detail = rpcDetail(rpc)
	}
	return &provider.Error{Code: "signed_out", Text: text, Detail: detail, Action: "sign_in", Err: err}
}
