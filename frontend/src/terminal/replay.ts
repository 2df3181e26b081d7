// The backend gives at most this much at once: less means that all there was has come.
const PIECE_BYTES = 64 * 1024;

/**
 * Tells output that is shown again from output that is new. Programs ask the
 * screen (what it can do, where the cursor is) and the screen answers as if it
 * typed: an old question must not be answered a second time.
 */
export class Replay {
  private again: boolean;

  constructor(fresh: boolean) {
    this.again = !fresh;
  }

  /** Whether what the screen says now answers something that was answered before. */
  get active(): boolean {
    return this.again;
  }

  /** A piece of this many bytes is on the screen. */
  shown(bytes: number): void {
    if (bytes < PIECE_BYTES) this.again = false;
  }
}
