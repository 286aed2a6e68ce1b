import path from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { aCompany } from "../support/company/company.ts";

const config = (url: string) =>
  `base_url: ${url}\ndata_dir: .\ncompanies: { acme: { token: "\${env:TOKEN}" } }\nhttp: { patience: 100ms }\n`;

test("a quiet command of upkeep prints nothing when it is complete, and what it found when it is not", async () => {
  const { proxy, sandbox } = await aCompany({ records: 1 });
  const cwd = temporaryFolder({ "config.yaml": config(proxy.baseUrl) });
  const env = { TOKEN: sandbox.token };
  await runCommand(["sync", "-q"], { cwd, env });
  for (const line of ["verify --local", "publish --combined"]) {
    const { code, stdout, stderr } = await runCommand(["-q", ...line.split(" ")], { cwd, env });
    expect({ line, code, stdout, stderr }).toEqual({ line, code: 0, stdout: "", stderr: "" });
  }
  const db = new Database(path.join(cwd, "acme.db"));
  db.exec("UPDATE clients SET name = 'another'");
  db.close();
  const wounded = await runCommand(["-q", "verify", "--local"], { cwd, env });
  expect(wounded).toMatchObject({ code: 1, stdout: expect.stringContaining("clients") });
});

test("a quiet sync that succeeds prints nothing, for cron mails what is printed; one that does not says why", async () => {
  const { proxy, sandbox } = await aCompany({ records: 1 });
  const cwd = temporaryFolder({ "config.yaml": `${config(proxy.baseUrl)}schedule: { publish: off }\n` });
  const env = { TOKEN: sandbox.token };
  const args = ["sync", "--quiet"];
  expect(await runCommand(args, { cwd, env })).toEqual({ code: 0, stdout: "", stderr: "" });
  // A record of an event, to be read once more in a minute.
  const db = new Database(path.join(cwd, "acme.db"));
  const recheck =
    "INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq) VALUES (?, ?, ?, ?, ?, ?, 0)";
  db.prepare(recheck).run("clients", "1", "detail", 0, Date.now() + 60_000, "recheck");
  db.close();
  expect(await runCommand(args, { cwd, env })).toEqual({ code: 0, stdout: "", stderr: "" });
  const limited = await runCommand(["--quiet", "sync", "--full", "--max-requests", "1"], { cwd, env });
  expect(limited.code).toBe(5);
  expect(limited.stdout).toMatch(/^acme: stopped/);
});
