//go:build desktop

package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	toolkit "github.com/wailsapp/wails/v2/pkg/runtime"

	"berth/backend/alert"
	"berth/backend/settings"
	"berth/build"
)

// actionEvent is the only event that goes to the page; its datum is an action
// id.
const actionEvent = "berth:action"

// linkAction tells the page that a deep link waits.
const linkAction = "link.open"

// Window is the open window. Its methods may be called from any goroutine.
type Window struct {
	opts     Options
	settings settings.Settings // as they were at the start
	words    map[string]string
	native   *native
	place    place

	// started is closed once the toolkit runs; ctx is valid from then on.
	// gone is closed when it no longer runs.
	started, gone chan struct{}
	ctx           context.Context

	signalled <-chan struct{} // closed when the program is told to end
	leaving   atomic.Bool     // closing needs no question
	hidden    atomic.Bool
	asking    sync.Mutex // held while the user is asked
	notify    notifications
}

// Run shows the window and returns when it was closed. It must be called on
// the main goroutine, once. ctx ends with the signals that end the program;
// the toolkit itself closes the window on those, and ctx only says that this
// needs no question.
func Run(ctx context.Context, opts Options) (err error) {
	// The toolkit panics when it cannot reach the display.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("open the window: %v", p)
		}
	}()
	w := newWindow(ctx, opts)
	w.signalled = ctx.Done()
	waiting, err := beTheWindow(opts.Socket, w.Focus)
	if err != nil {
		return err
	}
	defer waiting.close()
	defer close(w.gone)
	opts.Opened(w)
	defer opts.Opened(nil)
	watching, endWatch := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { w.watch(watching) })
	defer watch.Wait()
	defer endWatch()

	speakLanguage(w.opts.Log)
	if err := registerScheme(); err != nil {
		opts.Log.Warn("berth:// links will not reach Berth", "error", err)
	}
	config, err := w.config()
	if err != nil {
		return err
	}
	return wails.Run(config)
}

func newWindow(ctx context.Context, opts Options) *Window {
	w := &Window{opts: opts, started: make(chan struct{}), gone: make(chan struct{}), place: loadPlace(opts.State)}
	set, err := opts.Backend.Settings(ctx)
	if err != nil {
		opts.Log.Warn("the window starts with default settings", "error", err)
		set = settings.Defaults()
	}
	w.settings = set
	w.words = words[alert.Language(w.settings.Language, systemLanguage())]
	w.native = newNative(opts, w, w.place.Background, func() { w.send(linkAction) })
	if opts.Link != "" {
		w.native.link.put(opts.Link)
	}
	return w
}

func (w *Window) config() (*options.App, error) {
	bar, err := w.menu()
	if err != nil {
		return nil, err
	}
	background := options.NewRGB(0xfd, 0xfc, 0xfa) // the light theme, until the page has said more
	if c, ok := parseColour(w.place.Background); ok {
		background = options.NewRGB(c.r, c.g, c.b)
	}
	state := options.Normal
	if w.place.Maximised {
		state = options.Maximised
	}
	gpu := linux.WebviewGpuPolicyNever
	if w.settings.GPU {
		gpu = linux.WebviewGpuPolicyOnDemand
	}
	return &options.App{
		// Only over text that is selected or can be edited; the page has its own.
		EnableDefaultContextMenu: true,
		Title:                    "Berth", Width: w.place.Width, Height: w.place.Height,
		MinWidth: leastWidth, MinHeight: leastHeight,
		WindowStartState: state, BackgroundColour: background, Menu: bar,
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: runtime.GOOS == "linux"},
		AssetServer: &assetserver.Options{Handler: w.native},
		OnStartup:   w.startup, OnBeforeClose: w.beforeClose,
		Logger:  toolkitLog{w.opts.Log},
		Linux:   &linux.Options{Icon: build.Icon, ProgramName: "berth", WebviewGpuPolicy: gpu},
		Windows: &windows.Options{WebviewUserDataPath: webviewData(w.opts.State)},
		Mac: &mac.Options{
			OnUrlOpen: w.openLink,
			About:     &mac.AboutInfo{Title: "Berth", Message: w.opts.Version, Icon: build.Icon},
		},
	}, nil
}

