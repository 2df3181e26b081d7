import type { Problem, Upload } from "../api/types";
import type { UploadOptions } from "./transport";

// Small enough that progress is visible and a break costs little.
export const PIECE_BYTES = 1 << 20;
// A piece that fails this often in a row is given up.
const TRIES = 4;
const PAUSE_MS = 500;

type Fetch = (request: Request) => Promise<Response>;

async function read(response: Response): Promise<Upload> {
  if (response.ok) return (await response.json()) as Upload;
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  throw new UploadRefused(response.status, problem?.detail ?? `HTTP ${response.status}`);
}

/** The backend said no; sending the same again would not help. */
export class UploadRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Sends a file in slices, as array buffers: a Blob or File as a request body
 * ends the Linux window. After a break it goes on where the backend says.
 */
export async function uploadFile(
  fetch: Fetch,
  file: File,
  { onProgress, signal }: UploadOptions,
): Promise<Upload> {
  const json = { method: "POST", headers: { "content-type": "application/json" } };
  const announced = { name: file.name || "file", size: file.size, ...(file.type ? { type: file.type } : {}) };
  let upload = await read(
    await fetch(new Request("/api/v1/uploads", { ...json, body: JSON.stringify(announced) })),
  );
  const address = `/api/v1/uploads/${encodeURIComponent(upload.id)}`;
  let failures = 0;
  while (!upload.complete) {
    signal?.throwIfAborted();
    const offset = upload.received;
    try {
      const piece = await file.slice(offset, offset + PIECE_BYTES).arrayBuffer();
      const request = new Request(`${address}?offset=${offset}`, {
        method: "PUT",
        headers: { "content-type": "application/octet-stream" },
        body: piece,
      });
      upload = await read(await fetch(request));
      failures = 0;
      onProgress?.(upload.received, file.size);
    } catch (error) {
      const final = error instanceof UploadRefused && error.status !== 409 && error.status < 500;
      if (final || ++failures >= TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * failures));
      signal?.throwIfAborted();
      upload = await read(await fetch(new Request(address))).catch(() => upload);
    }
  }
  return upload;
}
