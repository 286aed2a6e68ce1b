import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../../src/base/errors.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { differences, look } from "../../support/truth/compare.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { changedTables } from "./change-load.ts";
import type { ChaosFleet } from "./chaos-fleet.ts";

interface RestOptions {
  readonly fleet: ChaosFleet;
  readonly postgres: Postgres;
  readonly longestRestMs: number;
  readonly onLine?: (line: string) => void;
}

const pauseMs = 500;
const looksPerLine = 20;

/**
 * Waits until nothing is to be done any more, with every node at work: all deliveries are answered, each mirror is as the
 * service has it, and its report is published. Then ends all nodes as a rollout does: they publish and release what they hold.
 *
 * @returns what did not come to rest in time
 */
export async function waitForRest({
  fleet,
  postgres,
  longestRestMs,
  onLine,
}: RestOptions): Promise<string[]> {
  const endMs = performance.now() + longestRestMs;
  for (let looks = 0; undelivered(fleet).length > 0 && performance.now() < endMs; looks++) {
    if (looks % looksPerLine === 0) onLine?.(undelivered(fleet).join());
    await pause(pauseMs);
  }
  let unequal = await differencesOf(fleet, postgres, fleet.names);
  while (unequal.size > 0 && performance.now() < endMs) {
    const [first = ["", ""]] = unequal;
    onLine?.(`${unequal.size} companies are not at rest: ${first.join(": ")}`);
    await pause(pauseMs + 100 * unequal.size);
    unequal = await differencesOf(fleet, postgres, [...unequal.keys()]);
  }
  let behind = await reportsBehind(fleet, postgres);
  while (behind.length > 0 && performance.now() < endMs) {
    onLine?.(`${behind.length} reports are not at rest: ${behind[0]}`);
    await pause(pauseMs);
    behind = await reportsBehind(fleet, postgres);
  }
  for (const node of fleet.nodes) await node.terminate();
  const owned = await postgres.query<{ company: string }>(ownedSql);
  return [
    ...undelivered(fleet),
    ...[...unequal].map(([company, what]) => `${company}: ${what}`),
    ...behind,
    ...owned.map(({ company }) => `${company}: not released, or deliveries are not in a snapshot`),
  ];
}

/** Published reports that lack changes of the mirror: the owner's, or the published one. */
async function reportsBehind({ nodes }: ChaosFleet, postgres: Postgres): Promise<string[]> {
  const rows = await postgres.query<{ company: string; node: string | null; seq: number; shown: number }>(
    `SELECT s.company, o.node, s.seq, (r.files -> ('report/' || s.company || '.report.db') ->> 'seq')::bigint AS shown
     FROM fintoro_mirror.snapshots s JOIN fintoro_mirror.owners o USING (company)
       LEFT JOIN fintoro_mirror.reports r USING (company) ORDER BY company`,
  );
  return rows.flatMap(({ company, node, seq, shown }) => {
    const file = nodes.find(({ options }) => options.name === node)?.mirror(company);
    const newest = file === undefined ? seq : look(file, (db) => db.prepare(newestSql).pluck().get());
    return newest === shown
      ? []
      : [`${company}: its report shows change ${shown}, and there is ${String(newest)}`];
  });
}

const newestSql = "SELECT max(seq) FROM _change_log";

function undelivered({ sandbox }: ChaosFleet): string[] {
  const count = sandbox.control.webhooks.pending();
  return count === 0 ? [] : [`${count} deliveries are not answered`];
}

const ownedSql = `SELECT company FROM fintoro_mirror.owners WHERE node IS NOT NULL
  UNION SELECT company FROM fintoro_mirror.inbox_heads WHERE seq > drained ORDER BY company`;

/** Companies that somebody owns, or that have deliveries which no snapshot has: the others are as they are published. */
const atWorkSql = `SELECT o.company, coalesce(o.node, '') AS node
  FROM fintoro_mirror.owners o LEFT JOIN fintoro_mirror.inbox_heads h ON h.company = o.company
  WHERE o.company = ANY($1) AND (o.node IS NOT NULL OR h.seq > h.drained)`;

/** Companies at work whose mirror is not as the service has it, with the first difference. */
async function differencesOf(
  fleet: ChaosFleet,
  postgres: Postgres,
  companies: readonly string[],
): Promise<Map<string, string>> {
  const rows = await postgres.query<{ company: string; node: string }>(atWorkSql, [companies]);
  const found = rows.map(({ company, node }) => [company, differenceOf(fleet, company, node)] as const);
  return new Map(found.flatMap(([company, what]) => (what === null ? [] : [[company, what]])));
}

function differenceOf({ sandbox, names, nodes }: ChaosFleet, company: string, owner: string): string | null {
  const file = nodes.find(({ options }) => options.name === owner)?.mirror(company);
  if (file === undefined || !existsSync(file)) return "nobody has its mirror";
  const truth = truthOf(sandbox, names.indexOf(company));
  try {
    return look(file, (db) => differences(db, truth, changedTables))[0] ?? null;
  } catch (error) {
    // Its tables are being made, or the file was replaced.
    return messageOf(error);
  }
}
