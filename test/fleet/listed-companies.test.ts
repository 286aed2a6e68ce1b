import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CompaniesTable } from "../../src/fleet/postgres/tables/companies-table.ts";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { startSandbox } from "../support/sandbox/control.ts";

const list = `name;token;tags
acme;\${env:ACME};vip
beta;env:BETA;"new; vip"
gamma;env:GAMMA;
refused;env:WRONG;vip
missing;env:NOT_SET;vip
literal;token-in-the-list;vip
`;

/** An operator with a service of three companies, and a list of them. */
async function operator() {
  const service = await startSandbox({ records: 1, companies: 3 });
  onTestFinished(() => service.close());
  const url = await freshDatabase();
  const postgres = await connectNode(url);
  const [acme, beta, gamma] = service.companies.map(({ readToken }) => readToken);
  const config = `base_url: ${service.url}
companies: { acme: { token: "\${env:ACME}", webhook: { secrets: ["\${env:SECRET}"] } } }
fleet: { postgres: "\${env:DATABASE_URL}", snapshots: s3://bucket/mirrors }
`;
  const cwd = temporaryFolder({ "config.yaml": config, "companies.csv": list });
  const tokens = { ACME: acme ?? "", BETA: beta ?? "", GAMMA: gamma ?? "", WRONG: "token-that-is-wrong" };
  const run = (...args: string[]) =>
    runCommand(["fleet", ...args], { cwd, env: { DATABASE_URL: url, ...tokens } });
  const write = (text: string) => writeFileSync(path.join(cwd, "companies.csv"), text);
  const rows = async () => (await new CompaniesTable(postgres).list()).companies;
  const tags = async () => (await rows()).map((row) => row.tags);
  const jobs = async () => {
    const queued = "SELECT data ->> 'company' AS company FROM pgboss.job WHERE name = 'run' ORDER BY 1";
    return (await postgres.query<{ company: string }>(queued)).map(({ company }) => company);
  };
  return { service, run, write, rows, tags, jobs, postgres, tokens };
}

/** The lines that can be used. */
const good = list.split("\n").slice(0, 4).join("\n");

