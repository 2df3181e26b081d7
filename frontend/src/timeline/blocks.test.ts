import { parseMarkdownIntoBlocks } from "streamdown";
import { describe, expect, it, vi } from "vitest";
import { makeBlockSplitter } from "./blocks";

const SAMPLE = `# Title

A paragraph with \`code\`, **bold** and a [link](https://example.org).

- one
- two

  a second paragraph of two

1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

\`\`\`go
func main() {

	fmt.Println("x")
}
\`\`\`

> quote
> goes on

$$
x^2
$$

<details>
<summary>More</summary>

inside

</details>

Last words, 中文和 👍.
`;

/** The text in steps of `size`, as a stream brings it. */
function stream(text: string, size: number): string[] {
  const steps = [];
  for (let end = size; end < text.length + size; end += size) steps.push(text.slice(0, end));
  return steps;
}

describe("the block splitter", () => {
  it.each([1, 3, 17, 80])("gives what the whole parse gives, at every step of %i", (size) => {
    const split = makeBlockSplitter();
    for (const text of stream(SAMPLE, size)) {
      expect(split(text).join(""), `after ${text.length}`).toBe(parseMarkdownIntoBlocks(text).join(""));
    }
    expect(split(SAMPLE)).toEqual(parseMarkdownIntoBlocks(SAMPLE));
  });

  it("reads only the end again", () => {
    const parse = vi.fn(parseMarkdownIntoBlocks);
    const split = makeBlockSplitter(parse);
    const paragraphs = Array.from({ length: 200 }, (_, n) => `Paragraph ${n} with some words in it.\n\n`);
    let text = "";
    for (const paragraph of paragraphs) split((text += paragraph));
    const longest = Math.max(...parse.mock.calls.map(([part]) => part.length));
    expect(longest).toBeLessThan(400);
    expect(split(text)).toHaveLength(parseMarkdownIntoBlocks(text).length);
  });

  it("keeps finished blocks as the same strings", () => {
    const split = makeBlockSplitter();
    const first = split(SAMPLE.slice(0, 300));
    const second = split(SAMPLE.slice(0, 400));
    expect(second[0]).toBe(first[0]);
  });

  it("starts afresh when the text is another", () => {
    const split = makeBlockSplitter();
    split(SAMPLE);
    expect(split("Other text.")).toEqual(["Other text."]);
    expect(split("")).toEqual(parseMarkdownIntoBlocks(""));
  });

  it("keeps footnotes whole", () => {
    const text = "See[^1].\n\nMore.\n\nMore.\n\nMore.\n\n[^1]: There.\n";
    const split = makeBlockSplitter();
    for (const step of stream(text, 5)) split(step);
    expect(split(text)).toEqual(parseMarkdownIntoBlocks(text));
  });

  it("survives an unclosed fence", () => {
    const text = "Before.\n\n```ts\nconst a = 1;\n\n\nconst b = 2;";
    const split = makeBlockSplitter();
    for (const step of stream(text, 4)) split(step);
    expect(split(text).at(-1)).toContain("const b = 2;");
    expect(split(text).join("")).toBe(text);
  });
});
