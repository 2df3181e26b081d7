import type { components } from "../api/schema";

export type Output = components["schemas"]["TerminalOutput"];

/** What becomes known of a terminal while its output is followed. */
export type FeedState = "following" | "reconnecting" | "ended" | "gone";

export type FeedOptions = {
  /** Asks for output from a position on; waits for more where there is none. */
  read: (after: number) => Promise<Output>;
  /** Shows bytes; the next are asked for when it is done, so that a fast program cannot pile them up. */
  write: (bytes: Uint8Array) => Promise<void>;
  /** Bytes before this place are not kept any more: what was shown does not join what comes. */
  onGap: () => void;
  onState: (state: FeedState) => void;
  /** Whether an error means that there is no such terminal (any more). */
  isGone: (error: unknown) => boolean;
  wait: (ms: number) => Promise<void>;
};

// After a failed reading; the last is repeated.
const RETRY_MS = [250, 1_000, 2_000, 5_000];

/**
 * Follows a terminal's output by its positions: each byte is shown once and in
 * order, and a break goes on where it was. A break in what the backend keeps
 * is told.
 */
export class Feed {
  private stopped = false;

  constructor(private readonly options: FeedOptions) {}

  stop(): void {
    this.stopped = true;
  }

  async run(): Promise<void> {
    const { options } = this;
    let after = 0;
    let failures = 0;
    while (!this.stopped) {
      let output: Output;
      try {
        output = await options.read(after);
      } catch (error) {
        if (this.stopped) return;
        if (options.isGone(error)) return options.onState("gone");
        options.onState("reconnecting");
        await options.wait(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 0);
        continue;
      }
      if (this.stopped) return;
      failures = 0;
      options.onState("following");
      if (output.after > after) options.onGap();
      if (output.data !== "") await options.write(bytesOf(output.data));
      after = output.next;
      if (output.ended && output.data === "") return options.onState("ended");
    }
  }
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

export function base64Of(bytes: Uint8Array): string {
  // In pieces: a call takes only so many arguments.
  const PIECE = 8_192;
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
