import { spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { QueryRunner } from "../../src/mcp/query-runner.ts";
import { liveIds } from "../support/verify/verify.ts";
import { openCompany, sync, type Company } from "../support/company/open-company.ts";
import { runCommand } from "../support/program/cli.ts";
import { processEnv, program } from "../support/program/process-env.ts";
import { writeServeConfig } from "../support/program/serve.ts";

/** With a report of its own, and a combined one. */
let company: Company;

beforeAll(async () => {
  company = await openCompany({ records: 12 });
  await sync(company);
  writeServeConfig(company);
  expect((await runCommand(["publish", "--combined"], { cwd: company.folder })).code).toBe(0);
});

afterAll(() => company.close());

/** A client of the SDK, as a desktop program starts the command. */
async function connect(...options: string[]) {
  const client = new Client({ name: "test", version: "1" });
  const started = { command: process.execPath, args: [program, "mcp", ...options], cwd: company.folder };
  await client.connect(new StdioClientTransport({ ...started, env: processEnv(), stderr: "ignore" }));
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [first] = content as { type: string; text: string }[];
    return { isError, text: first?.text ?? "" };
  };
  const query = async (sql: string) =>
    JSON.parse((await call("query", { sql })).text) as Record<string, unknown>;
  return { client, call, query };
}

test("an assistant finds what can be asked, asks it, and is told as of when and how whole each answer is", async () => {
  const { client, call, query } = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["views", "describe", "query", "freshness"]);
  expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, true, true]);
  const report = new Database(`${company.folder}/acme.report.db`, { readonly: true });
  const published = report.prepare("SELECT value FROM _about WHERE fact = 'published_at'").pluck().get();
  const stalest = report.prepare("SELECT min(value) FROM _about WHERE fact = 'fresh_at'").pluck().get();
  const fresh = { as_of: stalest, published_at: published, incomplete_tables: [], left_out_tables: [] };
  const views = JSON.parse((await call("views")).text) as {
    views: { name: string; question: string }[];
    questions: { sql: string }[];
  };
  expect(views).toMatchObject(fresh);
  expect(views.views.find(({ name }) => name === "v_receivables")?.question).toMatch(/\?$/);
  const described = JSON.parse((await call("describe", { name: "v_revenue_by_month" })).text) as {
    columns: { name: string; type: string }[];
  };
  expect(described).toMatchObject(fresh);
  // `bookkeeper.test.ts` asks them all.
  for (const { name } of views.views.slice(0, 4)) {
    const sql = `SELECT * FROM ${name}`;
    const { rows, columns } = await query(sql);
    const expected = report.prepare(sql).raw().all();
    expect({ name, rows }).toEqual({ name, rows: expected.slice(0, (rows as unknown[]).length) });
    const declared = report.prepare(sql).columns();
    expect(columns).toEqual(declared.map((column) => column.name));
  }
  report.close();
  expect(tools[0]?.description).toContain("give each :name a value");
  for (const { sql } of views.questions) {
    expect(await query(sql.replaceAll(/:\w+/g, "'2026-01'"))).toMatchObject(fresh);
    const isOpen = sql.includes(":");
    const asked = await call("query", { sql });
    expect([asked.isError, asked.text.includes("with values in it")]).toEqual([isOpen, isOpen]);
  }
  expect(await query("SELECT round(sum(total), 2) AS sum FROM invoices")).toMatchObject(fresh);
  expect(JSON.parse((await call("freshness")).text)).toMatchObject(fresh);
  const unknown = { isError: true, text: /no table or view nothing/ };
  expect(await call("describe", { name: "nothing" })).toMatchObject(unknown);
});

// Fault: process | a query of an assistant never ends, or fills the memory | the process that answers it | it is ended, the answer says so, and the next one is answered
test("a query that takes too long or too much is ended, what is cut of an answer is said, and the next one is answered", async () => {
  const { call, query } = await connect();
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n";
  const endless = `${numbers}) SELECT count(*) FROM n`;
  expect(await call("query", { sql: endless })).toMatchObject({ isError: true, text: /longer than 5 s/ });
  const large = `${numbers} LIMIT 900) SELECT group_concat(hex(randomblob(1000000))) FROM n`;
  expect(await call("query", { sql: large })).toMatchObject({ isError: true, text: /too much memory/ });
  const many = await query(`${numbers} LIMIT 1001) SELECT i FROM n`);
  expect(many).toMatchObject({ cut: "only the first 1000 rows" });
  const long = await query("SELECT hex(zeroblob(20000)) FROM banks LIMIT 2");
  expect(JSON.stringify(long).length).toBeLessThan(50_000);
  expect(JSON.stringify(long)).toContain("(40000 characters)");
});

