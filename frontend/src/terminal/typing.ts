import { base64Of } from "./feed";

// The backend takes at most 256 KiB at once.
const MAX_PIECE = 128 * 1024;

/**
 * Sends what is typed in order: what comes while a piece is on its way goes
 * with the next. Nothing is sent twice: a piece that fails is given up, said,
 * and the rest with it.
 */
export class Typing {
  private waiting: Uint8Array[] = [];
  private sending = false;

  constructor(
    private readonly send: (data: string) => Promise<void>,
    private readonly onLost: (error: unknown) => void,
  ) {}

  type(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.waiting.push(bytes);
    if (!this.sending) void this.drain();
  }

  private async drain(): Promise<void> {
    this.sending = true;
    // Keys of one moment go together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      try {
        await this.send(base64Of(this.take()));
      } catch (error) {
        this.waiting = [];
        this.onLost(error);
      }
    }
    this.sending = false;
  }

  /** As much as goes at once. */
  private take(): Uint8Array {
    const all = new Uint8Array(this.waiting.reduce((sum, one) => sum + one.length, 0));
    let at = 0;
    for (const one of this.waiting) {
      all.set(one, at);
      at += one.length;
    }
    this.waiting = all.length > MAX_PIECE ? [all.subarray(MAX_PIECE)] : [];
    return all.subarray(0, MAX_PIECE);
  }
}
