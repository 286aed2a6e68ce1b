import { expect } from "vitest";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { readRadar, readRadarPage, type MirrorRadar } from "../../../src/fleet/postgres/tables/radar-view.ts";
import { radarLines } from "../../../src/fleet/status/format-fleet-status.ts";
import { needsSomeone } from "../../../src/fleet/snapshot/snapshot-facts.ts";
import { runFleet, test, type Fleet } from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { createRadarSite } from "../../../src/fleet/status/radar-site.ts";
import { createPageAccess } from "../../../src/status/page/page-access.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { Secret } from "../../../src/base/secret.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const wellRead: Omit<MirrorRadar, "needs_someone"> = {
  token: "accepted",
  webhook: "receives",
  handed_over: { month: "2026-10", at: "2026-11-05T08:00:00.000Z", changed: 0, pruned: false },
  read_since: "2026-11-01T02:00:00.000Z",
  verified_at: null,
};

type Answers = Parameters<Fleet["publishAnswers"]>[1];
async function published(fleet: Fleet, company: string, radar: Partial<MirrorRadar>, answers: Answers) {
  const owner = await fleet.owned(company);
  const said = { ...wellRead, ...radar };
  const facts = healthyFacts({ radar: { needs_someone: needsSomeone(said), ...said } });
  await fleet.publishUpTo(owner, 3, 0, { facts });
  if (answers) await fleet.publishAnswers(owner, answers);
}

describeWithPostgres("fleet status --radar", () => {
  test("has a line for each company, and marks those where somebody has to look", async ({ fleet }) => {
    await published(fleet, "acme", {}, {});
    await published(fleet, "beta", { token: "refused", webhook: "off" }, null);
    const months = {
      handed_over: { month: "2026-10", at: "2026-11-05T08:00:00.000Z", changed: 3, pruned: false },
    };
    const verified = { ...months, verified_at: "2026-11-20T00:00:00.000Z" };
    await published(fleet, "gamma", verified, { a: "2 clients" });
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
    expect(radar.get("new")).toEqual({ tags: ["vip"], snapshot_at: null, mirror: null, answers: null });
    const mirror = { needs_someone: false, ...wellRead };
    const snapshot_at = "1970-01-01T00:00:00.001Z";
    expect(radar.get("acme")).toEqual({ tags: [], snapshot_at, mirror, answers: {} });
  });

  test("is a command that obeys --tag and --company, and exits 0 whatever it shows", async ({ fleet }) => {
    await published(fleet, "acme", { token: "refused" }, null);
    await fleet.companies.put("acme", {}, null, "UTC", ["vip"]);
    await fleet.add("beta");
    const run = (...args: string[]) => runFleet(fleet, ["status", "--radar", ...args]);
    const tagged = await run("--tag", "vip");
    expect([tagged.code, tagged.stdout.match(/^. \w+/gm)]).toEqual([0, ["  company", "! acme"]]);
    const companies = { beta: { tags: [], snapshot_at: null, mirror: null, answers: null } };
    expect(JSON.parse((await run("--company", "beta", "--json")).stdout)).toEqual({ companies });
    // What it shows has no exit code for what is old.
    expect((await run("--max-age", "1h")).code).toBe(2);
  });

  test("is read in one statement, however many companies there are", async ({ fleet }) => {
    const facts = JSON.stringify(healthyFacts({ radar: wellRead }));
    for (const rows of [
      `companies (name, config) SELECT 'c' || n, '{}'`,
      `snapshots SELECT 'c' || n, 1, 's', 1, 1, 1, '', now(), 'node-1', '${facts}'`,
    ])
      await fleet.postgres.query(`INSERT INTO fintoro_mirror.${rows} FROM generate_series(1, 1000) n`);
    const { postgres, count } = fleet.counting();
    const radar = await readRadar(postgres, null);
    expect([count(), radar.size]).toEqual([1, 1_000]);
    const page = await readRadarPage(postgres, { text: "", tag: "" }, 300);
    expect([count(), page.companies.size, page.found, page.needing]).toEqual([2, 300, 1_000, 0]);
  });
});

