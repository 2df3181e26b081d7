import { describe, expect, it, vi } from "vitest";
import { forbidBlobBodies } from "./blobguard";
import { PIECE_BYTES, uploadFile } from "./upload";

/** The backend's side of an upload, as its contract says. */
function backend(size: number, faults: (number | "gone")[] = []) {
  const received: Uint8Array[] = [];
  let length = 0;
  const state = () => ({
    id: "file_1",
    name: "a.bin",
    type: "",
    size,
    received: length,
    complete: length >= size,
  });
  const offsets: number[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method !== "PUT") return new Response(JSON.stringify(state()));
    const offset = Number(new URL(request.url, "http://localhost").searchParams.get("offset"));
    offsets.push(offset);
    const fault = faults.shift();
    if (fault === "gone") throw new TypeError("network");
    if (fault !== undefined) return new Response(JSON.stringify({ detail: "no" }), { status: fault });
    if (offset !== length) return new Response(JSON.stringify({ detail: "conflict" }), { status: 409 });
    const piece = new Uint8Array(await request.arrayBuffer());
    received.push(piece);
    length += piece.length;
    return new Response(JSON.stringify(state()));
  };
  return { fetch, offsets, length: () => length };
}

const file = (size: number) => new File([new Uint8Array(size)], "a.bin");

describe("an upload", () => {
  it("goes in pieces, and tells how far it is", async () => {
    const size = 2 * PIECE_BYTES + 10;
    const server = backend(size);
    const progress: number[] = [];
    await uploadFile(server.fetch, file(size), { onProgress: (sent) => progress.push(sent) });
    expect(server.offsets).toEqual([0, PIECE_BYTES, 2 * PIECE_BYTES]);
    expect(progress.at(-1)).toBe(size);
  });

  it("goes on where the backend is after a break", async () => {
    const server = backend(PIECE_BYTES + 5, ["gone", 503]);
    await uploadFile(server.fetch, file(PIECE_BYTES + 5), {});
    expect(server.length()).toBe(PIECE_BYTES + 5);
  });

  it("is given up when it is refused", async () => {
    const server = backend(10, [413]);
    await expect(uploadFile(server.fetch, file(10), {})).rejects.toThrow("no");
    expect(server.offsets).toEqual([0]);
  });

  it("stops when it is cancelled", async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(uploadFile(backend(10).fetch, file(10), { signal: abort.signal })).rejects.toThrow();
  });
});

describe("in the window", () => {
  const scope = () => {
    const inner = vi.fn(() => Promise.resolve(new Response()));
    class Xhr {
      send = () => {};
    }
    const fake = { fetch: inner, Request, XMLHttpRequest: Xhr, navigator: { sendBeacon: () => true } };
    forbidBlobBodies(fake as unknown as typeof globalThis);
    return { fake, inner };
  };

  it.each([
    ["a blob", () => new Blob(["x"])],
    ["a file", () => new File(["x"], "x")],
    [
      "a form with a file",
      () => {
        const form = new FormData();
        form.set("f", new File(["x"], "x"));
        return form;
      },
    ],
  ])("%s is refused as a body", async (_, body) => {
    const { fake, inner } = scope();
    await expect(
      (fake.fetch as unknown as typeof fetch)("/x", { method: "POST", body: body() }),
    ).rejects.toThrow("Transport.upload");
    expect(() => new fake.Request("http://localhost/x", { method: "POST", body: body() })).toThrow(
      "Transport.upload",
    );
    expect(inner).not.toHaveBeenCalled();
  });

  it("text and octets go through", async () => {
    const { fake, inner } = scope();
    await (fake.fetch as unknown as typeof fetch)("/x", { method: "POST", body: "text" });
    await (fake.fetch as unknown as typeof fetch)("/x", { method: "POST", body: new ArrayBuffer(3) });
    expect(inner).toHaveBeenCalledTimes(2);
  });
});
