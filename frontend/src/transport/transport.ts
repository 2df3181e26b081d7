import type { Batch, Upload } from "../api/types";

/**
 * The one way to the backend. The window and the browser differ in what
 * carries a request (dependencies: the window cannot cancel one, has no
 * WebSocket and must not send files as bodies); nothing above this knows which
 * it is.
 */
export interface Transport {
  readonly kind: "window" | "browser";

  /** `fetch` for the API: same arguments, authorised, JSON or typed arrays only. */
  readonly fetch: (request: Request) => Promise<Response>;

  /** Opens the one stream of live updates of this page. */
  subscribe(sink: StreamSink): Subscription;

  /** Sends a file in slices. */
  upload(file: File, options: UploadOptions): Promise<Upload>;

  /**
   * An address under which an `<img>` can load a file that Berth keeps, good
   * until `release` is called.
   */
  fileUrl(id: string): Promise<{ url: string; release: () => void }>;

  /** Saves a file that Berth keeps where the user says. */
  saveFile(id: string, name: string): Promise<void>;

  /** Opens a link of the web outside Berth. */
  openExternal(url: string): void;

  /** Puts text on the clipboard. */
  copy(text: string): Promise<void>;
}

export type UploadOptions = {
  onProgress?: (sent: number, size: number) => void;
  signal?: AbortSignal;
};

export type StreamSink = {
  onBatch(batch: Batch): void;
  onStatus(status: ConnectionStatus): void;
};

/** What is known of the connection. Times are those of this machine, in ms since the epoch. */
export type ConnectionStatus =
  | { state: "connecting" }
  | { state: "online" }
  /** It broke; `since` is when it last worked, `retryAt` when it is tried again. */
  | { state: "reconnecting"; since: number; attempt: number; retryAt: number }
  /** The backend refused the token: nothing is tried again before a new one is given. */
  | { state: "unauthorised" };

export type Subscription = {
  /** The chats whose items and text are wanted; takes effect at once. */
  setChats(chats: string[]): void;
  /** Continue after this cursor; undefined: from now, with current snapshots. */
  setCursor(cursor: string | undefined): void;
  /** Does not wait for the next attempt. */
  retryNow(): void;
  close(): void;
};
