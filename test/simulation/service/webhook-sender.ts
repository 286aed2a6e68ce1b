import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { signedHeaders } from "../../support/program/deliveries.ts";

/** Waits before the attempts 2 to 5 (interface document, "Limits"). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
/** Retries come about at these times. */
const jitterShare = 0.1;

interface SenderParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly secret: string;
  /** Brings one POST to the receiver: the status of its answer, or `lost` where none came back. */
  readonly deliver: (headers: Readonly<Record<string, string>>, body: Buffer) => Promise<number | "lost">;
}

/** Sends each event as a signed delivery until it is acknowledged, five times at most, in simulated time. */
export function webhookSender({ clock, random, secret, deliver }: SenderParts) {
  let pending = 0;
  const attemptAll = async (id: string, body: Buffer, firstWaitMs: number) => {
    await clock.sleep(firstWaitMs);
    for (const delayMs of [...retryDelaysMs, null]) {
      const answered = await deliver(signedHeaders(id, body, secret, clock.nowMs()), body);
      const isTaken = answered !== "lost" && answered >= 200 && answered < 300;
      if (isTaken || delayMs === null) return;
      await clock.sleep(delayMs * (1 + jitterShare * (2 * random.next() - 1)));
    }
  };
  return {
    /** Deliveries that are neither acknowledged nor given up. */
    pending: () => pending,
    /** Starts the delivery of an event; the first attempt leaves within half a second. Its body may be no JSON. */
    send: (event: SentEvent, body = Buffer.from(JSON.stringify(event))): void => {
      pending += 1;
      void attemptAll(event.id, body, random.next() * 500).finally(() => (pending -= 1));
    },
  };
}
