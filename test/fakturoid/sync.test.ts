import { readFileSync, statSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { knownFakturoid } from "../../connectors/fakturoid/known.ts";
import { count, look } from "../support/truth/compare.ts";
import { complaints, load } from "../support/connector/config.ts";
import { openForTest, type Account } from "../support/company/open-account.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";

const live = ({ files }: Account, table: string): number[] =>
  look(files.mirror, (db) =>
    db.prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NULL ORDER BY id`).pluck().all(),
  ) as number[];

describe("a night", () => {
  test("reads eight requests where little changed, and the whole lists once a week", async () => {
    const one = await openForTest({ invoices: 100 });
    const whole = { outcome: "complete", troubles: [], new_columns: [], missing_fields: [] };
    expect(await one.sync()).toMatchObject(whole);
    one.asked();
    one.passDays(1);
    one.changes.change("invoices", live(one, "invoices")[3] ?? 0, { note: "díky" });
    const id = one.changes.add("expenses");
    const { resources } = await one.sync();
    const changed = { invoices: { updated: 1 }, expenses: { inserted: 1 }, account: { updated: 0 } };
    expect(resources).toMatchObject(changed);
    expect(live(one, "expenses")).toContain(id);
    const asked = one.asked();
    // The access token of the night before has ended.
    expect(asked.filter((path) => path === "/oauth/token")).toHaveLength(1);
    expect(asked).toHaveLength(9);
    one.passDays(6);
    await one.sync();
    expect(one.asked().filter((path) => path === "/invoices.json")).toHaveLength(3);
  });

  test("I2: without a change writes none, although the account counts its calls", async () => {
    const one = await openForTest();
    await one.sync();
    const changes = () => count(one.files.mirror, "SELECT count(*) FROM _change_log");
    const before = changes();
    one.passDays(1);
    await one.sync();
    expect(changes()).toBe(before);
  });
});

const accessFile = ({ folder }: Account) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(".access.json")) ?? "");

describe("access tokens", () => {
  test("are asked for once, shared by processes through a file of the owner, and anew before they end", async () => {
    const one = await openForTest();
    await one.sync();
    one.pass(3_600_000);
    await one.sync();
    expect(one.standIn.tokensIssued).toBe(1);
    expect(statSync(accessFile(one)).mode & 0o777).toBe(0o600);
    one.pass(3_600_000 - 60_000);
    await one.sync();
    expect(one.standIn.tokensIssued).toBe(2);
  });

  test("refused in the middle of a run are asked for anew, once, and the run goes on", async () => {
    const one = await openForTest();
    one.standIn.plan(...Array.from({ length: 4 }, () => () => null), () => {
      one.standIn.endToken();
      return null;
    });
    expect(await one.sync()).toMatchObject({ outcome: "complete" });
    expect(one.standIn.tokensIssued).toBe(2);
  });

  // Fault: secrets | another company's run asks for an access token at the same moment | the service | its token is used, and the run goes on
  test("are another process's where that asked at the same time, and so ended the new one", async () => {
    const one = await openForTest();
    await one.sync();
    const others = readFileSync(accessFile(one), "utf8");
    const storeOthers = () => {
      writeFileSync(accessFile(one), others);
      return null;
    };
    const refusal = { status: 401, body: { error: "invalid_token" } };
    const ended = { status: 200, body: { access_token: "ended", expires_in: 7_200 } };
    one.standIn.plan(
      () => refusal,
      () => ended,
      storeOthers,
    );
    expect(await one.sync()).toMatchObject({ outcome: "complete" });
    expect(one.standIn.tokensIssued).toBe(1);
  });

  test("are tried three times for a call, however many other processes store and end", async () => {
    const one = await openForTest();
    await one.sync();
    const others = JSON.parse(readFileSync(accessFile(one), "utf8")) as object;
    let ended = 0;
    const endOthers = () => {
      writeFileSync(accessFile(one), JSON.stringify({ ...others, token: `others-${++ended}` }));
      return { status: 401, body: { error: "invalid_token" } };
    };
    one.standIn.plan(...Array.from({ length: 9 }, () => endOthers));
    const hint = expect.stringContaining("client id and secret") as string;
    expect(await one.sync()).toMatchObject({ outcome: "unauthenticated", error: { hint } });
    expect(ended).toBe(3);
  });

  // Fault: secrets | the service refuses the client id or secret | the token endpoint | the run ends as unauthenticated, and says where to look
  test("are not to be had with a wrong secret: the run says so, and asks nothing else", async () => {
    const one = await openForTest();
    one.standIn.plan(() => ({ status: 401, body: { error: "invalid_client" } }));
    const report = await one.sync();
    expect(report).toMatchObject({ outcome: "unauthenticated" });
    expect(report.error?.message).toContain("refused the client id or secret");
    expect(one.asked()).toEqual(["/oauth/token"]);
  });

  // Fault: secrets | an answer repeats the access token | an error body | it is in no log line and no report
  test("I9: are in no log and no report, nor is the secret, also where the service repeats them", async () => {
    const one = await openForTest();
    await one.sync();
    const { token } = JSON.parse(readFileSync(accessFile(one), "utf8")) as { token: string };
    const { client_secret: secret } = one.standIn.access;
    const echo = { status: 403, body: { error: "forbidden", error_description: `${token} ${secret}` } };
    one.standIn.plan(() => null, ...Array.from({ length: 9 }, () => () => echo));
    const report = await one.sync();
    const text = JSON.stringify(report) + one.said.join("\n");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(token);
    expect(text).not.toContain(secret);
  });
});

// Fault: limiter | a budget of five calls in half a second | the stand-in's limiter | the run waits for the next window, is complete, and no call is refused
test("I8: a run on a small budget waits for its windows, and no call is refused", async () => {
  const one = await openForTest({ limit: 5, windowMs: 500 }, "rate_limit: { window: 500ms }\n");
  expect(await one.sync()).toMatchObject({ outcome: "complete" });
  expect(one.standIn.visits.filter(({ status }) => status === 429)).toEqual([]);
});

const configOf = (company: string) => `connector: fakturoid\ncompanies:\n  acme:\n${company}`;

describe("the config", () => {
  const options = { connectors: [knownFakturoid] as const, env: { ID: "i", SECRET: "s" } };
  const credentials = '    credentials: { client_id: "${env:ID}", client_secret: "${env:SECRET}" }\n';

  test("wants account, contact and credentials, and no token", () => {
    const without = complaints(configOf('    token: "${env:ID}"\n'), options).join("\n");
    expect(without).toMatch(/account[^]*contact[^]*credentials/);
    const wrong = configOf(`    account: a b\n    contact: me\n${credentials}`);
    expect(complaints(wrong, options)).toHaveLength(2);
  });

  test("of another connector refuses what only this one obeys", () => {
    const token = 'companies:\n  acme:\n    token: "${env:TOKEN}"\n';
    expect(complaints(`${token}scrub: { lists: 7d }\n`).join("\n")).toContain("lists");
  });

  test("refuses quick runs, which a list of what changed makes needless, and files, which no record has", () => {
    const company = configOf(`    account: a\n    contact: a@b.cz\n${credentials}`);
    expect(complaints(`${company}schedule: { quick: "*/10 * * * *" }\n`, options)).toEqual([
      expect.stringContaining("unknown key quick in schedule"),
    ]);
    expect(fakturoid.resources.filter(({ files }) => files !== undefined)).toEqual([]);
    for (const key of ["pdf", "attachments"])
      expect(complaints(`${company}files: { ${key}: on }\n`, options)).toEqual([
        `config.yaml:7:10: unknown key ${key} in files; no record of this connector has files`,
      ]);
    expect(load(company, options).config.files).toMatchObject({ pdf: false, attachments: false });
  });

  test("refuses an export in a language that its words have no translation to, before anything runs", async () => {
    const company = configOf(`    account: a\n    contact: a@b.cz\n${credentials}`);
    const inSlovak = "exports: [{ format: xlsx, out: files, language: sk }]\n";
    const cwd = temporaryFolder({ "config.yaml": `${company}${inSlovak}` });
    const env = { ID: "0123456789", SECRET: "9876543210" };
    const { code, stderr } = await runCommand(["status"], { cwd, env });
    const said = expect.stringContaining("config.yaml:7:39: Fakturoid has no translation to sk");
    expect([code, stderr]).toEqual([2, said]);
  });

  test("is described by schema where it is read, and by what a refusal of it names", async () => {
    const company = configOf(`    account: a\n    contact: a@b.cz\n${credentials}`);
    const cwd = temporaryFolder({ "config.yaml": company, "wrong.yaml": `${company}scrub: { list: 7d }\n` });
    expect((await runCommand(["schema", "--tables"], { cwd })).stdout).toContain("## subjects");
    const { code, stderr } = await runCommand(["status", "--config", "wrong.yaml"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("schema --connector fakturoid` describes")]);
  });
});
