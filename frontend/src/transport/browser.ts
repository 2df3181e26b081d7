import type { components } from "../api/schema";
import { FileUrls } from "./files";
import { PollSubscription } from "./poll";
import { SocketSubscription } from "./socket";
import type { StreamSink, Subscription, Transport, UploadOptions } from "./transport";
import { uploadFile } from "./upload";

const TOKEN = "berth.token";

/** The owner's token, kept for this tab only (CONTRACTS, Tokens). */
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? undefined,
  set: (value: string) => sessionStorage.setItem(TOKEN, value),
  forget: () => sessionStorage.removeItem(TOKEN),
};

/** A page in a browser: requests carry the token, the stream is a WebSocket. */
export class BrowserTransport implements Transport {
  readonly kind = "browser";
  private readonly files = new FileUrls((request) => this.fetch(request));

  constructor(private readonly client: string) {}

  readonly fetch = (request: Request): Promise<Response> => {
    const headers = new Headers(request.headers);
    const held = token.get();
    if (held) headers.set("authorization", `Bearer ${held}`);
    return fetch(new Request(request, { headers, cache: "no-store" }));
  };

  subscribe(sink: StreamSink): Subscription {
    return new BrowserSubscription(this.client, this.fetch, sink);
  }

  upload(file: File, options: UploadOptions) {
    return uploadFile(this.fetch, file, options);
  }

  fileUrl(id: string) {
    return this.files.get(id);
  }

  async saveFile(id: string, name: string): Promise<void> {
    const { url, release } = await this.files.get(id);
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    release();
  }

  openExternal(url: string): void {
    window.open(url, "_blank", "noopener,noreferrer");
  }

  async copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text);
  }
}

/** Sockets first; long polls where sockets do not get through. */
class BrowserSubscription implements Subscription {
  private inner: Subscription;
  private chats: string[] = [];
  private cursor: string | undefined;

  constructor(client: string, fetch: (request: Request) => Promise<Response>, sink: StreamSink) {
    const remember: StreamSink = {
      onStatus: (status) => sink.onStatus(status),
      onBatch: (batch) => {
        this.cursor = batch.next;
        sink.onBatch(batch);
      },
    };
    this.inner = new SocketSubscription({
      client,
      sink: remember,
      ticket: async () => {
        const response = await fetch(new Request("/api/v1/stream/tickets", { method: "POST" }));
        if (response.status === 401) return undefined;
        if (!response.ok) throw new Error(`No ticket (${response.status}).`);
        return ((await response.json()) as components["schemas"]["TicketReply"]).ticket;
      },
      onBlocked: () => {
        this.inner = new PollSubscription(client, fetch, remember);
        this.inner.setChats(this.chats);
        this.inner.setCursor(this.cursor);
      },
    });
  }

  setChats(chats: string[]): void {
    this.chats = chats;
    this.inner.setChats(chats);
  }

  setCursor(cursor: string | undefined): void {
    this.cursor = cursor;
    this.inner.setCursor(cursor);
  }

  retryNow(): void {
    this.inner.retryNow();
  }

  close(): void {
    this.inner.close();
  }
}
