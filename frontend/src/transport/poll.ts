import type { Batch } from "../api/types";
import { Backoff } from "./backoff";
import type { StreamSink, Subscription } from "./transport";

// The backend ends a poll after this long; the window cannot cancel one.
const WAIT_S = 25;

type Fetch = (request: Request) => Promise<Response>;

/**
 * The stream by long poll. A newer poll of this client supersedes the older
 * one, whose answer is then dropped: the cursor was not moved by it, so
 * nothing is lost. Every address is unique, since identical GETs queue behind
 * one another in Chromium.
 */
export class PollSubscription implements Subscription {
  private generation = 0;
  private polls = 0;
  private cursor: string | undefined;
  private chats: string[] = [];
  private closed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly backoff = new Backoff();

  constructor(
    private readonly client: string,
    private readonly fetch: Fetch,
    private readonly sink: StreamSink,
  ) {
    this.again();
  }

  setChats(chats: string[]): void {
    if (chats.join() === this.chats.join()) return;
    this.chats = chats;
    this.again();
  }

  setCursor(cursor: string | undefined): void {
    this.cursor = cursor;
    this.again();
  }

  retryNow(): void {
    if (this.timer !== undefined) this.again();
  }

  close(): void {
    this.closed = true;
    this.generation++;
    clearTimeout(this.timer);
  }

  private again(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.generation++;
    if (!this.closed) void this.run(this.generation);
  }

  private async run(generation: number): Promise<void> {
    while (generation === this.generation) {
      const result = await this.poll();
      if (generation !== this.generation) return;
      if (result === "unauthorised") {
        this.sink.onStatus({ state: "unauthorised" });
        return;
      }
      if (result === "failed") {
        const retry = this.backoff.failed();
        this.sink.onStatus({ state: "reconnecting", ...retry });
        this.timer = setTimeout(() => this.again(), retry.retryAt - Date.now());
        return;
      }
      this.backoff.worked();
      this.cursor = result.next;
      this.sink.onStatus({ state: "online" });
      this.sink.onBatch(result);
    }
  }

  private async poll(): Promise<Batch | "failed" | "unauthorised"> {
    const query = new URLSearchParams({ client: this.client, wait: String(WAIT_S), n: String(++this.polls) });
    if (this.cursor) query.set("after", this.cursor);
    if (this.chats.length > 0) query.set("chats", this.chats.join(","));
    try {
      const response = await this.fetch(new Request(`/api/v1/stream?${query}`));
      if (response.status === 401) return "unauthorised";
      if (!response.ok) return "failed";
      return (await response.json()) as Batch;
    } catch {
      return "failed";
    }
  }
}
