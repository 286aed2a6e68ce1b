import { Meta } from "../state/meta.ts";
import { DaemonCommands, type DaemonCommand } from "../state/daemon-commands.ts";
import type { Db } from "../store/database.ts";
import type { InboxState } from "../state/inbox/inbox.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import { UptimeLog, type EndedSpan } from "../state/uptime-log.ts";

/** How the way to the service stood when the daemon last wrote it down. */
interface ServiceNote {
  readonly state: string;
  readonly message: string | null;
  /** ISO. */
  readonly since: string;
}

/** What came in from the service by itself, and what became of it. */
export interface EventHealth {
  readonly counts: Partial<Record<InboxState, number>>;
  /** ISO, when the oldest event that still waits for its read came; null: none waits. */
  readonly waitingSince: string | null;
  /** Of those that wait: their read was given up or is held. */
  readonly stuck: number;
  readonly lastReceivedAt: string | null;
  /** Events that nobody knows, by type, the most frequent first. */
  readonly unknownTypes: readonly { readonly type: string | null; readonly count: number }[];
  /** The oldest first. */
  readonly spans: readonly EndedSpan[];
  readonly service: ServiceNote | null;
  /** What other processes have asked of the daemon and is not done yet. */
  readonly orders: readonly Pick<DaemonCommand, "kind" | "askedAt" | "pid" | "state">[];
}

/** Beside the daemon, from one snapshot; also of a mirror that no daemon ever had. */
export function readEvents(db: Db): EventHealth {
  return db.transaction(() => {
    const inbox = new InboxView(db);
    return {
      counts: inbox.counts(),
      waitingSince: inbox.oldestWaiting(),
      stuck: inbox.stuck(),
      lastReceivedAt: inbox.lastReceived(),
      unknownTypes: inbox.unknownTypes(),
      spans: has(db, "_receiver") ? new UptimeLog(db).latest(spansLookedAt) : [],
      service: serviceNote(new Meta(db).get("service")),
      orders: has(db, "_orders") ? openOrders(db) : [],
    };
  })();
}

/** A mirror that an older version wrote last is read as it is. */
function has(db: Db, table: string): boolean {
  const sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  return db.prepare(sql).get(table) !== undefined;
}

/** Most spans that are shown. */
const spansLookedAt = 1_000;

function serviceNote(value: unknown): ServiceNote | null {
  if (typeof value !== "object" || value === null) return null;
  const { state, message, since } = value as { state?: unknown; message?: unknown; since?: unknown };
  if (typeof state !== "string" || typeof since !== "string") return null;
  return { state, message: typeof message === "string" ? message : null, since };
}

function openOrders(db: Db): EventHealth["orders"] {
  return new DaemonCommands(db)
    .open()
    .map(({ kind, askedAt, pid, state }) => ({ kind, askedAt, pid, state }));
}
