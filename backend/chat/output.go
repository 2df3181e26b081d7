package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// Bounds of what an item holds; beyond them bytes go to a file or are
// shortened with their true size told.
const (
	// shownOutput is how much of a tool's output stands in its item: its
	// beginning and its end, in bytes.
	shownOutput = 16 << 10
	// liveOutput is the tail shown while a tool runs, in bytes.
	liveOutput = 4 << 10
	// keptOutput is how much output is kept at all, in bytes.
	keptOutput = 8 << 20
	// maxInput is the size of a tool's input in its item, in bytes.
	maxInput = 64 << 10
	// maxPatch is the size of one file's patch in its item, in bytes.
	maxPatch = 256 << 10
	// maxDetail is the length of a machine's own line, in characters.
	maxDetail = 2000
	// maxImage is the size of a picture an agent shows, in bytes.
	maxImage = 32 << 20
	// maxImages is how many pictures one item keeps.
	maxImages = 32
)

// output gathers a tool's output: whole up to keptOutput, and the tail beyond.
type output struct {
	kept  []byte
	tail  []byte
	total int64
}

func (a *actor) output(key string) *output {
	out := a.agent.outputs[key]
	if out == nil {
		out = new(output)
		a.agent.outputs[key] = out
	}
	return out
}

func (o *output) write(s string) {
	o.total += int64(len(s))
	if room := keptOutput - len(o.kept); room > 0 {
		n := min(room, len(s))
		o.kept = append(o.kept, s[:n]...)
	}
	if len(s) > shownOutput {
		s = s[len(s)-shownOutput:]
	}
	o.tail = append(o.tail, s...)
	if len(o.tail) > 2*shownOutput {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-shownOutput:]...)
	}
}

func (o *output) replace(s string) {
	*o = output{}
	o.write(s)
}

// shown is what stands in the item: all of it, or the tail while it runs, or
// beginning and end.
func (o *output) shown(ended bool) string {
	if !ended {
		return validEnd(o.tail, liveOutput)
	}
	if o.total <= shownOutput {
		return string(o.kept)
	}
	const part = shownOutput / 2
	end := validEnd(o.tail, part)
	head := strings.ToValidUTF8(string(o.kept[:part]), "")
	return fmt.Sprintf("%s\n\n[… %d bytes …]\n\n%s", head, o.total-int64(len(head)+len(end)), end)
}

// validEnd is the last n bytes of b, from a whole character on.
func validEnd(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
		for len(b) > 0 && !utf8.RuneStart(b[0]) {
			b = b[1:]
		}
	}
	return string(b)
}

// keepOutput puts output that is too long for its item into a file.
func (a *actor) keepOutput(o *output) string {
	f, err := a.s.files.Put(a.s.ctx, a.chat.id, "output", "output.txt", "text/plain; charset=utf-8", bytes.NewReader(o.kept))
	if err != nil {
		a.s.logger.Error("keep a tool's output", "chat", a.chat.id, "err", err)
		return ""
	}
	return f.ID
}

// keepImage keeps a picture and names it in the item.
func (a *actor) keepImage(en *event.Entry, image provider.Image) {
	if tool := en.Body.Tool; tool != nil && len(tool.Images) >= maxImages {
		return
	}
	var r io.Reader = bytes.NewReader(image.Data)
	if image.Path != "" {
		f, err := os.Open(image.Path)
		if err != nil {
			a.s.logger.Warn("open a picture of the agent", "chat", a.chat.id, "err", err)
			return
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxImage {
			a.s.logger.Warn("a picture of the agent is not a file of a fitting size", "chat", a.chat.id)
			return
		}
		r = io.LimitReader(f, maxImage)
	}
	kept, err := a.s.files.Put(a.s.ctx, a.chat.id, "image", image.Name, image.Type, r)
	if err != nil {
		a.s.logger.Error("keep a picture of the agent", "chat", a.chat.id, "err", err)
		return
	}
	switch {
	case en.Kind == event.Artifact:
		en.Body.Artifact = &kept
	case en.Body.Tool != nil:
		en.Body.Tool.Images = append(en.Body.Tool.Images, kept)
	}
}

// boundBody shortens what is too large for an item.
func boundBody(b *event.Body) {
	if b.Tool != nil {
		b.Tool.Input = boundInput(b.Tool.Input)
		b.Tool.Title = beginning(b.Tool.Title, maxDetail)
		b.Tool.Error = beginning(b.Tool.Error, maxDetail)
		b.Tool.Files = boundPatches(b.Tool.Files)
	}
	if b.Request != nil {
		b.Request.Input = boundInput(b.Request.Input)
		b.Request.Files = boundPatches(b.Request.Files)
	}
	b.Files = boundPatches(b.Files)
	if len(b.Ext) > maxInput {
		b.Ext = boundInput(b.Ext)
	}
}

// boundText gives as much of text as an item may have behind the bytes it
// has; that something is left out is told once.
func (a *actor) boundText(key string, has int, text string) string {
	if a.agent.full[key] && has > 0 {
		return ""
	}
	room := a.s.bounds.MaxText - has
	if len(text) <= room {
		return text
	}
	if !a.agent.full[key] {
		a.agent.full[key] = true
		_ = a.write("tell of a text that is too long", func(tx *store.Tx) error {
			return a.s.log.Put(tx, a.notice(a.turn, "text_cut", "warning", fmt.Sprintf("The agent wrote more than %d bytes in one piece. The rest is not kept.", a.s.bounds.MaxText), "", ""))
		})
	}
	for room > 0 && !utf8.RuneStart(text[room]) {
		room--
	}
	return text[:room]
}

func boundInput(in json.RawMessage) json.RawMessage {
	if len(in) <= maxInput {
		return in
	}
	short, err := json.Marshal(map[string]any{"shortened": true, "bytes": len(in), "beginning": strings.ToValidUTF8(string(in[:maxInput/4]), "")})
	if err != nil {
		return nil
	}
	return short
}

func boundPatches(files []event.FileDiff) []event.FileDiff {
	var bounded []event.FileDiff
	for i, f := range files {
		if len(f.Patch) <= maxPatch {
			continue
		}
		if bounded == nil {
			bounded = append([]event.FileDiff{}, files...)
		}
		bounded[i].Patch, bounded[i].Omitted = "", "too_large"
	}
	if bounded == nil {
		return files
	}
	return bounded
}

// lastLine is the last line of a process's stderr that says something.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return beginning(strings.TrimSpace(lines[len(lines)-1]), maxDetail)
}
