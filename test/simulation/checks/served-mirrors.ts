import type { ManyCompanies } from "../../support/company/many-companies.ts";
import { localDamage } from "../../support/mirror/local-check.ts";
import { differences, falseTombstones, look, unreplayable } from "../../support/truth/compare.ts";
import { truthOf } from "../../support/truth/truth.ts";

/** Broken invariants of the mirrors of a `serve`, once everything was read and nothing is in flight. */
export async function brokenMirrors({ sandbox, names, mirror }: ManyCompanies): Promise<string[]> {
  const broken = sandbox.control.failures().map((failure) => `the sandbox itself failed: ${String(failure)}`);
  const kept = new Set<string>();
  for (const [company, name] of names.entries()) {
    const [file, truth] = [mirror(company), truthOf(sandbox, company)];
    for (const id of eventIds(file)) kept.add(id);
    const found = [
      ...unreplayable(file).map((what) => `I2 ${what}`),
      ...falseTombstones(file, truth).map((what) => `I5 ${what}`),
      ...look(file, (db) => differences(db, truth)).map((what) => `I11 ${what}`),
      ...(await localDamage({ file })).map((what) => `against itself: ${what}`),
    ];
    broken.push(...found.map((what) => `${name}: ${what}`));
  }
  const delivered = sandbox.control.webhooks.history().filter(({ outcome }) => outcome === "delivered");
  const lost = delivered.filter(({ eventId }) => !kept.has(eventId));
  return [...broken, ...lost.map(({ type, eventId }) => `I6 ${type} ${eventId}: answered 2xx and not kept`)];
}

function eventIds(file: string): string[] {
  return look(file, (db) => db.prepare("SELECT event_id FROM _inbox").pluck().all() as string[]);
}
