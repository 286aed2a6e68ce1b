import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import { declaration as fintoro } from "../../../connectors/fintoro/declaration.ts";
import type { Company } from "../company/open-company.ts";
import { declarationOf, openHasty } from "./mirror.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { checkLocally, type LocalCheck } from "../../../src/verify/local/check-locally.ts";
import { repairLocally } from "../../../src/verify/local/repair-locally.ts";
import { order as anOrder, person as aPerson, twoLines } from "./shop-records.ts";
import { put, putPreview, remove, stampOf } from "./store.ts";
import { stillClock } from "./run.ts";
import { tempFolder } from "../temporary-folder.ts";

export const person = (id: number, more: object = {}) => aPerson(id, { score: 1.5, ...more });

export const order = (id: number, more: object = {}) => {
  const receipts = [{ id: id * 10, amount: 2 }];
  return anOrder(id, { number: `A${id}`, total: 10.25, lines: twoLines, receipts, ...more });
};

/**
 * A shop with everything that a healthy mirror may hold: records changed and deleted, deleted ones that came back,
 * provisional rows, payments that name no owner, unknown fields, a record in quarantine, an event in the log.
 */
export async function aFullShop(declaration: ConnectorDeclaration = shop): Promise<Mirror> {
  const bytes = fullShops.get(declaration);
  const file = join(tempFolder(), "shop.db");
  if (bytes) writeFileSync(file, bytes);
  const mirror = await openHasty({ path: file, declaration });
  if (!bytes) {
    fill(mirror);
    fullShops.set(declaration, mirror.db.serialize());
  }
  return mirror;
}

const shop = declarationOf();
/** Made once: each test gets a copy. */
const fullShops = new Map<ConnectorDeclaration, Buffer>();

function fill(mirror: Mirror): void {
  for (const id of [1, 2, 3, 4, 5, 6]) put(mirror, "people", person(id));
  for (const score of [2, 3]) put(mirror, "people", person(2, { score, nickname: "x", "🙂": { a: 1 } }));
  for (const id of [3, 4]) remove(mirror, "people", id);
  put(mirror, "people", person(4, { name: "again" }));
  put(mirror, "people", person(6, { name: { odd: true } }));
  for (const id of [1, 2, 3, 4, 5]) putOrder(mirror, id);
  remove(mirror, "orders", 5);
  remove(mirror, "receipts", 50);
  for (const id of [8, 9]) putPreview(mirror, "orders", { id, number: `A${id}`, total: 1, shade: "dark" });
  for (const id of [1, 2])
    put(mirror, "notes", { id, body: "b", personId: 1, attachments: [{ id: 7, name: "f" }] });
  put(mirror, "colours", { id: 1, label: "red" });
  put(mirror, "shop", { id: 1, name: "Shop" });
  const stamp = stampOf(mirror, { cause: "webhook" });
  mirror.apply(() => mirror.log.addEvent(stamp, "foreign_bills", 5, "{}"));
}

function putOrder(mirror: Mirror, id: number): void {
  put(mirror, "orders", order(id), { source: "detail" });
  const overrides = { document_type: "order", document_id: id };
  put(mirror, "receipts", { id: id * 10, amount: 2 }, { overrides });
}

export function check({ db, declaration }: Mirror): Promise<LocalCheck> {
  return checkLocally(db.name, declaration);
}

export function repair(mirror: Mirror) {
  return repairLocally({ mirror, queue: new WorkQueue(mirror.db), clock: stillClock });
}

/** All that a check found, a line each: `people different 1 name`, `queue`. */
export function named({ resources, problems }: LocalCheck): string[] {
  const records = Object.entries(resources).flatMap(([resource, { missing, extra, different }]) => [
    ...missing.map(({ id }) => `${resource} missing ${id}`),
    ...extra.map(({ id }) => `${resource} extra ${id}`),
    ...different.map(({ id, field }) => `${resource} different ${id} ${field}`),
  ]);
  return [...records, ...problems.map(({ kind }) => kind)];
}

/** A line each: what is named for a wound, and the SQL that makes it: `people missing 1 < DELETE …`. */
export function woundsIn(text: string): string[][] {
  const lines = text.trim().split(/\n(?= {2}\S)/);
  return lines.map((line) => line.trim().split(/ <\s+/));
}

/** What the mirror of a company shows wrong against itself, when nobody writes it. */
export async function localDamage({ file }: Pick<Company, "file">): Promise<string[]> {
  return named(await checkLocally(file, fintoro));
}
