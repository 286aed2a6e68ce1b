import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zstdDecompressSync } from "node:zlib";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { differences, look, type Db } from "../../support/truth/compare.ts";
import { truthOf, type Truth } from "../../support/truth/truth.ts";
import { changedTables } from "./change-load.ts";
import type { ChaosFleet } from "./chaos-fleet.ts";

/** What was seen of a fleet at rest. */
export interface RestVerdict {
  /** Deliveries. */
  readonly answered: number;
  readonly broken: readonly string[];
}

/** Compares each company's snapshot with the service, and looks for each delivery that was answered with 204. */
export async function judgeRest(fleet: ChaosFleet, postgres: Postgres): Promise<RestVerdict> {
  const broken: string[] = [];
  let answered = 0;
  for (const [i, name] of fleet.names.entries()) {
    const ids = answeredIds(fleet, i);
    answered += ids.length;
    const file = await restoreSnapshot(fleet, postgres, name);
    if (file === null) {
      broken.push(`${name}: there is no snapshot`);
      continue;
    }
    const truth = truthOf(fleet.sandbox, i);
    const published = await publishedChanges(postgres, name);
    const waiting = await waitingIds(postgres, name);
    const found = look(file, (db) => [
      ...judgeSnapshot(db, truth, published),
      ...judgeDeliveries(ids, new Set([...waiting, ...storedIds(db)])),
    ]);
    broken.push(...found.map((what) => `${name}: ${what}`));
  }
  return { answered, broken };
}

/** A change as it was published, and as the mirror has it. */
interface PublishedChange {
  readonly seq: number;
  readonly resource: string;
  readonly record_id: string;
  readonly op: string;
}

const changeColumns = "seq, resource, CAST(record_id AS TEXT) AS record_id, op";

/** What a snapshot does not have as the service has it, and where the published changes are not its own. */
function judgeSnapshot(db: Db, truth: Truth, published: readonly PublishedChange[]): string[] {
  const sql = `SELECT ${changeColumns} FROM _change_log ORDER BY seq`;
  const own = (db.prepare(sql).all() as PublishedChange[]).map(changeText);
  const shown = published.map(changeText);
  const wrong = own.findIndex((text, i) => text !== shown[i]);
  const unequal = wrong >= 0 || own.length !== shown.length;
  return [
    ...differences(db, truth, changedTables),
    ...(unequal ? [`its ${own.length} changes are published as ${shown.length}, first ${own[wrong]}`] : []),
  ];
}

function changeText({ seq, op, resource, record_id }: PublishedChange): string {
  return `${seq} ${op} ${resource} ${record_id}`;
}

/** Deliveries that were answered with 204 and are nowhere. */
export function judgeDeliveries(answered: readonly string[], kept: ReadonlySet<string>): string[] {
  const lost = answered.filter((id) => !kept.has(id));
  return lost.map((id) => `delivery ${id} was answered with 204 and is in no inbox`);
}

function answeredIds({ sandbox }: ChaosFleet, company: number): string[] {
  const attempts = sandbox.control.webhooks.history(undefined, company);
  return attempts.filter(({ status }) => status === 204).map(({ eventId }) => eventId);
}

/** The file of the published snapshot, made from what the nodes share; null where there is none. */
async function restoreSnapshot(
  { snapshots, folder }: ChaosFleet,
  postgres: Postgres,
  company: string,
): Promise<string | null> {
  const [pointer] = await postgres.query<{ epoch: number; id: string }>(
    "SELECT epoch, id FROM fintoro_mirror.snapshots WHERE company = $1",
    [company],
  );
  if (!pointer) return null;
  const stored = path.join(snapshots, company, `e${pointer.epoch}`, `${pointer.id}.db.zst`);
  const file = path.join(folder, `${company}.db`);
  writeFileSync(file, zstdDecompressSync(readFileSync(stored)));
  return file;
}

function publishedChanges(postgres: Postgres, company: string): Promise<PublishedChange[]> {
  const sql = `SELECT ${changeColumns} FROM fintoro_mirror.changes WHERE company = $1 ORDER BY seq`;
  return postgres.query<PublishedChange>(sql, [company]);
}

async function waitingIds(postgres: Postgres, company: string): Promise<string[]> {
  const sql = "SELECT event_id FROM fintoro_mirror.inbox WHERE company = $1";
  const rows = await postgres.query<{ event_id: string }>(sql, [company]);
  return rows.map(({ event_id: id }) => id);
}

function storedIds(db: Db): string[] {
  return db.prepare("SELECT event_id FROM _inbox").pluck().all() as string[];
}
