/** One waits, anyone rings: a ring while nobody waits is not lost. */
export class Bell {
  private rung = false;
  private wake: (() => void) | null = null;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  async wait(): Promise<void> {
    if (!this.rung) await new Promise<void>((resolve) => (this.wake = resolve));
    this.rung = false;
    this.wake = null;
  }
}