// startup runs once the toolkit is there, on a goroutine of its own.
func (w *Window) startup(ctx context.Context) {
	w.ctx = ctx
	close(w.started)
	showKeys()
	toolkit.OnFileDrop(ctx, func(x, y int, paths []string) {
		w.native.drop.put(x, y, paths)
		w.send(dropAction)
	})
	w.restorePlace()
	w.startNotifications()
}

// open waits until the window is there, and says whether it is.
func (w *Window) open() bool {
	select {
	case <-w.started:
	case <-w.gone:
	}
	select {
	case <-w.gone:
		return false
	default:
		return true
	}
}

// send tells the page to do an action.
func (w *Window) send(id string) {
	if !w.open() {
		return
	}
	toolkit.EventsEmit(w.ctx, actionEvent, id)
}

// Focus brings the window forward and, with a link, opens it. A link that
// cannot be read only brings the window forward.
func (w *Window) Focus(link string) {
	if !w.open() {
		return
	}
	w.hidden.Store(false)
	toolkit.WindowShow(w.ctx)
	// On Linux this is what presents a window; elsewhere it would also undo
	// a maximised one.
	if runtime.GOOS == "linux" || toolkit.WindowIsMinimised(w.ctx) {
		toolkit.WindowUnminimise(w.ctx)
	}
	toolkit.Show(w.ctx)
	if link != "" {
		w.openLink(link)
	}
}

func (w *Window) openLink(link string) {
	way, err := ParseLink(link)
	if err != nil {
		w.opts.Log.Warn("a link was not opened", "error", err)
		return
	}
	w.native.link.put(way)
	w.send(linkAction)
}

// end closes the window without a question.
func (w *Window) end() {
	w.leaving.Store(true)
	if w.open() {
		toolkit.Quit(w.ctx)
	}
}

func (w *Window) quit() { toolkit.Quit(w.ctx) }

func (w *Window) chooseFolder(title, start string) (string, error) {
	if title == "" {
		title = w.words["folder.title"]
	}
	return toolkit.OpenDirectoryDialog(w.ctx, toolkit.OpenDialogOptions{
		Title: title, DefaultDirectory: start, CanCreateDirectories: true})
}

func (w *Window) chooseTarget(name string) (string, error) {
	return toolkit.SaveFileDialog(w.ctx, toolkit.SaveDialogOptions{
		Title: w.words["save.title"], DefaultDirectory: downloads(), DefaultFilename: name, CanCreateDirectories: true})
}

func (w *Window) openURL(url string) {
	seal()
	toolkit.BrowserOpenURL(w.ctx, url)
}

func (w *Window) paint(c colour) { toolkit.WindowSetBackgroundColour(w.ctx, c.r, c.g, c.b, 255) }

// restorePlace moves the window to where it stood, if that can still be seen.
func (w *Window) restorePlace() {
	screens, err := w.screens()
	if err != nil {
		w.opts.Log.Warn("the window stays where the system put it", "error", err)
		return
	}
	switch {
	case w.place.Maximised:
	case w.place.tooLarge(screens):
		toolkit.WindowMaximise(w.ctx)
	case w.place.fits(screens):
		toolkit.WindowSetPosition(w.ctx, w.place.X, w.place.Y)
	}
}

func (w *Window) screens() ([]size, error) {
	all, err := toolkit.ScreenGetAll(w.ctx)
	if err != nil {
		return nil, err
	}
	sizes := make([]size, len(all))
	for i, s := range all {
		sizes[i] = size{s.Size.Width, s.Size.Height}
	}
	return sizes, nil
}

// keepPlace remembers where the window stands. The size of a maximised
// window is that of the screen, so the one from before is kept.
func (w *Window) keepPlace() {
	p := w.place
	p.Background = w.native.painted()
	p.Maximised = toolkit.WindowIsMaximised(w.ctx) || toolkit.WindowIsFullscreen(w.ctx)
	if !p.Maximised && !toolkit.WindowIsMinimised(w.ctx) {
		p.Width, p.Height = toolkit.WindowGetSize(w.ctx)
		p.X, p.Y = toolkit.WindowGetPosition(w.ctx)
	}
	if err := p.save(w.opts.State); err != nil {
		w.opts.Log.Warn("the window's place was not kept", "error", err)
	}
}
