type Fetch = (request: Request) => Promise<Response>;

type Entry = { url: Promise<string>; users: number; used: number };

// Pictures that nobody shows now are kept up to this many, so that scrolling
// back does not fetch again.
const IDLE_KEPT = 40;

/**
 * Files as blob addresses: where requests carry a token an `<img>` cannot
 * load them itself. An address lives while somebody uses it.
 */
export class FileUrls {
  private readonly entries = new Map<string, Entry>();
  private clock = 0;

  constructor(private readonly fetch: Fetch) {}

  async get(id: string): Promise<{ url: string; release: () => void }> {
    const entry = this.entries.get(id) ?? { url: this.load(id), users: 0, used: 0 };
    this.entries.set(id, entry);
    entry.users++;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      entry.users--;
      entry.used = ++this.clock;
      this.tidy();
    };
    try {
      return { url: await entry.url, release };
    } catch (error) {
      this.entries.delete(id);
      throw error;
    }
  }

  private async load(id: string): Promise<string> {
    const response = await this.fetch(new Request(`/api/v1/files/${encodeURIComponent(id)}`));
    if (!response.ok) throw new Error(`The file could not be read (${response.status}).`);
    return URL.createObjectURL(await response.blob());
  }

  private tidy(): void {
    const idle = [...this.entries]
      .filter(([, entry]) => entry.users === 0)
      .sort(([, a], [, b]) => a.used - b.used);
    for (const [id, entry] of idle.slice(0, Math.max(0, idle.length - IDLE_KEPT))) {
      this.entries.delete(id);
      void entry.url.then((url) => URL.revokeObjectURL(url)).catch(() => {});
    }
  }
}
