package cursor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/probe"
)

const (
	// describeTimeout bounds the whole look at the CLI.
	describeTimeout = 6 * time.Second
	// maxDetail bounds the machine's own words in an error, in bytes.
	maxDetail = 500
	// maxModels bounds a list of models.
	maxModels = 200
	// maxWord bounds a name that is shown, in bytes.
	maxWord = 120
)

// names are those of the CLI, the first one found that fits.
var names = []string{"cursor-agent", "agent"}

// needed is what --help must mention of a CLI that we can use.
var needed = []string{"--print", "--output-format", "--stream-partial-output", "--resume", "--model", "--trust", "--force", "--mode", "stream-json", "plan"}

// Describe implements provider.Driver. `status` and `models` may ask Cursor's
// service; they are given up when it does not answer in time.
func (d *Driver) Describe(ctx context.Context, host provider.Host) provider.Description {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	desc := provider.Description{
		Name: "cursor", Title: "Cursor", Mark: "Cu", Status: provider.Ready,
		Install: []string{"sh", "-c", "curl https://cursor.com/install -fsS | bash"},
		Models:  []provider.Model{{Label: "Default"}}, Modes: modes, Capabilities: capabilities, CheckedAt: host.Clock.Now().UTC(),
	}
	path, err := d.find(ctx, host)
	if err != nil {
		describeProblem(ctx, err, &desc)
		return desc
	}
	desc.Executable, desc.Login, desc.Update = path, []string{path, "login"}, []string{path, "update"}
	r, err := look(ctx, host, path, "--version")
	if err != nil || r.Code != 0 {
		if err == nil {
			err = &provider.Error{Code: "broken", Text: "Cursor's agent does not work.", Detail: cut(r.LastLine(), maxDetail)}
		}
		describeProblem(ctx, err, &desc)
		return desc
	}
	desc.Version = cut(cmp.Or(probe.Version(r.Stdout), strings.TrimSpace(r.Stdout)), maxWord)
	var models []provider.Model
	var both sync.WaitGroup
	both.Go(func() { describeLogin(ctx, host, path, &desc) })
	both.Go(func() { models = listModels(ctx, host, path) })
	both.Wait()
	desc.Models = append(desc.Models, models...)
	return desc
}

// describeProblem says what is wrong with the CLI.
func describeProblem(ctx context.Context, err error, desc *provider.Description) {
	var e *provider.Error
	switch {
	case ctx.Err() != nil:
		desc.Status, desc.Message = provider.Unknown, "Cursor's agent did not answer in time."
	case errors.As(err, &e):
		desc.Status, desc.Message, desc.Detail = provider.Broken, e.Text, e.Detail
		switch e.Code {
		case "missing":
			desc.Status = provider.Missing
		case "too_old":
			desc.Status = provider.TooOld
		}
	default:
		desc.Status, desc.Message, desc.Detail = provider.Broken, "Cursor's agent cannot be started.", cut(err.Error(), maxDetail)
	}
}

func look(ctx context.Context, host provider.Host, path string, args ...string) (probe.Result, error) {
	return probe.Run(ctx, host.Processes, process.Spec{Path: path, Args: args, Dir: os.TempDir(), Env: host.Env, Label: "cursor " + args[0]})
}

// find gives the CLI to use: the one that is set, else the first of its names
// that fits. One that does not fit must not hide one that does: `agent` is a
// common name.
func (d *Driver) find(ctx context.Context, host provider.Host) (string, error) {
	if host.Executable != "" {
		if _, err := os.Stat(host.Executable); err != nil {
			return "", &provider.Error{Code: "missing", Text: "The executable that is set for Cursor is not there.", Detail: host.Executable, Action: "open_settings", Err: err}
		}
		return host.Executable, d.fits(ctx, host, host.Executable)
	}
	var missing, unfit error
	for _, name := range names {
		path, err := host.Processes.LookPath(name)
		if err != nil {
			missing = err
			continue
		}
		if err := d.fits(ctx, host, path); err != nil {
			if unfit == nil {
				unfit = err
			}
			continue
		}
		return path, nil
	}
	if unfit != nil {
		return "", unfit
	}
	return "", &provider.Error{Code: "missing", Text: "Cursor's agent is not installed.", Detail: cut(missing.Error(), maxDetail), Action: "install", Err: missing}
}

// fits says why an executable cannot be used. A good answer is remembered.
func (d *Driver) fits(ctx context.Context, host provider.Host, path string) error {
	d.mu.Lock()
	fit := d.fit[path]
	d.mu.Unlock()
	if fit {
		return nil
	}
	r, err := look(ctx, host, path, "--help")
	if err != nil {
		return err
	}
	help := r.Stdout + r.Stderr
	for _, word := range needed {
		if !strings.Contains(help, word) {
			if r.Code != 0 {
				return &provider.Error{Code: "broken", Text: "Cursor's agent does not work.", Detail: cut(r.LastLine(), maxDetail)}
			}
			return &provider.Error{Code: "too_old", Text: "This Cursor agent is too old, or another program of that name: it has no " + word + ".", Detail: path}
		}
	}
	d.mu.Lock()
	d.fit[path] = true
	d.mu.Unlock()
	return nil
}

// account finds the address in what `status` prints.
var account = regexp.MustCompile(`[^\s<>()"']+@[^\s<>()"']+\.[^\s<>()"']+`)

// describeLogin reads the sign-in. A key in the environment is one; whether
// it is good shows with the first turn.
func describeLogin(ctx context.Context, host provider.Host, path string, desc *provider.Description) {
	if host.Getenv("CURSOR_API_KEY") != "" {
		desc.Account = "API key"
		return
	}
	r, err := look(ctx, host, path, "status")
	if err != nil {
		desc.Message = "Whether Cursor is signed in is not known: it did not answer in time."
		return
	}
	text := r.Stdout + r.Stderr
	if signedOut(text) {
		desc.Status, desc.Message = provider.Unauthenticated, "Cursor is not signed in."
		return
	}
	if r.Code != 0 {
		desc.Message, desc.Detail = "Whether Cursor is signed in is not known.", cut(r.LastLine(), maxDetail)
		return
	}
	desc.Account = cut(account.FindString(text), maxWord)
}

// listModels reads `--list-models`: a line for each, "id - name".
func listModels(ctx context.Context, host provider.Host, path string) []provider.Model {
	r, err := look(ctx, host, path, "--list-models")
	if err != nil || r.Code != 0 {
		return nil
	}
	return models(r.Stdout)
}

var modelLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._:/\[\]=,-]{0,79}) +- +(\S.*)$`)

func models(text string) []provider.Model {
	var list []provider.Model
	for line := range strings.Lines(text) {
		m := modelLine.FindStringSubmatch(strings.TrimSpace(line))
		if m != nil && len(list) < maxModels {
			list = append(list, provider.Model{Value: m[1], Label: cut(m[2], maxWord)})
		}
	}
	return list
}
