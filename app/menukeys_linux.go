//go:build desktop

package app

/*
#cgo pkg-config: gtk+-3.0
#include <string.h>
#include <gtk/gtk.h>

// show_keys puts what follows the tab of a menu label where GTK shows
// accelerators, without making it one.
static void show_keys(GtkWidget *widget, gpointer data) {
	if (GTK_IS_ACCEL_LABEL(widget)) {
		const char *text = gtk_label_get_text(GTK_LABEL(widget));
		const char *tab = strchr(text, '\t');
		if (tab != NULL) {
			guint key = 0;
			GdkModifierType modifiers = 0;
			gtk_accelerator_parse(tab + 1, &key, &modifiers);
			gtk_accel_label_set_accel(GTK_ACCEL_LABEL(widget), key, modifiers);
			char *label = g_strndup(text, tab - text);
			gtk_label_set_text(GTK_LABEL(widget), label);
			g_free(label);
		}
		return;
	}
	if (GTK_IS_MENU_ITEM(widget)) {
		GtkWidget *menu = gtk_menu_item_get_submenu(GTK_MENU_ITEM(widget));
		if (menu != NULL) show_keys(menu, data);
	}
	if (GTK_IS_CONTAINER(widget)) gtk_container_forall(GTK_CONTAINER(widget), show_keys, data);
}

static gboolean show_keys_of_all(gpointer data) {
	GList *windows = gtk_window_list_toplevels();
	for (GList *w = windows; w != NULL; w = w->next) show_keys(GTK_WIDGET(w->data), data);
	g_list_free(windows);
	return G_SOURCE_REMOVE;
}

// Only the thread of the main loop may touch widgets.
static void show_keys_later(void) { g_idle_add(show_keys_of_all, NULL); }
*/
import "C"

// keysForMenu writes keys so that showKeys can read them.
func keysForMenu(keys string) string { return gtkKeys(keys) }

// showKeys aligns the keys beside the labels of the menu.
func showKeys() { C.show_keys_later() }