describeWithPostgres("fleet add --from", () => {
  // Fault: secrets | a wrong token, a variable that is not set, a token in the list | `fleet add --from` | these lines are refused, the rest is shared, no token is shown (I9)
  test("I9: shares the lines whose token the service takes, and names each other line with its reason", async () => {
    const { service, run, rows, jobs, tokens } = await operator();
    const { code, stdout, stderr } = await run("add", "--from", "companies.csv");
    expect(code).toBe(3);
    expect(stdout).toBe(
      "acme: added\nbeta: added\ngamma: added\nrefused: refused\nmissing: refused\ncompanies.csv: 0 unchanged, 3 refused\n",
    );
    const refused = jsonLines(stderr).flatMap(({ level, msg }) => (level === "error" ? [String(msg)] : []));
    expect(refused.toSorted()).toEqual([
      expect.stringMatching(/^companies\.csv:5: .*(?:401|token)/),
      "companies.csv:6: companies.missing.token: the environment variable NOT_SET is not set",
      expect.stringMatching(/^companies\.csv:7: the token itself does not belong into the list/),
    ]);
    for (const token of [...Object.values(tokens), "token-in-the-list"])
      expect(stdout + stderr).not.toContain(token);
    const acme = { token: "${env:ACME}", webhook: { secrets: ["${env:SECRET}"] } };
    expect(await rows()).toMatchObject([
      { name: "acme", tags: ["vip"], config: { companies: { acme } } },
      { name: "beta", tags: ["new", "vip"], config: { companies: { beta: { token: "${env:BETA}" } } } },
      { name: "gamma", tags: [] },
    ]);
    expect(await jobs()).toEqual(["acme", "beta", "gamma"]);
    const asked = service.requests().map(({ path: route, status }) => `${route} ${status}`);
    expect(asked.toSorted()).toEqual([...Array<string>(3).fill("/whoami 200"), "/whoami 401"]);
  });

  test("again asks the service for what has changed alone, changes that, and reads only a changed config", async () => {
    const { service, run, write, tags, jobs, postgres } = await operator();
    write(good);
    expect((await run("add", "--from", "companies.csv")).code).toBe(0);
    await postgres.query("DELETE FROM pgboss.job");
    const before = service.requests().length;
    const again = await run("add", "--from", "companies.csv", "--json");
    const unchanged = { outcome: "unchanged" };
    const companies = { acme: unchanged, beta: unchanged, gamma: unchanged };
    expect(JSON.parse(again.stdout)).toEqual({ companies, refused: [], left_out: [] });
    expect(service.requests().length - before).toBe(0);
    write(good.replace("env:GAMMA", "env:BETA").replace('"new; vip"', "old"));
    const changed = await run("add", "--from", "companies.csv");
    expect(changed.stdout).toBe("beta: tagged\ngamma: changed\ncompanies.csv: 1 unchanged, 0 refused\n");
    expect(service.requests().length - before).toBe(1);
    expect(await jobs()).toEqual(["gamma"]);
    expect(await tags()).toEqual([["vip"], ["old"], []]);
  });

  test("keeps tags that a list without the column says nothing of, and adds those of --tag", async () => {
    const { run, write, tags } = await operator();
    const add = (...more: string[]) => run("add", "--from", "companies.csv", ...more);
    write("name,token\nacme,env:ACME\n");
    await add("--tag", "2026", "--tag", "new");
    expect(await tags()).toEqual([["2026", "new"]]);
    expect((await add()).stdout).toBe("companies.csv: 1 unchanged, 0 refused\n");
    expect(await tags()).toEqual([["2026", "new"]]);
    write("name,token,tags\nacme,env:ACME,\nACME,env:BETA,\n");
    expect((await add()).stdout).toBe("acme: tagged\ncompanies.csv: 0 unchanged, 1 refused\n");
    expect(await tags()).toEqual([[]]);
    write("name,token\nAcme,env:ACME\n");
    const twin = "companies.csv:2: the fleet has a company acme: Acme differs only in case";
    expect((await add()).stderr).toContain(twin);
  });

  test("changes nothing by a mistake: all besides, a list that is not there, a tag that is none", async () => {
    const { run, rows } = await operator();
    for (const [args, msg] of [
      [["--from", "companies.csv", "--all"], "--from is every company of the list: name none"],
      [["--from", "nowhere.csv"], "nowhere.csv cannot be read: there is no such file"],
      [["acme", "--tag", "a/b"], "--tag: tags have letters, digits, - _ and . only, at most 64"],
    ] as const) {
      const { code, stderr } = await run("add", ...args);
      expect({ code, msg: jsonLines(stderr).at(-1)?.["msg"] }).toEqual({ code: 2, msg });
    }
    expect(await rows()).toEqual([]);
  });
});

describeWithPostgres("--tag", () => {
  test("selects the companies that are listed, shown and removed; an unknown one gets the nearest", async () => {
    const { run, write, rows } = await operator();
    write(good);
    await run("add", "--from", "companies.csv");
    expect((await run("list", "--tag", "vip")).stdout).toMatch(/^acme .*; vip\nbeta .*; new vip\n$/);
    const both = await run("list", "--tag", "vip", "--company", "beta,gamma", "--json");
    expect(JSON.parse(both.stdout)).toMatchObject({ companies: { beta: { tags: ["new", "vip"] } } });
    const status = await run("status", "--tag", "new", "--json");
    expect(Object.keys((JSON.parse(status.stdout) as { companies: object }).companies)).toEqual(["beta"]);
    const wrong = await run("remove", "--tag", "vpi");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("unknown tag vpi in the fleet. Did you mean vip?");
    expect((await run("remove", "--tag", "vip")).stdout).toMatch(/^acme: removed\n(?: .*\n)+beta: removed\n/);
    expect((await rows()).map(({ removed }) => removed)).toEqual([true, true, false]);
  });
});
