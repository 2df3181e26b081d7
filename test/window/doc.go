// Package window proves the real window on a display of its own: what only a
// user would notice otherwise. It holds tests only, which "make test" runs
// under Xvfb with a window manager and a notification service
// (test/window.sh); screenshots are left in test-results.
package window
