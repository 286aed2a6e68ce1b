import { readdirSync, appendFileSync, existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCommand, createTestInvocation } from "../support/program/cli.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { forbidden, jsonReply } from "../support/company/proxy.ts";
import { writeServeConfig, serveHere } from "../support/program/serve.ts";
import { secret } from "../support/program/deliveries.ts";
import { wholeRuns } from "../support/company/served-company.ts";
import { look } from "../support/truth/compare.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { truthOf } from "../support/truth/truth.ts";
import { hasty, verify, named, wound, liveIds } from "../support/verify/verify.ts";
import { systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { eventually } from "../support/eventually.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { comparedReads } from "../../src/verify/verification.ts";
import { portToKeep } from "../support/program/serve-process.ts";

test("I11: an untouched mirror matches, with every detail and with a sample, and a repair of it writes no change; status says what the last verify found, and nothing of another mirror's", async () => {
  const company = await aMirroredCompany();
  const all = await verify(company, ["--all"]);
  expect([all.report.uncompared, all.report.resumed]).toEqual([[], null]);
  expect(named(all.report)).toEqual([]);
  expect([all.code, all.report.match]).toEqual([0, true]);
  expect(all.report.details_compared).toBe(all.report.details_total);
  for (const { service, mirror } of Object.values(all.report.resources)) expect(service).toBe(mirror);
  const some = await verify(company, ["--sample", "5", "--repair"]);
  expect([some.code, some.report.details_compared, some.report.match]).toEqual([0, 5, true]);
  expect(some.report.repair).toBeNull();
  const status = async (...more: string[]) =>
    (await runCommand(["status", ...more], { cwd: company.folder })).stdout;
  const read = async () =>
    JSON.parse(await status("--json")) as { companies: { acme: { verified: unknown } } };
  const by = { match: true, by: "verify --sample 5 --repair", differences: 0, details_compared: 5 };
  expect((await read()).companies.acme.verified).toMatchObject(by);
  expect(await status()).toMatch(/proved equal .* ago by `verify --sample 5 .*`, 5 of \d+ details compared/);
  expect((await sync(company)).resources["invoices"]).toMatchObject({ inserted: 0, updated: 0, deleted: 0 });
  wound(company, "UPDATE clients SET name = 'nobody' WHERE id = (SELECT min(id) FROM clients)");
  await verify(company, ["--sample", "3"]);
  expect(await status()).toContain("! `verify --sample 3` found 1 record that differs");
  wound(company, "UPDATE _meta SET value = json_set(value, '$.salt', 'other') WHERE key = 'identity'");
  expect((await read()).companies.acme.verified).toBeNull();
});

test("records without a list of their own are counted as the service has them, whatever is wrong in the mirror", async () => {
  const company = await aMirroredCompany();
  const table = "document_payments";
  const [rawless, rowless, deleted, unknown, removed = 0] = liveIds(company, table);
  wound(company, `DELETE FROM _raw_${table} WHERE id = ?`, rawless);
  wound(company, `DELETE FROM ${table} WHERE id = ?`, rowless);
  wound(company, `UPDATE ${table} SET _deleted_at = 'x' WHERE id = ?`, deleted);
  for (const one of [table, `_raw_${table}`, `_fence_${table}`])
    wound(company, `DELETE FROM ${one} WHERE id = ?`, unknown);
  wound(company, `INSERT INTO ${table} (id, _synced_at) VALUES (990001, 'x')`);
  wound(company, `UPDATE _fence_${table} SET id = 990002 WHERE id = ?`, rawless);
  company.sandbox.control.remove(table, removed);
  const { report } = await verify(company, ["--all"]);
  const { extra = [], service } = report.resources[table] ?? {};
  expect(extra.map(({ id }) => id)).toEqual([rawless, removed, 990001, 990002]);
  expect(service).toBe(truthOf(company.sandbox).get(table)?.size);
});

test("a change that no list shows is found with every detail, and by the sample of those read longest ago", async () => {
  const company = await aMirroredCompany();
  const [stale] = liveIds(company, "invoices");
  const [client] = liveIds(company, "clients");
  company.sandbox.control.alter("invoices", stale ?? 0, { note: "added later" });
  const { id: log } = company.sandbox.control.create("contact_activity_logs", {
    clientId: client,
    type: "note",
    metadata: { content: "called" },
  }) as { id: number };
  expect(named((await verify(company, ["--sample", "0"])).report)).toEqual([]);
  const all = await verify(company, ["--all"]);
  const both = [`contact_activity_logs ${log} missing`, `invoices ${stale} different note`];
  expect(named(all.report)).toEqual(both);
  expect(all.code).toBe(1);
  wound(company, "UPDATE _fence_invoices SET read_at = 1 WHERE id = ?", stale);
  const some = await verify(company, ["--sample", "2"]);
  expect(named(some.report)).toContain(`invoices ${stale} different note`);
});

// Fault: service | 403, and a proxy's 404 page, for two records | a proxy, while `verify` compares | exit 3: neither is named, both are said not to be compared
test("what the service does not answer is never taken for gone, and nothing but the result is left (I5)", async () => {
  const company = await aMirroredCompany();
  const [refused = 0, hidden = 0] = liveIds(company, "invoices");
  company.proxy.obstruct(({ path }) => {
    if (path === `/invoices/${refused}`) return forbidden;
    return path === `/invoices/${hidden}` ? jsonReply(404, "<h1>Not Found</h1>") : undefined;
  });
  const { code, report } = await verify(company, ["--all"], { clock: hasty });
  expect({ code, named: named(report) }).toEqual({ code: 3, named: [] });
  expect(report.uncompared.map(({ id }) => id)).toEqual([refused, hidden]);
  expect(readdirSync(company.folder).filter((name) => /shown|compared/.test(name))).toEqual([]);
});

const idAt = (end: "min" | "max", table: string) =>
  `(SELECT ${end}(id) FROM ${table} WHERE _deleted_at IS NULL)`;

test("--local names damage without a request; --repair heals rows, the next run JSON of every kind (I11)", async () => {
  const company = await aMirroredCompany({}, { full: true, parentsPerRun: "all" });
  const invoice = liveIds(company, "invoices").at(-1);
  wound(company, `UPDATE invoices SET total = total + 1 WHERE id = ${idAt("max", "invoices")}`);
  wound(company, `DELETE FROM clients WHERE id = ${idAt("max", "clients")}`);
  wound(company, "DELETE FROM order_items WHERE position = 0");
  wound(company, `DELETE FROM _raw_clients WHERE id = ${idAt("min", "clients")}`);
  const others =
    "invoices document_payments banks company numerical_series price_list_items contact_activity_logs";
  for (const table of others.split(" "))
    wound(company, `UPDATE _raw_${table} SET json = '{}' WHERE id = ${idAt("min", table)}`);
  const { code, report } = await verify(company, ["--local"]);
  expect([code, report.match]).toEqual([1, false]);
  const wrongTotal = expect.objectContaining({ id: invoice, field: "total" });
  expect(report.resources["invoices"]?.different).toContainEqual(wrongTotal);
  for (const table of ["clients", "orders", ...others.split(" ")])
    expect(report.resources[table], table).not.toMatchObject({ missing: [], extra: [], different: [] });
  const repaired = (await verify(company, ["--local", "--repair"])).report;
  expect(repaired).toMatchObject({ match: false });
  expect(repaired.resources["invoices"]?.different).not.toContainEqual(wrongTotal);
  expect(look(company.file, (db) => db.prepare("SELECT count(*) FROM _work").pluck().get())).toBe(8);
  expect(company.sandbox.requests()).toHaveLength(0);
  await sync(company);
  expect((await verify(company, ["--local"])).report).toMatchObject({ match: true });
  expectEqual(company);
  wound(company, `UPDATE invoices SET total = total + 1 WHERE id = ${idAt("max", "invoices")}`);
  const said = await runCommand(["verify", "--local", "--repair"], { cwd: company.folder });
  expect(said.stdout).toMatch(/fits together[^]*1 record was repaired; `fintoro-mirror publish`/);
});

const comparedFile = ({ folder }: Company) => `${folder}/acme.compared.jsonl`;

function comparedInvoices(company: Company): number[] {
  const lines = readFileSync(comparedFile(company), "utf8").trimEnd().split("\n").slice(1);
  const keys = lines.map((line) => (JSON.parse(line) as string[])[0] ?? "");
  return keys.filter((key) => key.startsWith("invoices ")).map((key) => Number(key.split(" ")[1]));
}

// Fault: process | SIGINT in the middle of `verify --all` | the command, in process | exit 130; the next one compares the rest, and of what was compared what has changed since, and says when that was
test("Ctrl-C ends it with 130; the next one reads what is left, what changed since and what was damaged, and says since when the rest was compared", async () => {
  const company = writeServeConfig(await aMirroredCompany({ records: 6 }));
  const parts = { commands, clock: systemClock, cwd: company.folder };
  const { run, signals } = createTestInvocation(["verify", "--all"], parts);
  const isUnderWay = () => existsSync(comparedFile(company)) && comparedInvoices(company).length > 3;
  const interruption = Promise.withResolvers<void>();
  const remove = company.proxy.obstruct(async (_asked, passOn) => {
    if (isUnderWay()) await interruption.promise;
    return passOn();
  });
  const ended = run();
  await eventually(isUnderWay, "some details");
  signals.emit("SIGINT");
  interruption.resolve();
  expect((await ended).code).toBe(130);
  expect(`${company.folder}/acme.verified.json`).not.toSatisfy(existsSync);
  remove();

  const compared = comparedInvoices(company);
  const [changed = 0, damaged = 0] = compared;
  company.sandbox.control.alter("invoices", changed, { note: "added later" });
  await sync(company, { full: true });
  company.sandbox.control.alter("invoices", changed, { note: "and again" });
  wound(company, "UPDATE invoice_items SET quantity = 99.5 WHERE invoice_id = ? AND position = 0", damaged);
  const from = company.proxy.asked.length;
  const { report, code } = await verify(company, ["--all"]);
  const both = [`${changed} different note`, `${damaged} different invoice_items[0].quantity`];
  expect([code, named(report)]).toEqual([1, both.map((one) => `invoices ${one}`).toSorted()]);
  expect(report.details_compared).toBe(report.details_total);
  const { since = "", details = 0 } = report.resumed ?? {};
  expect(details).toBeGreaterThanOrEqual(compared.length - 2);
  expect(Date.parse(since)).toBeLessThan(Date.parse(report.started_at));
  const again = new Set(company.proxy.asked.slice(from).map(({ path }) => path));
  const readAgain = compared.filter((id) => again.has(`/invoices/${id}`));
  expect(new Set(readAgain)).toEqual(new Set([changed, damaged]));
  const status = await runCommand(["status"], { cwd: company.folder });
  expect(status.stdout).toContain(`details compared since ${since}`);
  expect(comparedFile(company)).not.toSatisfy(existsSync);
});

test("it begins anew for another command, for another mirror, and after a day; a line that was cut says nothing", () => {
  const file = `${tempFolder()}/acme.compared.jsonl`;
  const [one, other] = [1, 2].map((id) => ({ resource: "invoices", id, listOf: null }));
  const compared = (mirror = "a", by = "verify --all", afterMs = 0) =>
    comparedReads(file, { mirror, by }, { ...systemClock, nowMs: () => Date.now() + afterMs });
  const resumes = (...asked: Parameters<typeof compared>) => {
    compared().add(one!, "state");
    appendFileSync(file, '["invoices 2');
    const { since, has } = compared(...asked);
    return [since !== null, has(one!, "state"), has(one!, "changed"), has(other!, "state")];
  };
  expect(resumes()).toEqual([true, true, false, false]);
  expect(resumes("b")).toEqual([false, false, false, false]);
  expect(resumes("a", "verify --sample 2")).toEqual([false, false, false, false]);
  expect(resumes("a", "verify --all", 25 * 3_600_000)).toEqual([false, false, false, false]);
});

// Fault: service | ten changes a second while `verify` compares | the sandbox | only records that changed are named
test("without webhooks, with ten changes a second, only records that changed are named", async () => {
  const company = await aMirroredCompany({ records: 20 });
  const before = truthOf(company.sandbox);
  const day = company.sandbox.control.day({ changes: 10, durationMs: 1_000, seed: 6 });
  const found = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const { report } = await verify(company, ["--all"]);
    for (const line of named(report)) found.add(line.split(" ").slice(0, 2).join(" "));
    expect(report.uncompared).toEqual([]);
  }
  await day.done;
  const after = truthOf(company.sandbox);
  const isChanged = ([table = "", id = ""]: string[]) =>
    before.get(table)?.get(id)?.text !== after.get(table)?.get(id)?.text;
  expect([...found].filter((record) => !isChanged(record.split(" ")))).toEqual([]);
  expect(found.size).toBeGreaterThan(0);
});

test("beside serve, with ten changes a second, what events keep current is never named", async () => {
  const port = await portToKeep();
  const url = `http://127.0.0.1:${port}/webhooks/acme`;
  const company = await aCompany({ records: 8, webhooks: [{ url, secret }], retryScale: 0.008 });
  const { control } = company.sandbox;
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  await serveHere(company, { args: ["--listen", `127.0.0.1:${port}`] });
  await eventually(() => wholeRuns(company) === 1, "a first whole run");
  const before = control.events().length;
  const running = { isOver: false };
  const day = control.day({ changes: 15, durationMs: 1_500, seed: 5 });
  const ended = day.done.finally(() => (running.isOver = true));
  const found: string[] = [];
  for (let i = 0; i < 100 && !running.isOver; i++) {
    const { report } = await verify(company, ["--all"], { clock: hasty });
    found.push(...named(report), ...report.uncompared.map(({ message }) => message));
  }
  expect(found).toEqual([]);
  expect(control.events().length - before).toBeGreaterThan(10);
  await ended;
});
