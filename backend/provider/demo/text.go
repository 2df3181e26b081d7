package demo

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
)

// tourAnswer has each thing that an answer can hold.
const tourAnswer = `## What you have just seen

| entry | where it comes from |
|---|---|
| plan | the agent's own list of steps |
| thought | what the model considers before it acts |
| edit | a change of a file, with the permission it needed |
| command | a process of its own, with live output |
| question | a form that waits for you |

Code is coloured and can be copied:

` + "```go" + `
// Fibonacci gives the n-th number of the sequence.
func Fibonacci(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
` + "```" + `

A formula, in its own line:

$$
F_n = \frac{\varphi^n - (1-\varphi)^n}{\sqrt 5}, \qquad \varphi = \frac{1 + \sqrt 5}{2}
$$

And a diagram:

` + "```mermaid" + `
flowchart LR
  you[You] -->|message| berth[Berth]
  berth -->|prompt| agent[Agent]
  agent -->|asks| berth
  berth -->|waits for| you
` + "```" + `

> Nothing of this needed an account or a network.

Try ` + "`/slow 20`" + ` and stop it, or ` + "`/crash`" + ` and write again.
`

// paragraph is one of a long answer's, about 1 KB, different for each number.
func paragraph(n int) string {
	text := fmt.Sprintf("\n### Part %d\n\n", n)
	for i := range 8 {
		text += fmt.Sprintf("Sentence %d of part %d says nothing, but says it at the length of a usual line, with **weight** and `code`.\n", i+1, n)
	}
	return text
}

// draw paints a small picture: rising bars.
func draw(w io.Writer) error {
	const width, height, bars = 320, 200, 8
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			shade := color.RGBA{0xf6, 0xf7, 0xf9, 0xff}
			bar := x * bars / width
			if inset := x*bars%width > width/5; inset && height-y < 16+bar*22 {
				shade = color.RGBA{uint8(0x1f + bar*16), 0x6f, uint8(0xd0 - bar*8), 0xff}
			}
			picture.Set(x, y, shade)
		}
	}
	return png.Encode(w, picture)
}