/** The radar's page on a node that listens on this machine alone. `token`: what it asks for. */
function pageOf(postgres: Postgres | null, token: string | null = null) {
  const wanted = token === null ? null : { secret: new Secret(token), isMade: false };
  const parts = { clock: systemClock, log: silentLog, isLocal: true, token: () => wanted };
  const site = createRadarSite("1.2.3", createPageAccess(parts), systemClock, () => postgres);
  return (query = "", headers: Record<string, string> = {}) =>
    site.answer({ path: "/", query: new URLSearchParams(query), headers, httpVersion: "1.1", form: null });
}

const namesIn = ({ body }: { readonly body: string }) =>
  [...body.matchAll(/<th scope="row">(\S+)/g)].map(([, name]) => name);

describeWithPostgres("the radar's page", () => {
  test("shows those first that need someone, as the command does, and has a tag", async ({ fleet }) => {
    await published(fleet, "acme", {}, { einvoice_readiness: "2 clients are not ready" });
    await published(fleet, "beta", {}, null);
    await published(fleet, "gamma", { webhook: "differs" }, null);
    await published(fleet, "epsilon", { webhook: "gap" }, null);
    await fleet.companies.put("delta", {});
    const page = pageOf(fleet.postgres);
    const shown = await page();
    expect([shown.status, namesIn(shown)]).toEqual([200, ["epsilon", "gamma", "acme", "beta", "delta"]]);
    const texts = ["2 of 5 companies need someone", "differs", "2 clients are not ready", "not read yet"];
    for (const text of texts) expect(shown.body).toContain(text);
    expect(shown.headers?.["ETag"]).toMatch(/^"\w+"$/);
    expect((await pageOf(fleet.postgres)()).headers?.["ETag"]).toBe(shown.headers?.["ETag"]);
  });

  test("finds by part of a name and by tag, shows 300, and what was asked as text", async ({ fleet }) => {
    await fleet.add("acme-2");
    await fleet.companies.put("acme", {}, null, "UTC", ["vip"]);
    await fleet.companies.put("beta", {}, null, "UTC", ["vip", "monthly"]);
    const page = pageOf(fleet.postgres);
    expect(namesIn(await page("q=ACM"))).toEqual(["acme", "acme-2"]);
    expect(namesIn(await page("tag=vip"))).toEqual(["acme", "beta"]);
    expect(namesIn(await page("q=a%25&tag=vip"))).toEqual([]);
    await fleet.postgres.query(`INSERT INTO fintoro_mirror.companies (name, config)
      SELECT 'c' || n, '{}' FROM generate_series(1, 1234) n`);
    const first = await pageOf(fleet.postgres)();
    expect(namesIn(first)).toHaveLength(300);
    expect(first.body).toMatch(/\b937 more: search by name or tag/);
    const { body } = await page("q=%22%3E%3Cb%3E");
    expect(body).toContain("&quot;&gt;&lt;b&gt;");
    expect(body).toContain("No company is like that.");
  });

  test("asks for the token of the pages, and names no company without it", async ({ fleet }) => {
    await fleet.add("acme");
    const page = pageOf(fleet.postgres, "a-token-of-the-pages");
    const refused = await page();
    expect([refused.status, refused.body.includes("acme")]).toEqual([401, false]);
    const bearer = { authorization: "Bearer a-token-of-the-pages" };
    expect(namesIn(await page("", bearer))).toEqual(["acme"]);
  });

  // Fault: network | Postgres is away | the radar's page of a node | 503 with the reason, kept for a moment however many look
  test("says so while Postgres does not answer", async ({ fleet: { postgres } }) => {
    await postgres.close();
    const page = pageOf(postgres);
    expect([(await page()).status, (await pageOf(null)()).status]).toEqual([503, 503]);
  });
});
