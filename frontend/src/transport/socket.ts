import type { Batch } from "../api/types";
import { Backoff } from "./backoff";
import type { StreamSink, Subscription } from "./transport";

// The backend sends at least a heartbeat every 20 s: after twice that and a
// little, nothing is on the other side (a laptop that slept, a dead tunnel).
const SILENCE_MS = 45_000;
// A socket that never opens where requests work is blocked on the way.
const FAILED_OPENINGS = 3;

type Options = {
  client: string;
  sink: StreamSink;
  /** A single-use ticket; undefined when the token was refused. */
  ticket: () => Promise<string | undefined>;
  /** Sockets do not get through: another way is needed. */
  onBlocked: () => void;
};

/** The stream by WebSocket. Each frame is a batch; the page says which chats it follows. */
export class SocketSubscription implements Subscription {
  private socket: WebSocket | undefined;
  private cursor: string | undefined;
  private chats: string[] = [];
  private closed = false;
  private opened = false;
  private failedOpenings = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private readonly backoff = new Backoff();
  private readonly wake = () => this.retryNow();

  constructor(private readonly options: Options) {
    window.addEventListener("online", this.wake);
    document.addEventListener("visibilitychange", this.wake);
    void this.connect();
  }

  setChats(chats: string[]): void {
    if (chats.join() === this.chats.join()) return;
    this.chats = chats;
    if (this.opened) this.socket?.send(JSON.stringify({ chats }));
  }

  setCursor(cursor: string | undefined): void {
    this.cursor = cursor;
    this.drop();
    void this.connect();
  }

  retryNow(): void {
    if (this.timer === undefined) return;
    this.drop();
    void this.connect();
  }

  close(): void {
    this.closed = true;
    window.removeEventListener("online", this.wake);
    document.removeEventListener("visibilitychange", this.wake);
    this.drop();
  }

  /** Forgets the present socket without being told of its end. */
  private drop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    this.timer = undefined;
    this.opened = false;
    const socket = this.socket;
    this.socket = undefined;
    socket?.close();
  }

  private async connect(): Promise<void> {
    let ticket: string | undefined;
    try {
      ticket = await this.options.ticket();
    } catch {
      this.broken();
      return;
    }
    if (this.closed || this.socket) return;
    if (!ticket) {
      this.options.sink.onStatus({ state: "unauthorised" });
      return;
    }
    const followed = this.chats;
    const socket = new WebSocket(this.address(), ["berth.v1", `berth.ticket.${ticket}`]);
    this.socket = socket;
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.opened = true;
      this.failedOpenings = 0;
      if (followed !== this.chats) socket.send(JSON.stringify({ chats: this.chats }));
      this.heard();
      this.options.sink.onStatus({ state: "online" });
    };
    socket.onmessage = (message) => {
      if (socket !== this.socket) return;
      this.heard();
      const batch = JSON.parse(String(message.data)) as Batch;
      this.cursor = batch.next;
      this.options.sink.onBatch(batch);
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      if (!this.opened && ++this.failedOpenings >= FAILED_OPENINGS) {
        this.close();
        this.options.onBlocked();
        return;
      }
      this.broken();
    };
  }

  private address(): string {
    const query = new URLSearchParams({ client: this.options.client });
    if (this.cursor) query.set("after", this.cursor);
    if (this.chats.length > 0) query.set("chats", this.chats.join(","));
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    return `${scheme}//${location.host}/api/v1/stream/ws?${query}`;
  }

  private heard(): void {
    this.backoff.worked();
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.broken(), SILENCE_MS);
  }

  private broken(): void {
    this.drop();
    if (this.closed) return;
    const retry = this.backoff.failed();
    this.options.sink.onStatus({ state: "reconnecting", ...retry });
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.connect();
    }, retry.retryAt - Date.now());
  }
}
