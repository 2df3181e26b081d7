// The first attempt comes at once; then these, with a fifth of chance so
// that many pages do not come back in step.
const DELAYS_MS = [250, 1_000, 2_000, 4_000, 8_000, 15_000];
const SPREAD = 0.2;

/** When to try again after a break, and since when it lasts. */
export class Backoff {
  private attempt = 0;
  private since = Date.now();

  worked(): void {
    this.attempt = 0;
    this.since = Date.now();
  }

  failed(): { since: number; attempt: number; retryAt: number } {
    const delay = DELAYS_MS[Math.min(this.attempt, DELAYS_MS.length - 1)] ?? 0;
    this.attempt++;
    const spread = 1 + SPREAD * (2 * Math.random() - 1);
    return { since: this.since, attempt: this.attempt, retryAt: Date.now() + delay * spread };
  }
}
