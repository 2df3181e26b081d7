package provider

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of looking at agents.
const (
	// describeTimeout bounds the look at one agent; one that hangs spoils
	// only itself.
	describeTimeout = 12 * time.Second
	// freshFor is how long a description is believed without a new look.
	freshFor = 60 * time.Second
)

// Catalog knows the drivers and what was last seen of their agents. Its
// methods may be called from any goroutine.
type Catalog struct {
	host     Host
	settings func(agent string) (executable string, env []string)
	changed  func()

	mu      sync.Mutex
	drivers []Driver
	seen    map[string]Description
	looks   map[string]*look
}

// look is one look at an agent that several callers may wait for.
type look struct {
	done chan struct{}
}

// NewCatalog makes a catalogue. settings gives the user's choices for an
// agent; changed is called, from any goroutine, when a description changed.
func NewCatalog(host Host, settings func(agent string) (executable string, env []string), changed func()) *Catalog {
	return &Catalog{host: host, settings: settings, changed: changed, seen: map[string]Description{}, looks: map[string]*look{}}
}

// Add puts a driver behind those that are there; one of the same name is
// replaced.
func (c *Catalog) Add(d Driver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.drivers, func(o Driver) bool { return o.Name() == d.Name() })
	if i >= 0 {
		c.drivers[i] = d
		delete(c.seen, d.Name())
		return
	}
	c.drivers = append(c.drivers, d)
}

// Driver gives the driver of that name, and the host to use with it.
func (c *Catalog) Driver(name string) (Driver, Host, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.drivers {
		if d.Name() == name {
			return d, c.hostFor(name), true
		}
	}
	return nil, Host{}, false
}

func (c *Catalog) hostFor(name string) Host {
	h := c.host
	h.Executable, h.Env = c.settings(name)
	return h
}

// Known is what was last seen of an agent, at once; Status is Unknown when it
// was not looked at yet.
func (c *Catalog) Known(name string) (Description, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.drivers {
		if d.Name() == name {
			return c.known(name), true
		}
	}
	return Description{}, false
}

func (c *Catalog) known(name string) Description {
	if d, ok := c.seen[name]; ok {
		return d
	}
	return Description{Name: name, Title: name, Status: Unknown, Models: []Model{}, Modes: []Permission{}}
}

// Seen gives what was last seen of all agents, at once and in order.
func (c *Catalog) Seen() []Description {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Description, 0, len(c.drivers))
	for _, d := range c.drivers {
		all = append(all, c.known(d.Name()))
	}
	return all
}

// Describe looks at an agent, unless what is known is fresh and refresh is
// not set; known is false when there is no such agent. Callers at the same time share one look. When ctx ends first, what was
// known before is returned: running out of time is no evidence.
func (c *Catalog) Describe(ctx context.Context, name string, refresh bool) (d Description, known bool) {
	c.mu.Lock()
	i := slices.IndexFunc(c.drivers, func(d Driver) bool { return d.Name() == name })
	if i < 0 {
		c.mu.Unlock()
		return Description{}, false
	}
	if d, ok := c.seen[name]; ok && !refresh && time.Since(d.CheckedAt) < freshFor {
		c.mu.Unlock()
		return d, true
	}
	l := c.looks[name]
	if l == nil {
		l = &look{done: make(chan struct{})}
		c.looks[name] = l
		go c.look(l, c.drivers[i])
	}
	c.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	return c.Known(name)
}

func (c *Catalog) look(l *look, driver Driver) {
	ctx, cancel := context.WithTimeout(context.Background(), describeTimeout)
	defer cancel()
	c.mu.Lock()
	host := c.hostFor(driver.Name())
	c.mu.Unlock()
	d := driver.Describe(ctx, host)
	d.CheckedAt = time.Now().UTC().Truncate(time.Millisecond)
	if d.Models == nil {
		d.Models = []Model{}
	}
	if d.Modes == nil {
		d.Modes = []Permission{}
	}
	c.mu.Lock()
	before, ok := c.seen[driver.Name()]
	c.seen[driver.Name()] = d
	delete(c.looks, driver.Name())
	c.mu.Unlock()
	close(l.done)
	if !ok || before.Status != d.Status || before.Version != d.Version || len(before.Models) != len(d.Models) {
		c.changed()
	}
}

// List gives what is known of all agents, in order. Those never looked at,
// and with refresh all, are looked at first, at the same time.
func (c *Catalog) List(ctx context.Context, refresh bool) []Description {
	var wg sync.WaitGroup
	for _, d := range c.Seen() {
		if refresh || d.Status == Unknown {
			wg.Go(func() { c.Describe(ctx, d.Name, refresh) })
		}
	}
	wg.Wait()
	return c.Seen()
}
