package modelserver

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// reply is an answer of the model in a form common to all protocols.
type reply struct {
	blocks  []block
	refused bool

	status     int // an HTTP error instead of an answer
	message    string
	retryAfter int // seconds, -1 for no header

	cut     bool          // break off in the middle of the text
	silence time.Duration // after the beginning
	pace    time.Duration // between pieces
	piece   int           // runes in a piece of text
	split   bool          // flush byte by byte, so that characters are split
	clock   bool          // each piece is the time at which it is sent
}

// block is one part of an answer: a thought, a text or a call.
type block struct {
	kind blockKind
	text string
	call call
}

type blockKind int

const (
	thoughtBlock blockKind = iota
	textBlock
	callBlock
)

// call is a call of a tool: input is JSON, or plain text for a custom tool.
type call struct {
	id        string
	name      string
	custom    bool
	namespace string
	input     string
}

// calls says whether the reply calls a tool.
func (r *reply) calls() bool {
	for _, b := range r.blocks {
		if b.kind == callBlock {
			return true
		}
	}
	return false
}

// length is that of all text, for the usage figures.
func (r *reply) length() int {
	n := 0
	for _, b := range r.blocks {
		n += len(b.text) + len(b.call.input)
	}
	return n
}

// Texts and sizes of the scenarios.
const (
	pieceRunes   = 16             // like a few tokens
	bigPiece     = 4096           // so that 2 MB need 500 events, not 130,000
	defaultBig   = 2 << 20        // bytes
	defaultQuiet = 60             // seconds
	defaultWords = 50             // of a slow answer
	defaultPace  = 100            // milliseconds between them
	maxBig       = 64 << 20       // bytes: as large as a request may be
	badBytes     = "\uE0FF\uE0FE" // stands for invalid UTF-8 until the bytes are written
	quotedBytes  = 4000           // of each tool result, in the final answer
)

// SplitText is what the split scenario says.
const SplitText = "Zwei Familien 👨‍👩‍👧‍👦👩🏽‍🚀, 你好，世界，한국어, e\u0301 und 🇨🇭."

// InvalidBytes is what the invalid_utf8 scenario puts into its text.
const InvalidBytes = "\xff\xfe"

// next finds the reply to a request: that of a side request, or the step at
// which the conversation stands.
func (s *Server) next(a *ask) *reply {
	if a.side != "" {
		return sideReply(a)
	}
	at := a.prompt()
	steps, err := ParseDirectives(at.text)
	if err != nil {
		return &reply{status: http.StatusBadRequest, message: err.Error(), retryAfter: -1}
	}
	if len(steps) == 0 {
		steps = s.scripted(at.text)
	}
	calls := at.calls
	steps = expand(a, steps)
	for i, step := range steps {
		if step.transportOnly() {
			if s.failsAgain(fmt.Sprintf("%d\x00%s", i, at.text), step.Times) {
				return s.perform(a, step)
			}
			continue
		}
		if n := step.callCount(); n > 0 && calls >= n {
			calls -= n
			continue
		}
		return s.perform(a, step)
	}
	return textReply(finalAnswer(at))
}

func (s *Server) scripted(text string) []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.scripts) - 1; i >= 0; i-- {
		if strings.Contains(text, s.scripts[i].match) {
			return s.scripts[i].steps
		}
	}
	return nil
}

