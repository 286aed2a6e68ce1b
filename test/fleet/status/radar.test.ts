import { expect, test } from "vitest";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { radarLines, readRadar } from "../../../src/fleet/status/radar.ts";
import {
  changesUpTo,
  openFleet,
  publishNoReports,
  snapshotOf,
  type Fleet,
} from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { runCommand, temporaryFolder } from "../../support/program/cli.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const wellRead = {
  token: "accepted",
  webhook: "receives",
  handed_over: { month: "2026-10", at: "2026-11-05T08:00:00.000Z", changed: 0 },
  read_since: "2026-11-01T02:00:00.000Z",
  verified_at: null,
};

/** Publishes a snapshot that says so, and a report with these answers. */
async function published(
  fleet: Fleet,
  company: string,
  radar: object,
  answers: Record<string, string> | null,
) {
  const owner = await fleet.owned(company);
  const snapshot = { ...snapshotOf(3), facts: healthyFacts({ radar: { ...wellRead, ...radar } }) };
  await fleet.snapshots.publish(owner, snapshot, changesUpTo(3));
  if (answers) await publishNoReports(fleet, owner, answers);
}

describeWithPostgres("fleet status --radar", () => {
  test("has a line for each company, and marks those where somebody has to look", async () => {
    const fleet = await openFleet();
    await published(fleet, "acme", {}, {});
    await published(fleet, "beta", { token: "refused", webhook: "off" }, null);
    const months = { handed_over: { ...wellRead.handed_over, changed: 3 } };
    await published(
      fleet,
      "gamma",
      { ...months, verified_at: "2026-11-20T00:00:00.000Z" },
      { a: "2 clients" },
    );
    await published(fleet, "left", {}, {});
    await fleet.companies.remove("left");
    await fleet.companies.put("new", {}, null, "UTC", ["vip"]);
    const radar = await readRadar(fleet.postgres, null);
    expect(radarLines(radar)).toEqual([
      "  company  token         webhook   handed over                         proof                  what the report says",
      "  acme     accepted      receives  2026-10, 0 documents changed since  read since 2026-11-01",
      "! beta     refused       off       2026-10, 0 documents changed since  read since 2026-11-01  no report yet",
      "! gamma    accepted      receives  2026-10, 3 documents changed since  verified 2026-11-20    2 clients",
      "  new      not read yet",
    ]);
    expect(radar["new"]).toEqual({ tags: ["vip"], snapshot_at: null, mirror: null, answers: null });
    expect(radar["acme"]).toEqual({
      tags: [],
      snapshot_at: "1970-01-01T00:00:00.001Z",
      mirror: wellRead,
      answers: {},
    });
  });

  test("is a command that obeys --tag and --company, and exits 0 whatever it shows", async () => {
    const fleet = await openFleet();
    await published(fleet, "acme", { token: "refused" }, null);
    await fleet.companies.put("acme", {}, null, "UTC", ["vip"]);
    await fleet.add("beta");
    const config = "fleet: { postgres: '${env:DATABASE_URL}', snapshots: s3://bucket/mirrors }\n";
    const run = (...args: string[]) =>
      runCommand(["fleet", "status", "--radar", ...args], {
        cwd: temporaryFolder({ "config.yaml": config }),
        env: { DATABASE_URL: fleet.url },
      });
    const tagged = await run("--tag", "vip");
    expect([tagged.code, tagged.stdout.match(/^. \w+/gm)]).toEqual([0, ["  company", "! acme"]]);
    const { companies } = JSON.parse((await run("--company", "beta", "--json")).stdout) as {
      companies: object;
    };
    expect(companies).toEqual({ beta: { tags: [], snapshot_at: null, mirror: null, answers: null } });
  });

  test("is read in one statement, of 100,000 companies too", async () => {
    const { postgres } = await openFleet();
    const facts = JSON.stringify({
      ...healthyFacts({ radar: wellRead }),
      unpacked: { sha256: "0".repeat(64) },
    });
    const inserted = [
      `companies (name, config, tags) SELECT 'c' || n, '{"companies": {}}', ARRAY['t' || n % 7]`,
      `snapshots SELECT 'c' || n, 1, 's', 1, 1, 1, '', now(), 'node-1', '${facts}'`,
      `reports SELECT 'c' || n, 1, 1, now(), 1, '[]', '{}', '{"einvoice_readiness": "2 clients are not ready"}'`,
    ];
    for (const rows of inserted)
      for (let from = 0; from < 100_000; from += 20_000)
        await postgres.query(
          `INSERT INTO fintoro_mirror.${rows} FROM generate_series(${from + 1}, ${from + 20_000}) n`,
        );
    let statements = 0;
    const counting: Postgres = {
      ...postgres,
      transaction: (step) => postgres.transaction(step),
      close: () => postgres.close(),
      query: (text, values) => {
        statements++;
        return postgres.query(text, values);
      },
    };
    const radar = await readRadar(counting, null);
    const lines = radarLines(radar);
    expect([statements, Object.keys(radar).length, lines.length]).toEqual([1, 100_000, 100_001]);
  });
});