test("what people wrote in the CRM is shown only where the config says so", async () => {
  const asked = "SELECT count(*), count(metadata_content) FROM contact_activity_logs";
  const without = await connect();
  const shown = (await without.query(asked))["rows"] as [[number, number]];
  expect(shown[0][0]).toBeGreaterThan(0);
  expect(shown[0][1]).toBe(0);
  for (const schema of ["main", "temp", "books"]) {
    const sql = `SELECT group_concat(metadata_content) FROM ${schema}.contact_activity_logs`;
    const { isError, text } = await without.call("query", { sql });
    if (!isError) expect(JSON.parse(text)).toMatchObject({ rows: [[null]] });
  }
  const config = readFileSync(`${company.folder}/config.yaml`, "utf8");
  writeFileSync(`${company.folder}/open.yaml`, `${config}\nmcp: { content: on }\n`);
  const withContent = await connect("--config", "open.yaml");
  const all = (await withContent.query(asked))["rows"] as [[number, number]];
  expect(all[0][1]).toBeGreaterThan(0);
});

test("each answer names the tables that the config leaves out, so that a view which lacks them is not believed", async () => {
  const config = readFileSync(`${company.folder}/config.yaml`, "utf8");
  writeFileSync(`${company.folder}/few.yaml`, `${config}\nresources: { exclude: [orders] }\n`);
  const { query, call } = await connect("--config", "few.yaml");
  const said = { left_out_tables: ["orders"] };
  expect(await query("SELECT 1")).toMatchObject(said);
  expect(JSON.parse((await call("views")).text)).toMatchObject(said);
});

test("all companies are answered from the combined report, which says which company a row is of", async () => {
  const { call, query } = await connect("--combined");
  // A question adds up what one company has.
  expect(JSON.parse((await call("views")).text)).toMatchObject({ questions: [] });
  const rows = [["acme", liveIds(company, "invoices").length]];
  expect(await query("SELECT company, count(*) FROM invoices GROUP BY 1")).toMatchObject({ rows });
});

test("a process that starts slowly, as on a busy machine, is waited for: that is no time of the query", async () => {
  vi.stubEnv("NODE_OPTIONS", "--import=data:text/javascript,await(new(Promise)(r=>setTimeout(r,6000)))");
  onTestFinished(() => void vi.unstubAllEnvs());
  using runner = new QueryRunner();
  const report = `${company.folder}/acme.report.db`;
  const { rows } = await runner.answer({ report, shown: {}, mirrored: [], sql: "SELECT 1" });
  expect(rows).toEqual([[1]]);
});

// Fault: process | a message of an assistant is larger than 10 MB | standard input | the command ends with exit code 1, and does not wait deaf
test("a message that is too large ends the command, and leaves no assistant waiting", () => {
  const options = { cwd: company.folder, env: processEnv(), input: "x".repeat(11_000_000), timeout: 30_000 };
  expect(spawnSync(process.execPath, [program, "mcp"], options).status).toBe(1);
});

test("an assistant that hangs up while its questions wait leaves no process behind", () => {
  const clientInfo = { name: "test", version: "1" };
  const opening = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const query = { name: "query", arguments: { sql: "SELECT 1" } };
  const messages = [
    { id: 1, method: "initialize", params: opening },
    { method: "notifications/initialized" },
    ...[2, 3, 4].map((id) => ({ id, method: "tools/call", params: query })),
  ];
  const input = messages.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join("");
  const options = { cwd: company.folder, env: processEnv(), input, timeout: 30_000 };
  expect(spawnSync(process.execPath, [program, "mcp"], options).status).toBe(0);
});

// Fault: process | the process that answers an assistant's questions is killed between two of them | SIGKILL | the next question is answered by another one
test("a question after the death of what answers is answered by another process", async () => {
  using runner = new QueryRunner();
  const question = { report: `${company.folder}/acme.report.db`, shown: {}, mirrored: [], sql: "SELECT 7" };
  expect((await runner.answer(question)).rows).toEqual([[7]]);
  const { child } = runner as unknown as { readonly child: ChildProcess };
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect((await runner.answer(question)).rows).toEqual([[7]]);
});
