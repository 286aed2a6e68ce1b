import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import { lastEndedRun, sweptTimes } from "../status/mirror-health.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import { lastWholeRun } from "./scheduler/run-history.ts";
import type { CompanyRuntime } from "./company-runtime.ts";
import type { Settings } from "./company-settings.ts";
import type { EndedRun } from "./runs/run-queue.ts";
import type { Totals } from "./counters.ts";

/** What a station counted since the start. */
export interface Counted {
  readonly totals: Totals;
  readonly runs: Record<string, number>;
  readonly deliveries: Record<string, number>;
  lastRun: EndedRun | null;
}

export interface ViewParts {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly counted: Counted;
  /** How it stands while there is no life. */
  readonly without: CompanyStatusView["service"];
  readonly life: CompanyRuntime | null;
}

/** What cannot be looked at is told as a trouble of this company, and hides no other's. */
export function readCompanyStatus(parts: ViewParts): CompanyStatusView {
  try {
    return viewOf(parts, factsOf(parts));
  } catch (error) {
    const { life, clock } = parts;
    const service = { state: "database", message: messageOf(error), sinceMs: clock.nowMs() } as const;
    return { ...viewOf(parts, factsOf({ ...parts, life: null })), open: life !== null, service };
  }
}

function viewOf(parts: ViewParts, facts: Facts): CompanyStatusView {
  const { settings, counted, without, life } = parts;
  const run = life?.desk.current ?? null;
  const counting = life ? [{ tally: life.tender.tally, stats: life.service.transport.stats() }] : [];
  if (run) counting.push({ tally: run.tally, stats: run.transport.stats() });
  return {
    company: settings.company.name,
    open: life !== null,
    service: life ? life.tender.state() : without,
    run: run ? { mode: run.mode, startedMs: run.startedMs } : null,
    runs: { ...counted.runs },
    ...facts,
    ...counted.totals.with(counting),
    deliveries: { ...counted.deliveries },
    nextRunMs: life?.slots?.after(parts.clock.nowMs()) ?? null,
  };
}

type Facts = Pick<CompanyStatusView, "lastRun" | "wholeRunMs" | "sweptMs" | "events" | "queue" | "budget">;

/** From the files; nothing is known while they are closed. */
function factsOf({ life, manifest, settings, counted }: ViewParts): Facts {
  const names = settings.resources.map(({ name }) => name);
  if (!life)
    return {
      lastRun: counted.lastRun,
      budget: null,
      wholeRunMs: null,
      sweptMs: Object.fromEntries(names.map((name) => [name, null])),
      events: { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null },
      queue: [],
    };
  const inbox = new InboxView(life.mirror.db);
  return {
    lastRun: counted.lastRun ?? lastEndedRun(life.mirror.db),
    budget: life.service.rateLimiter.view(),
    wholeRunMs: lastWholeRun(life.mirror.db, names)?.startedMs ?? null,
    sweptMs: sweptTimes(life.mirror.db, manifest, names),
    events: {
      waiting: inbox.waiting(),
      oldestWaitingMs: epochMs(inbox.oldestWaiting()),
      lastReceivedMs: epochMs(inbox.lastReceived()),
    },
    queue: life.queue.counts(),
  };
}

function epochMs(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}
