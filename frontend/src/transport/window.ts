import { forbidBlobBodies } from "./blobguard";
import { nativeWindow } from "./native";
import { PollSubscription } from "./poll";
import type { StreamSink, Subscription, Transport, UploadOptions } from "./transport";
import { uploadFile } from "./upload";

/** Berth's own window: requests are served in process, so no token and no socket. */
export class WindowTransport implements Transport {
  readonly kind = "window";

  constructor(private readonly client: string) {
    forbidBlobBodies(globalThis);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    if (request.method === "GET" || request.method === "HEAD") return fetch(request);
    // Sent as octets: how a Request's own body is carried to the scheme handler differs between engines.
    const body = await request.arrayBuffer();
    const { method, headers } = request;
    return fetch(request.url, { method, headers, ...(body.byteLength > 0 ? { body } : {}) });
  };

  subscribe(sink: StreamSink): Subscription {
    return new PollSubscription(this.client, this.fetch, sink);
  }

  upload(file: File, options: UploadOptions) {
    return uploadFile(this.fetch, file, options);
  }

  fileUrl(id: string) {
    return Promise.resolve({ url: `/api/v1/files/${encodeURIComponent(id)}`, release: () => {} });
  }

  async saveFile(id: string, name: string): Promise<void> {
    await nativeWindow.save(`/api/v1/files/${encodeURIComponent(id)}`, name);
  }

  openExternal(url: string): void {
    void nativeWindow.openUrl(url);
  }

  async copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text);
  }
}
