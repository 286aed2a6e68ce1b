import { startIn, writeServeConfig, type Served } from "../support/program/serve.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { endOf } from "../support/program/cli.ts";
import { eventually } from "../support/eventually.ts";
import { count } from "../support/truth/equal.ts";

/** A `sync` that has stored its first lists, and waits for the answer to one that `release` lets through. */
export async function heldSync(company: Company) {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const remove = company.proxy.obstruct(async ({ path }, passOn) => {
    if (path !== "/suppliers") return undefined;
    reached.resolve();
    await held.promise;
    return passOn();
  });
  const child = startIn(company, ["sync", "--json"]);
  const ended = endOf(child);
  await reached.promise;
  remove();
  await eventually(() => count(company.file, "SELECT count(*) FROM clients") > 0, "a first list");
  return { child, ended, release: held.resolve };
}

/** A `serve` that only receives, after its first run. */
export async function receiving<Daemon extends Served>(open: (company: Company) => Promise<Daemon>) {
  const company = writeServeConfig(await aCompany({ records: 2 }), "schedule: { sync: off, publish: off }");
  const daemon = await open(company);
  await daemon.until("a run ended");
  return { company, daemon };
}
