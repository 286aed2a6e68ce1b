import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ScheduleConfig } from "../../config/config.ts";
import { followSchedule } from "./run-on-schedule.ts";
import { parseCronSchedule } from "./cron-schedule.ts";
import type { Mirror } from "../../state/mirror.ts";
import { createErrorGuard } from "../../store/transient-errors.ts";

interface PublishingParts<S> {
  readonly settings: S;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly closed: AbortSignal;
  readonly publish: (settings: S) => Promise<void>;
}

const metaKey = "publish_schedule";

/** Publishes by the config's own pattern, where it has one: each slot once, the last one missed at once. */
export async function followPublishing<S extends { readonly config: { readonly schedule: ScheduleConfig } }>(
  parts: PublishingParts<S>,
): Promise<void> {
  const { settings, mirror, clock, random, log, closed } = parts;
  const { publish: pattern, timezone } = settings.config.schedule;
  if (pattern === null || pattern === "after_sync") return;
  const patiently = createErrorGuard(clock, log);
  await followSchedule({
    slots: parseCronSchedule(pattern, timezone),
    clock,
    random,
    signal: closed,
    taken: () => {
      const noted = mirror.meta.get(metaKey) as { readonly slotMs: number } | null;
      return { slotMs: noted?.slotMs ?? null, wholeRunMs: null };
    },
    run: async (slotMs) => {
      await parts.publish(settings);
      if (!closed.aborted) patiently(() => mirror.apply(() => mirror.meta.set(metaKey, { slotMs })));
    },
  });
}
