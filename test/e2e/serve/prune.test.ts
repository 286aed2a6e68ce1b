import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { PruneReport } from "../../../src/state/retention/prune-mirror.ts";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany, sync, type Company } from "../../support/company/company.ts";
import { localDamage } from "../../support/mirror/local-check.ts";
import { serveHere, writeServeConfig } from "../../support/program/serve.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { inMirror, statusOf, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

const retention =
  "schedule: { publish: off, sync: off }\nretention: { runs: 30d, inbox_bodies: 30d, changes: 30d }";

async function run({ folder }: Company, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand(args, { cwd: folder });
  return { code, stdout, said: stderr };
}

async function pruned(company: Company, ...args: string[]) {
  const { code, stdout } = await run(company, "prune", "--json", ...args);
  const document = JSON.parse(stdout) as { companies: { acme: PruneReport } };
  return { code, ...document.companies.acme };
}

/** All that the mirror holds was read, and all its events came, 40 days ago. */
function makeOld({ file }: Company): void {
  const db = new Database(file);
  const old = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-40 days')";
  db.exec(`UPDATE _reads SET at = ${old}; UPDATE _inbox SET received_at = ${old};
    UPDATE _runs SET started_at = ${old}, finished_at = ${old} WHERE outcome IS NOT NULL`);
  db.close();
}

test("prune beside serve is made by serve, deliveries go on; what was removed is named wherever it is asked for", async () => {
  const company = writeServeConfig(await aCompany({ records: 8 }), retention);
  for (let again = 0; again < 3; again++) await sync(company);
  const daemon = await serveHere(company);
  const event = eventOf("clients.updated", 999_999);
  expect(await deliver(daemon, event)).toBe(204);
  const waiting = "SELECT count(*) FROM _inbox WHERE state = 'waiting'";
  await eventually(() => inMirror(company, waiting) === 0, "the event is read");
  await eventually(() => wholeRuns(company) === 4, "the run of serve");
  const changes = Number(inMirror(company, "SELECT count(*) FROM _change_log"));
  const lastSeq = Number(inMirror(company, "SELECT max(seq) FROM _change_log"));
  makeOld(company);

  const dry = await pruned(company, "--dry-run");
  const removed = { inbox_bodies: { rows: 1 }, changes: { rows: changes - 1 } };
  expect(dry).toMatchObject({ code: 0, dry_run: true, ...removed });
  expect(inMirror(company, "SELECT count(*) FROM _change_log")).toBe(changes);
  const done = await pruned(company);
  expect(done).toMatchObject({ code: 0, finished: true, changes: { ...dry.changes } });
  expect(done.runs).toEqual(dry.runs);
  expect(inMirror(company, "SELECT count(*) FROM _change_log")).toBe(1);
  expect(await deliver(daemon, event)).toBe(204);
  expect(inMirror(company, "SELECT count(*) FROM _inbox")).toBe(1);

  const asked = await run(company, "changes", "--since", "0");
  expect([asked.code, asked.stdout]).toEqual([1, ""]);
  expect(asked.said).toContain(`the change log begins at seq ${lastSeq}`);
  expect(asked.said).toContain(`--since ${lastSeq - 1} gives what is left`);
  const left = await run(company, "changes", "--since", String(lastSeq - 1));
  expect([left.code, left.stdout.trim().split("\n").length]).toEqual([0, 1]);
  const exported = await run(company, "export", "--since", String(lastSeq - 2), "--out", "files", "clients");
  expect([exported.code, exported.said]).toEqual([1, expect.stringContaining("without --since")]);
  const inbox = await run(company, "webhooks", "inbox", event.id);
  expect(inbox.stdout).toContain("the body was pruned");
  const replay = await run(company, "webhooks", "replay", event.id);
  expect([replay.code, replay.said]).toEqual([1, expect.stringContaining("were pruned")]);

  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(await localDamage(company)).toEqual([]);
  expect(await pruned(company)).toMatchObject({ code: 0, free_bytes: 0 });
  const bytes = inMirror(company, "SELECT page_count * 4096 FROM pragma_page_count");
  expect(statSync(company.file).size).toBe(bytes);
  const sizes = { free_bytes: 0, change_log: { rows: 1 }, inbox: { rows: 1 } };
  expect((await statusOf(company)).health).toMatchObject({ sizes });
  expect((await sync(company)).outcome).toBe("complete");
});
