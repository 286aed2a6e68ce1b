/** One waits, anyone rings: a ring while nobody waits is not lost. */
export class Notifier {
  private rung = false;
  private wake: (() => void) | null = null;

  notify(): void {
    this.rung = true;
    this.wake?.();
  }

  async wait(): Promise<void> {
    if (!this.rung) await new Promise<void>((resolve) => (this.wake = resolve));
    this.rung = false;
    this.wake = null;
  }
}
