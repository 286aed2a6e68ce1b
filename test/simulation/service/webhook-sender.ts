import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { signedHeaders } from "../../support/program/deliveries.ts";

/** Brings one POST to the receiver: the status of its answer, or `lost` where none came back. */
export type Deliver = (headers: Readonly<Record<string, string>>, body: Buffer) => Promise<number | "lost">;

/** Waits before the attempts 2 to 5 (interface document, "Limits"). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
/** Retries come about at these times. */
const jitterShare = 0.1;

/** Sends each event as a signed delivery until it is acknowledged, five times at most, in simulated time. */
export class WebhookSender {
  /** Deliveries that are neither acknowledged nor given up. */
  pending = 0;
  private readonly parts: { clock: Clock; random: Random; secret: () => string; deliver: Deliver };

  constructor(parts: WebhookSender["parts"]) {
    this.parts = parts;
  }

  /** Starts the delivery of an event; the first attempt leaves within half a second. Its body may be no JSON. */
  send(event: SentEvent, body = Buffer.from(JSON.stringify(event))): void {
    this.pending += 1;
    void this.attemptAll(event.id, body, this.parts.random.next() * 500).finally(() => (this.pending -= 1));
  }

  private async attemptAll(id: string, body: Buffer, firstWaitMs: number): Promise<void> {
    const { clock, random, secret, deliver } = this.parts;
    await clock.sleep(firstWaitMs);
    for (const delayMs of [...retryDelaysMs, null]) {
      const answered = await deliver(signedHeaders(id, body, secret(), clock.nowMs()), body);
      const isTaken = answered !== "lost" && answered >= 200 && answered < 300;
      if (isTaken || delayMs === null) return;
      await clock.sleep(delayMs * (1 + jitterShare * (2 * random.next() - 1)));
    }
  }
}
