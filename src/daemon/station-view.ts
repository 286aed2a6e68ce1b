import type { Clock } from "../base/clock.ts";
import type { Manifest } from "../connector/manifest.ts";
import type { StationView } from "../observe/station-view.ts";
import { lastEndedRun, sweptTimes } from "../sync/health.ts";
import { InboxView } from "../webhook/inbox-view.ts";
import { lastWholeRun } from "./history.ts";
import type { Life } from "./life.ts";
import type { Settings } from "./parts.ts";
import type { EndedRun } from "./run-desk.ts";
import type { Totals } from "./totals.ts";

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
  readonly without: StationView["service"];
  readonly life: Life | null;
}

export function stationView(parts: ViewParts): StationView {
  const { settings, counted, without, life } = parts;
  const run = life?.desk.current ?? null;
  const counting = life ? [{ tally: life.tender.tally, stats: life.service.transport.stats() }] : [];
  if (run) counting.push({ tally: run.tally, stats: run.transport.stats() });
  return {
    company: settings.company.name,
    open: life !== null,
    service: life ? life.tender.state() : without,
    run: run ? { mode: run.mode, startedMs: run.startedMs } : null,
    lastRun: counted.lastRun ?? (life && lastEndedRun(life.mirror.db)),
    runs: { ...counted.runs },
    ...stored(parts),
    budget: life ? life.service.governor.view() : null,
    ...counted.totals.with(counting),
    deliveries: { ...counted.deliveries },
    nextRunMs: life?.slots?.after(parts.clock.nowMs()) ?? null,
  };
}

type Stored = Pick<StationView, "wholeRunMs" | "sweptMs" | "events" | "queue">;

/** From the mirror; nothing is known while it is closed. */
function stored({ life, manifest, settings }: ViewParts): Stored {
  const names = settings.resources.map(({ name }) => name);
  if (!life)
    return {
      wholeRunMs: null,
      sweptMs: Object.fromEntries(names.map((name) => [name, null])),
      events: { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null },
      queue: [],
    };
  const inbox = new InboxView(life.mirror.db);
  return {
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
