import {
  differences,
  falseTombstones,
  look,
  provisionalMistakes,
  unreplayable,
  type Db,
} from "../support/truth/compare.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import type { Company } from "../support/company/open-company.ts";
import { documentTables, truthOf } from "../support/truth/truth.ts";

/** Differences between mirror and service; what only details show is compared after everything was read. */
export function unequal(company: Company, read: "lists" | "everything"): string[] {
  const truth = truthOf(company.sandbox);
  const detailed = new Set<string>(["document_payments", ...documentTables]);
  const tables = [...truth.keys()].filter((table) => read === "everything" || !detailed.has(table));
  const found = look(company.file, (db) => differences(db, truth, tables));
  return found.map((what) => `I11 after reading ${read}: ${what}`);
}

/** Broken invariants; checked whenever nothing is in flight. */
export async function violations(company: Company): Promise<string[]> {
  const { control } = company.sandbox;
  return [
    ...falseTombstones(company.file, truthOf(company.sandbox)).map((what) => `I5 ${what}`),
    ...unreplayable(company.file).map((what) => `I2 ${what}`),
    ...provisionalMistakes(company.file, documentTables).map((what) => `I3 ${what}`),
    ...(await localDamage(company)).map((what) => `against itself: ${what}`),
    ...look(company.file, (db) => lostEvents(db, company)),
    ...control.failures().map((failure) => `the sandbox itself failed: ${String(failure)}`),
  ];
}

/** I6: deliveries answered 2xx that are not in the inbox. */
function lostEvents(db: Db, { sandbox }: Company): string[] {
  const known = new Set(db.prepare("SELECT event_id FROM _inbox").pluck().all() as string[]);
  const answered = sandbox.control.webhooks.history().filter(({ outcome }) => outcome === "delivered");
  const lost = answered.filter(({ eventId }) => !known.has(eventId));
  const odd = db.prepare("SELECT type || ' ' || state FROM _inbox WHERE state IN ('unknown', 'unreadable')");
  return [
    ...lost.map(({ eventId, type }) => `I6 ${type} ${eventId}: answered 2xx and not kept`),
    ...(odd.pluck().all() as string[]).map((what) => `I12 ${what}: of an event of the catalogue`),
  ];
}

/** Events that wait for their read, with the reason. */
export function waitingEvents(company: Company): string[] {
  const sql = `SELECT i.type || ' ' || i.resource || ' ' || i.target || ': ' || coalesce(w.state || ' ' ||
    w.reason || coalesce(' ' || w.error, ''), 'no work') FROM _inbox i LEFT JOIN _work w
    ON w.resource = i.resource AND w.target = i.target WHERE i.state = 'waiting'`;
  return look(company.file, (db) => db.prepare(sql).pluck().all() as string[]);
}

/** I9, and every line is JSON; only the last line of a killed process may be cut. */
export function badLines(text: string, secrets: readonly string[]): string[] {
  const leaks = secrets.filter((secret) => text.includes(secret)).map(() => "I9 a secret stands in a log");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const odd = lines.filter((line) => line !== "" && !isJson(line));
  return [...leaks, ...odd.map((line) => `not a line of the log: ${line}`)];
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}
