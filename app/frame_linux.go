//go:build desktop

package app

/*
#cgo pkg-config: gtk+-3.0
#include <stdint.h>
#include <gtk/gtk.h>

static gboolean frame(gpointer dark) {
	GtkSettings *settings = gtk_settings_get_default();
	if (settings == NULL) return G_SOURCE_REMOVE;
	intptr_t want = (intptr_t)dark;
	if (want < 0) gtk_settings_reset_property(settings, "gtk-application-prefer-dark-theme");
	else g_object_set(settings, "gtk-application-prefer-dark-theme", (gboolean)want, NULL);
	return G_SOURCE_REMOVE;
}

// Only the thread of the main loop may touch settings.
static void frame_later(int dark) { g_idle_add(frame, (gpointer)(intptr_t)dark); }
*/
import "C"

// frame gives the menu and the dialogs the theme of the page: light, dark or
// the system's.
func (w *Window) frame(theme string) {
	switch theme {
	case "dark":
		C.frame_later(1)
	case "light":
		C.frame_later(0)
	default:
		C.frame_later(-1)
	}
}
