package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// Main is the program `berth demo-agent`: it serves one client on its
// standard streams until they end.
func Main(stdin io.Reader, stdout io.Writer) error {
	a := &agent{out: &lockedWriter{w: stdout}, memory: memory{dir: os.Getenv(stateVariable)}, sessions: map[sdk.SessionId]*conversation{}}
	a.conn = sdk.NewAgentSideConnection(a, a.out, stdin)
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	<-a.conn.Done()
	return nil
}

// agent is the agent side of the connection.
type agent struct {
	conn   *sdk.AgentSideConnection
	out    io.Writer
	memory memory

	mu       sync.Mutex
	client   sdk.ClientCapabilities
	sessions map[sdk.SessionId]*conversation
}

// conversation is one session. Its fields are guarded by the agent's mu.
type conversation struct {
	id     sdk.SessionId
	cwd    string
	mode   string
	model  string
	count  int             // messages so far, kept over restarts
	always map[string]bool // kinds of work that need no further permission, or are denied
}

// lockedWriter keeps what /crash garbage prints from cutting a line in two.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// The modes, by Berth's own names.
const (
	modeAsk         = "ask"
	modeAcceptEdits = "accept-edits"
	modePlan        = "plan"
	modeFull        = "full"
)

func modes(current string) *sdk.SessionModeState {
	mode := func(id, name, description string) sdk.SessionMode {
		return sdk.SessionMode{Id: sdk.SessionModeId(id), Name: name, Description: &description}
	}
	return &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(current), AvailableModes: []sdk.SessionMode{
		mode(modeAsk, "Ask", "Asks before it edits or runs anything."),
		mode(modeAcceptEdits, "Accept edits", "Edits without asking, asks before it runs anything."),
		mode(modePlan, "Plan", "Only reads."),
		mode(modeFull, "Full", "Never asks."),
	}}
}

func options(current string) []sdk.SessionConfigOption {
	var values sdk.SessionConfigSelectOptionsUngrouped
	for _, m := range models {
		values = append(values, sdk.SessionConfigSelectOption{Value: sdk.SessionConfigValueId(m.value), Name: m.label, Description: &m.note})
	}
	category := sdk.SessionConfigOptionCategory("model")
	return []sdk.SessionConfigOption{{Select: &sdk.SessionConfigOptionSelect{
		Id: "model", Name: "Model", Type: "select", Category: &category,
		CurrentValue: sdk.SessionConfigValueId(current), Options: sdk.SessionConfigSelectOptions{Ungrouped: &values},
	}}}
}

// Initialize tells what the agent can do.
func (a *agent) Initialize(_ context.Context, in sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.client = in.ClientCapabilities
	caps := sdk.AgentCapabilities{PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true}}
	if a.memory.dir != "" {
		caps.SessionCapabilities.Resume = &sdk.SessionResumeCapabilities{}
	}
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: caps, AuthMethods: []sdk.AuthMethod{},
		AgentInfo: &sdk.Implementation{Name: "berth-demo", Title: sdk.Ptr("Demo agent"), Version: "1"},
	}, nil
}

// NewSession begins a conversation.
func (a *agent) NewSession(ctx context.Context, in sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	c := &conversation{id: sdk.SessionId("demo-" + hex.EncodeToString(id[:])), cwd: in.Cwd, mode: modeAsk, model: models[0].value, always: map[string]bool{}}
	if err := a.memory.save(c); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	a.begin(ctx, c)
	return sdk.NewSessionResponse{SessionId: c.id, Modes: modes(c.mode), ConfigOptions: options(c.model)}, nil
}

// ResumeSession takes up a conversation that was kept.
func (a *agent) ResumeSession(ctx context.Context, in sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	c, err := a.memory.load(in.SessionId)
	if err != nil {
		return sdk.ResumeSessionResponse{}, sdk.NewInvalidParams(map[string]any{"details": "no such conversation"})
	}
	c.cwd = in.Cwd
	a.begin(ctx, c)
	return sdk.ResumeSessionResponse{Modes: modes(c.mode), ConfigOptions: options(c.model)}, nil
}

