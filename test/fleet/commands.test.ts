import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { fleetTables } from "../../src/fleet/postgres/tables/fleet-tables.ts";
import { createTestInvocation, jsonLines, temporaryFolder } from "../support/program/cli.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { eventually } from "../support/eventually.ts";

const companies = `companies:
  acme: { token: "\${env:ACME}" }
  beta: { token: "\${file:/run/secrets/beta}" }
`;
const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: s3://bucket/mirrors, reports: s3://bucket/reports/ }\n`;

/** A new database, and the command line of somebody who has a config for it. */
async function operator({ tables = true } = {}) {
  const url = await freshDatabase({ tables });
  const postgres = await connectNode(url);
  const begin = (line: string, config = companies + fleet) =>
    createTestInvocation(["fleet", ...line.split(" ")], {
      commands,
      clock: systemClock,
      cwd: temporaryFolder({ "config.yaml": config }),
      env: { DATABASE_URL: url, ACME: "token-of-acme" },
    });
  const run = (line: string, config?: string) => begin(line, config).run();
  const json = async (line: string, config?: string) => {
    const { code, stdout, stderr } = await run(`${line} --json`, config);
    expect({ code, errors: stderr.match(/"level":"error".*/)?.[0] }).toEqual({ code: 0, errors: undefined });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return { ...fleetTables(postgres), begin, run, json };
}

async function operatorOfBoth() {
  const one = await operator();
  await one.run("add --all");
  return one;
}

type Operator = Awaited<ReturnType<typeof operator>>;

const rowsOf = async ({ companies: table }: Operator) => (await table.list()).companies;

async function jobsOf({ postgres }: Operator) {
  const schedules = await postgres.query<{ key: string }>(
    `SELECT c.name AS key, s.cron, s.timezone FROM pgboss.schedule s JOIN fintoro_mirror.companies c
     ON (s.cron, s.timezone) = (schedule, c.timezone) WHERE NOT removed ORDER BY key`,
  );
  const queued = await postgres.query<{ company: string }>(
    "SELECT data ->> 'company' AS company FROM pgboss.job WHERE name = 'run' AND state = 'created' ORDER BY 1",
  );
  return { schedules, queued: queued.map(({ company }) => company) };
}

describeWithPostgres("fleet add", () => {
  test("makes the tables, shares companies with their schedule, and says what it did", async () => {
    const one = await operator({ tables: false });
    const added = { outcome: "added" };
    expect(await one.json("add --all")).toEqual({ companies: { acme: added, beta: added }, left_out: [] });
    expect(await rowsOf(one)).toMatchObject([
      { name: "acme", config: { companies: { acme: { token: "${env:ACME}" } } }, removed: false },
      { name: "beta", config: { companies: { beta: { token: "${file:/run/secrets/beta}" } } } },
    ]);
    const daily = { cron: "15 2 * * *", timezone: "Europe/Bratislava" };
    const schedules = ["acme", "beta"].map((key) => ({ key, ...daily }));
    expect(await jobsOf(one)).toEqual({ schedules, queued: ["acme", "beta"] });
  });

  test("again changes what the config says otherwise, its schedule too, and nothing else", async () => {
    const one = await operatorOfBoth();
    expect((await one.run("add acme beta")).stdout).toBe("acme: unchanged\nbeta: unchanged\n");
    const changed = `${companies}${fleet}schedule: { sync: "0 4 * * *", timezone: UTC }\n`;
    expect((await one.run("add --company acme", changed)).stdout).toBe("acme: changed\n");
    const off = `${companies}${fleet}schedule: { sync: off }\n`;
    expect((await one.run("add beta", off)).stdout).toBe("beta: changed\n");
    expect((await jobsOf(one)).schedules).toEqual([{ key: "acme", cron: "0 4 * * *", timezone: "UTC" }]);
  });

  test("leaves out, with a warning, what is one machine's, and prints nothing more with -q", async () => {
    const one = await operator();
    const config = `${companies}${fleet}report: { out: ./reports }\n`;
    const { code, stdout, stderr } = await one.run("add acme -q", config);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const msg = "left out: report.out: workers publish reports to fleet.reports";
    expect(jsonLines(stderr)).toMatchObject([{ level: "warn", msg }]);
    expect((await one.json("add acme", config))["left_out"]).toMatchObject([{ key: "report.out" }]);
  });

  // Fault: secrets | one of several companies has a literal token | `fleet add --all` | none is added, all mistakes are named and no token is shown (I9)
  test("I9: adds none where one has a secret in the file, and names every mistake once", async () => {
    const one = await operator();
    const config = `companies:
  acme: { token: "\${env:ACME}" }
  beta: { token: literal-token-1 }
  gamma: { token: literal-token-2, webhook: { secrets: ["literal-secret-0123456789"] } }
backup: { to: ./backups }
${fleet}`;
    const { code, stderr } = await one.run("add --all", config);
    expect(code).toBe(2);
    expect(jsonLines(stderr).map(({ msg }) => msg)).toEqual([
      expect.stringContaining("companies.gamma.webhook.secrets[0] stand in the file itself"),
      expect.stringContaining("config.yaml:5:11: backup.to is a folder beside this config"),
      expect.stringContaining("config.yaml:3:11: companies.beta.token stands in the file itself"),
      expect.stringContaining("config.yaml:4:12: companies.gamma.token stands in the file itself"),
      expect.stringContaining("companies.gamma.webhook.secrets[0] stands in the file itself"),
    ]);
    expect(stderr).not.toMatch(/literal-(?:token|secret)/);
    expect(await rowsOf(one)).toEqual([]);
  });

  test("says what to do where no company is named, all and one, an unknown one, one with the same name but for capitals, or there is none", async () => {
    const { run } = await operator();
    await run("add acme");
    const twin = `companies: { ACME: { token: "\${env:ACME}" } }\n${fleet}`;
    const refused: readonly (readonly [line: string, msg: string, config?: string])[] = [
      ["add", "which companies?"],
      ["add acme --all", "--all is every company: name none"],
      ["add acm", "unknown company acm. Did you mean acme?"],
      ["remove", "which companies?"],
      ["add --all", "the config has no companies to share", fleet],
      ["add --all", "the fleet has a company acme: ACME differs only in case", twin],
    ];
    for (const [line, msg, config] of refused) {
      const { code, stderr } = await run(line, config);
      expect(code).toBe(2);
      expect(jsonLines(stderr).at(-1)).toMatchObject({ msg, hint: expect.stringMatching(/./) });
    }
  });

  // Fault: process | SIGINT while companies are added to a fleet | `fleet add` | exit 130; what was shared stays, and to repeat it goes on
  test("ends with a signal between two companies, and goes on when it is repeated", async () => {
    const one = await operator();
    const names = Array.from({ length: 60 }, (_, i) => `company-${i}`);
    const config = `companies:\n${names.map((name) => `  ${name}: { token: "\${env:ACME}" }`).join("\n")}\n${fleet}`;
    const { signals, run } = one.begin("add --all", config);
    const ended = run();
    await eventually(async () => (await rowsOf(one).catch(() => [])).length > 0, "the first company");
    signals.emit("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    const count = (await rowsOf(one)).length;
    expect(count).toBeLessThan(names.length);
    expect(stderr).toContain(`stopped: ${count} of 60 companies are shared`);
    const { stdout } = await one.run("add --all", config);
    expect(stdout.match(/: unchanged$/gm)).toHaveLength(count);
    expect(stdout.match(/: added$/gm)).toHaveLength(names.length - count);
  });
});

describeWithPostgres("fleet remove", () => {
  test("takes a company out: no schedule, no owner any more, and says what stays; one that is not there gets the nearest name, and can be added", async () => {
    const one = await operatorOfBoth();
    await one.owners.claim("acme", "worker-7", 60_000);
    const inReports = ["pointers/acme.json", "company=acme/", "packages/*/acme/"];
    const stays = ["mirrors/acme/", "mirrors/.files/acme/", ...inReports.map((key) => `reports/${key}`)];
    const said = { outcome: "removed", released_by: "worker-7" };
    const acme = { ...said, stays: stays.map((key) => `s3://bucket/${key}`) };
    expect(await one.json("remove acme")).toEqual({ companies: { acme } });
    expect((await rowsOf(one)).map(({ removed }) => removed)).toEqual([true, false]);
    expect((await jobsOf(one)).schedules).toMatchObject([{ key: "beta" }]);
    const again = await one.run("remove acme");
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("unknown company acme in the fleet. There is beta");
    expect((await one.run("remove bta")).stderr).toContain("Did you mean beta?");
    expect((await one.run("add acme")).stdout).toBe("acme: added\n");
    expect((await one.run("remove beta")).stdout).toMatch(/^beta: removed\n {2}stays: s3:/);
  });

  test("has Postgres forget at once what was removed, or is, and waits until nobody has it, or it is interrupted", async () => {
    const one = await operatorOfBoth();
    await one.run("remove beta");
    await one.owners.claim("acme", "worker-7", 600_000);
    const interrupted = one.begin("remove acme --forget");
    const waiting = interrupted.run();
    await eventually(() => interrupted.written.stderr.includes("waiting"), "a company that is waited for");
    interrupted.signals.emit("SIGINT");
    const why = expect.stringContaining("acme was removed, and is not forgotten") as string;
    expect(await waiting).toMatchObject({ code: 130, stderr: why });
    const { written, run } = one.begin("remove acme beta --forget");
    const ended = run();
    await eventually(() => written.stderr.includes("waiting"), "a company that is waited for");
    await one.owners.release({ company: "acme", epoch: 1, node: "worker-7" });
    const { stdout, stderr } = await ended;
    expect(stdout).toMatch(/^acme: forgotten\n(.+\n)+beta: forgotten\n/);
    expect(jsonLines(stderr)).toMatchObject([{ msg: "waiting until worker-7 has released it" }]);
    expect(await one.json("list")).toMatchObject({ companies: {}, removed: {} });
  });
});

describeWithPostgres("fleet list", () => {
  test("shows every company with the node that has it, and its config without a secret; and companies that left and can come back as they were", async () => {
    const one = await operatorOfBoth();
    await one.owners.claim("acme", "worker-7", 60_000);
    const { stdout } = await one.run("list");
    const both = /^acme {2}at worker-7, epoch 1; config of \d+.* ago\nbeta {2}not read yet; config /;
    expect(stdout).toMatch(both);
    await one.owners.release({ company: "acme", epoch: 1, node: "worker-7" });
    expect((await one.run("list")).stdout).toContain("acme  idle; ");
    const acme = { node: null, epoch: 1, config: { companies: { acme: { token: "${env:ACME}" } } } };
    expect(await one.json("list --company acme")).toMatchObject({ companies: { acme } });
    await one.run("remove beta");
    const line = /\nbeta: removed; comes back as it was if it is added until \d{4}-/;
    expect((await one.run("list")).stdout).toMatch(line);
    const [removed_at, kept_until] = [expect.any(String), expect.any(String)];
    expect(await one.json("list")).toMatchObject({ removed: { beta: { removed_at, kept_until } } });
    await one.run("add beta");
    expect(await one.json("list")).toMatchObject({ removed: {} });
  });
});

describeWithPostgres("fleet drain", () => {
  test("asks a node to release its companies, of an empty fleet too; an unknown one gets the nearest name", async () => {
    const one = await operator();
    const { stdout: none } = await one.run("list", fleet);
    expect(none).toBe("the fleet has no companies; `fleet add` shares some\n");
    const { nodes } = one;
    const facts = { node: "worker-7", version: "1", role: "all", held: 12, capacity: 50 };
    await nodes.register(facts);
    const { stdout } = await one.run("drain worker-7", fleet);
    expect(stdout).toBe("worker-7: releases 12 companies, and takes no more until it is started again\n");
    expect(await nodes.beat(facts)).toEqual({ draining: true });
    await nodes.beat({ ...facts, held: 0 });
    expect((await one.run("drain worker-7", fleet)).stdout).toMatch(/^worker-7: holds no company, and takes/);
    // Its next process takes companies again.
    await nodes.register(facts);
    expect(await nodes.beat(facts)).toEqual({ draining: false });
    const unknown = await one.run("drain worker-8", fleet);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("unknown node worker-8. Did you mean worker-7?");
  });
});
