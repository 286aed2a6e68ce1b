import { Meta } from "../state/meta.ts";
import { DaemonCommands, type DaemonCommand } from "../state/daemon-commands.ts";
import type { Db } from "../store/database.ts";
import type { InboxState } from "../webhook/ingest/event-evaluation.ts";
import { InboxView } from "../state/inbox-view.ts";

/** A time in which a receiver listened. */
export interface ReceiverSpan {
  readonly startedMs: number;
  /** Its last sign of life. */
  readonly seenMs: number;
  /** How it ended; null: it goes on, or it was killed. */
  readonly ended: string | null;
}

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
  readonly spans: readonly ReceiverSpan[];
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
      stuck: has(db, "_inbox") ? stuckEvents(db) : 0,
      lastReceivedAt: inbox.lastReceived(),
      unknownTypes: has(db, "_inbox") ? unknownTypes(db) : [],
      spans: has(db, "_receiver") ? latestSpans(db) : [],
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

function stuckEvents(db: Db): number {
  const sql = `SELECT count(*) FROM _inbox i JOIN _work w ON w.resource = i.resource AND w.target = i.target
    WHERE i.state = 'waiting' AND w.state <> 'ready'`;
  return Number(db.prepare(sql).pluck().get());
}

function unknownTypes(db: Db): EventHealth["unknownTypes"] {
  const sql = `SELECT type, count(*) AS count FROM _inbox WHERE state = 'unknown'
    GROUP BY type ORDER BY count(*) DESC, type LIMIT 5`;
  return db.prepare(sql).all() as { type: string | null; count: number }[];
}

/** More lives than this nobody looks back on. */
const spansLookedAt = 1_000;

function latestSpans(db: Db): ReceiverSpan[] {
  const sql = `SELECT started_ms AS startedMs, seen_ms AS seenMs, ended FROM _receiver ORDER BY id DESC LIMIT ?`;
  return (db.prepare(sql).all(spansLookedAt) as ReceiverSpan[]).toReversed();
}

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