func (a *agent) begin(ctx context.Context, c *conversation) {
	a.mu.Lock()
	a.sessions[c.id] = c
	a.mu.Unlock()
	var list []sdk.AvailableCommand
	for _, command := range commands {
		out := sdk.AvailableCommand{Name: command.name, Description: command.description}
		if command.hint != "" {
			out.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: command.hint}}
		}
		list = append(list, out)
	}
	_ = a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: c.id, Update: sdk.SessionUpdate{
		AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: list},
	}})
}

func (a *agent) session(id sdk.SessionId) (*conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.sessions[id]
	if c == nil {
		return nil, sdk.NewInvalidParams(map[string]any{"details": "no such conversation"})
	}
	return c, nil
}

// SetSessionMode changes the permissions.
func (a *agent) SetSessionMode(_ context.Context, in sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	c, err := a.session(in.SessionId)
	if err != nil {
		return sdk.SetSessionModeResponse{}, err
	}
	switch mode := string(in.ModeId); mode {
	case modeAsk, modeAcceptEdits, modePlan, modeFull:
		a.mu.Lock()
		defer a.mu.Unlock()
		c.mode = mode
		return sdk.SetSessionModeResponse{}, nil
	}
	return sdk.SetSessionModeResponse{}, sdk.NewInvalidParams(map[string]any{"details": "no such mode"})
}

// SetSessionConfigOption changes the model.
func (a *agent) SetSessionConfigOption(_ context.Context, in sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	if in.ValueId == nil || in.ValueId.ConfigId != "model" {
		return sdk.SetSessionConfigOptionResponse{}, sdk.NewInvalidParams(map[string]any{"details": "no such option"})
	}
	c, err := a.session(in.ValueId.SessionId)
	if err != nil {
		return sdk.SetSessionConfigOptionResponse{}, err
	}
	for _, m := range models {
		if m.value == string(in.ValueId.Value) {
			a.mu.Lock()
			defer a.mu.Unlock()
			c.model = m.value
			return sdk.SetSessionConfigOptionResponse{ConfigOptions: options(c.model)}, nil
		}
	}
	return sdk.SetSessionConfigOptionResponse{}, sdk.NewInvalidParams(map[string]any{"details": "no such model"})
}

// Prompt plays what the message asks for.
func (a *agent) Prompt(ctx context.Context, in sdk.PromptRequest) (sdk.PromptResponse, error) {
	c, err := a.session(in.SessionId)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	a.mu.Lock()
	c.count++
	s := &scene{ctx: ctx, agent: a, c: c, mode: c.mode, model: c.model, count: c.count}
	err = a.memory.save(c)
	a.mu.Unlock()
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	text, files := message(in.Prompt)
	err = s.play(text, files)
	if ctx.Err() != nil {
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	s.spend(len(text))
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: s.usage(len(text))}, nil
}

// message gives the user's own text, which is the last text block, and the
// names of what was sent along.
func message(blocks []sdk.ContentBlock) (text string, files []string) {
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text = b.Text.Text
		case b.Image != nil:
			files = append(files, "an image ("+b.Image.MimeType+")")
		case b.ResourceLink != nil:
			files = append(files, b.ResourceLink.Name)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			uri := b.Resource.Resource.TextResourceContents.Uri
			files = append(files, uri[strings.LastIndexByte(uri, '/')+1:])
		}
	}
	return text, files
}

// The rest of the protocol that a small agent does not need.

func (a *agent) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

func (a *agent) Cancel(context.Context, sdk.CancelNotification) error { return nil }

func (a *agent) CloseSession(_ context.Context, in sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, in.SessionId)
	return sdk.CloseSessionResponse{}, nil
}

func (a *agent) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return sdk.ListSessionsResponse{}, fmt.Errorf("not offered")
}
