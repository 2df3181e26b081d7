package app

import (
	"encoding/json"
	"fmt"
	"strings"
)

// action is one row of the table that menu, palette and shortcuts share.
type action struct {
	ID   string `json:"id"`
	En   string `json:"en"`
	Zh   string `json:"zh"`
	Keys string `json:"keys"`
	Mac  string `json:"mac"`
	Menu string `json:"menu"`
}

// entry of a menu: a separator when its id is empty.
type entry struct{ id, label, keys string }

// menu is one menu of the bar.
type submenu struct {
	title   string
	entries []entry
}

// words of the menu that are no actions of the page, by language.
var words = map[string]map[string]string{
	"en": {
		"app": "Berth", "file": "File", "edit": "Edit", "chat": "Chat", "view": "View", "window": "Window", "help": "Help",
		"quit": "Quit Berth", "edit.undo": "Undo", "edit.redo": "Redo", "edit.cut": "Cut", "edit.copy": "Copy",
		"edit.paste": "Paste", "edit.select_all": "Select all", "window.minimise": "Minimise",
		"window.maximise": "Maximise or restore", "window.fullscreen": "Full screen",
		"docs": "Documentation", "report": "Report a fault",
		"busy.title":   "Work goes on",
		"busy.one":     "One chat is at work.",
		"busy.many":    "%d chats are at work.",
		"busy.hide":    "Keep it going in the background? Starting Berth again brings the window back. If you answer No, Berth quits and the work is interrupted; what was done so far is kept.",
		"busy.quit":    "If Berth quits now, the work is interrupted; what was done so far is kept. Quit?",
		"folder.title": "Choose a folder", "save.title": "Save",
	},
	"zh-CN": {
		"app": "Berth", "file": "文件", "edit": "编辑", "chat": "会话", "view": "视图", "window": "窗口", "help": "帮助",
		"quit": "退出 Berth", "edit.undo": "撤销", "edit.redo": "重做", "edit.cut": "剪切", "edit.copy": "复制",
		"edit.paste": "粘贴", "edit.select_all": "全选", "window.minimise": "最小化",
		"window.maximise": "最大化或还原", "window.fullscreen": "全屏",
		"docs": "文档", "report": "报告问题",
		"busy.title":   "仍有工作在进行",
		"busy.one":     "有一个会话正在工作。",
		"busy.many":    "有 %d 个会话正在工作。",
		"busy.hide":    "要让它们在后台继续吗？再次启动 Berth 即可恢复窗口。选择“否”将退出 Berth 并中断工作；已完成的部分会保留。",
		"busy.quit":    "现在退出会中断工作；已完成的部分会保留。要退出吗？",
		"folder.title": "选择文件夹", "save.title": "保存",
	},
}

// menuBar builds the menus out of the table. mac leaves out what the system
// adds itself (quit, the edit verbs, the window menu).
func menuBar(table []byte, lang string, mac bool) ([]submenu, error) {
	var actions []action
	if err := json.Unmarshal(table, &actions); err != nil {
		return nil, fmt.Errorf("read the table of actions: %w", err)
	}
	w := words[lang]
	own := func(ids ...string) []entry {
		list := make([]entry, len(ids))
		for i, id := range ids {
			list[i] = entry{id: id, label: w[id]}
		}
		return list
	}
	before := map[string][]entry{}
	after := map[string][]entry{"help": own("docs", "report")}
	order := []string{"app", "file", "edit", "chat", "view", "help"}
	if !mac {
		before["edit"] = append(own("edit.undo", "edit.redo"), append([]entry{{}}, append(own("edit.cut", "edit.copy", "edit.paste", "edit.select_all"), entry{})...)...)
		after["app"] = append([]entry{{}}, own("quit")...)
		before["window"] = own("window.minimise", "window.maximise", "window.fullscreen")
		order = []string{"app", "file", "edit", "chat", "view", "window", "help"}
	}
	bar := make([]submenu, 0, len(order))
	for _, name := range order {
		m := submenu{title: w[name], entries: before[name]}
		for _, a := range actions {
			if a.Menu == name {
				m.entries = append(m.entries, a.entry(lang, mac))
			}
		}
		m.entries = append(m.entries, after[name]...)
		bar = append(bar, m)
	}
	return bar, nil
}

func (a action) entry(lang string, mac bool) entry {
	e := entry{id: a.ID, label: a.En, keys: a.Keys}
	if lang == "zh-CN" {
		e.label = a.Zh
	}
	if mac && a.Mac != "" {
		e.keys = a.Mac
	}
	return e
}

// keyBetween separates a label from the keys that a menu shows beside it:
// Windows reads it so, and on Linux showKeys does.
const keyBetween = "\t"

// gtkKeys writes keys as gtk_accelerator_parse reads them.
func gtkKeys(keys string) string {
	parts := strings.Split(keys, "+")
	var b strings.Builder
	for _, p := range parts[:len(parts)-1] {
		switch p {
		case "Mod", "Ctrl":
			b.WriteString("<Control>")
		default:
			b.WriteString("<" + p + ">")
		}
	}
	key := strings.TrimPrefix(parts[len(parts)-1], "Arrow")
	if name, ok := gdkNames[key]; ok {
		key = name
	}
	b.WriteString(key)
	return b.String()
}

// gdkNames are GDK's names of keys that are not called by their character.
var gdkNames = map[string]string{
	",": "comma", ".": "period", "\\": "backslash", "`": "grave", "=": "equal", "-": "minus", "?": "question", "/": "slash",
	"PageUp": "Page_Up", "PageDown": "Page_Down", "Enter": "Return",
}