// failsAgain counts a failing step and says whether it fails this time.
func (s *Server) failsAgain(key string, times int) bool {
	if times < 0 {
		return true
	}
	if times == 0 {
		times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[key] >= times {
		return false
	}
	s.failed[key]++
	return true
}

// perform makes the reply of one step.
func (s *Server) perform(a *ask, step Step) *reply {
	r := &reply{retryAfter: -1, piece: pieceRunes}
	if step.Thought != "" {
		r.blocks = append(r.blocks, block{kind: thoughtBlock, text: step.Thought})
	}
	say := func(text string) {
		if step.Text != "" {
			text = step.Text
		}
		r.blocks = append(r.blocks, block{kind: textBlock, text: text})
	}
	switch step.Scenario {
	case scText:
		say("A plain answer.")
	case scThinking:
		if step.Thought == "" {
			r.blocks = append(r.blocks, block{kind: thoughtBlock, text: "First I think about what was asked, then I answer."})
		}
		say("An answer after a thought.")
	case scRefusal:
		r.refused = true
		say("I cannot help with that.")
	case scStatus:
		r.status, r.message = step.Code, "scripted failure"
		if step.RetryAfter != nil {
			r.retryAfter = *step.RetryAfter
		}
	case scCut:
		r.cut = true
		say("This answer breaks off in the middle of a sentence that was meant to be much longer.")
	case scSilence:
		r.silence = time.Duration(orDefault(step.Seconds, defaultQuiet)) * time.Second
		say("An answer after a long silence.")
	case scBig:
		r.piece = bigPiece
		say(BigText(min(orDefault(step.Bytes, defaultBig), maxBig)))
	case scInvalid:
		say("Before " + badBytes + " after.")
	case scSplit:
		r.split, r.piece = true, 1
		say(SplitText)
	case scSlow:
		return slowReply(orDefault(step.Words, defaultWords), orDefault(step.MS, defaultPace))
	case scClock:
		r = slowReply(orDefault(step.Words, defaultWords), orDefault(step.MS, defaultPace))
		r.clock = true
		return r
	default:
		if step.callCount() == 0 {
			return &reply{status: http.StatusBadRequest, message: "no scenario is called " + step.Scenario, retryAfter: -1}
		}
		if step.Text != "" {
			say("")
		}
		s.addCalls(r, a, step)
	}
	return r
}

// addCalls adds the tool calls of a step, or says in the answer why it
// cannot.
func (s *Server) addCalls(r *reply, a *ask, step Step) {
	calls := []Step{step}
	if step.Scenario == scParallel {
		calls = step.Calls
	}
	for _, c := range calls {
		made, err := bind(a, c)
		if err != nil {
			r.blocks = append(r.blocks, block{kind: textBlock, text: "The model server cannot play this: " + err.Error()})
			continue
		}
		made.id = s.id("call_")
		if made.name == loadTool { // first this one, then the step again
			r.blocks = []block{{kind: callBlock, call: made}}
			return
		}
		r.blocks = append(r.blocks, block{kind: callBlock, call: made})
	}
}

func textReply(text string) *reply {
	return &reply{retryAfter: -1, piece: pieceRunes, blocks: []block{{kind: textBlock, text: text}}}
}

func slowReply(words, ms int) *reply {
	var text strings.Builder
	for i := 1; i <= words; i++ {
		fmt.Fprintf(&text, "word%04d ", i) // nine runes: one piece each
	}
	r := textReply(text.String())
	r.piece, r.pace = len("word0001 "), time.Duration(ms)*time.Millisecond
	return r
}

// BigText is what the big scenario says: numbered lines, so that a missing or repeated piece shows.
func BigText(size int) string {
	var text strings.Builder
	text.Grow(size + 80)
	for i := 1; text.Len() < size; i++ {
		fmt.Fprintf(&text, "line %08d of a long answer: the quick brown fox jumps over the lazy dog\n", i)
	}
	return text.String()[:size]
}

// finalAnswer ends a turn: it quotes what the tools said, or the prompt.
func finalAnswer(at place) string {
	if len(at.results) == 0 {
		return "You said: " + at.text
	}
	var text strings.Builder
	text.WriteString("Done.")
	for _, r := range at.results {
		quoted := r.text
		if len(quoted) > quotedBytes {
			quoted = strings.ToValidUTF8(quoted[:quotedBytes], "") + " …"
		}
		text.WriteString(" The tool said: " + quoted)
	}
	return text.String()
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
