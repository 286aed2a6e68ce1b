import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../support/program/cli.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { expectEqual, expectReplayable } from "../support/truth/equal.ts";
import { serve, writeServeConfig } from "../support/program/serve.ts";
import { deliver, eventAbout, secret } from "../support/program/deliveries.ts";
import { inMirror, wholeRuns } from "../support/company/served-company.ts";
import { eventually } from "../support/eventually.ts";

/** Runs a command, which must succeed. */
async function succeed(company: Company, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(args, { cwd: company.folder });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
}

/** The config takes the webhook secret from a file, as `webhooks create` leaves it. */
function writeKeyConfig(company: Company, more = ""): string {
  const key = path.join(company.folder, "acme.webhook-secret");
  writeFileSync(key, `${secret}\n`, { mode: 0o600 });
  writeServeConfig(company, more, [
    { name: "acme", token: company.sandbox.token, secrets: [`\${file:${key}}`] },
  ]);
  return key;
}

function lose(company: Company): void {
  for (const name of readdirSync(company.folder))
    if (name.startsWith("acme.")) rmSync(path.join(company.folder, name), { recursive: true });
}

// Fault: disk | mirror, keys and documents are lost | the data folder, after a backup beside `serve` | restored from the backup, the next run reads what was lost; the mirror equals the service
test("a restored mirror is equal to the service after one run, whatever changed since its backup", async () => {
  const company = await aCompany({ records: 5 });
  const key = writeKeyConfig(company);
  const backups = path.join(company.folder, "backups");
  const document = path.join(company.folder, "acme.files/invoices/1.pdf");
  mkdirSync(path.dirname(document), { recursive: true });
  writeFileSync(document, "%PDF");
  let daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 1, "a run");
  const { control } = company.sandbox;
  const created = Number(control.create("clients", { name: "Before the backup" }).id);
  expect(await deliver(daemon, eventAbout("clients.created", "client", created))).toBe(204);
  await succeed(company, "backup", "--to", backups);

  // What only the lost mirror knew: an event that the service will not send again.
  const late = Number(control.create("clients", { name: "After the backup" }).id);
  expect(await deliver(daemon, eventAbout("clients.created", "client", late))).toBe(204);
  const lateRow = () => inMirror(company, "SELECT count(*) FROM clients WHERE id = ?", late);
  await eventually(() => lateRow() === 1, "the record of the late event");
  const lastSeq = Number(inMirror(company, "SELECT max(seq) FROM _change_log"));
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  control.remove("clients", created);
  lose(company);

  await succeed(company, "restore", "--from", backups);
  expect([readFileSync(key, "utf8"), readFileSync(document, "utf8")]).toEqual([`${secret}\n`, "%PDF"]);
  expect([lateRow(), wholeRuns(company)]).toEqual([0, 1]);
  expect(statSync(company.file).mode & 0o777).toBe(0o600);
  daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 2, "the run after the restore");
  expect(daemon.heard("a run is due")).toBe(true);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(lateRow()).toBe(1);
  expect(Number(inMirror(company, "SELECT max(seq) FROM _change_log"))).toBeGreaterThan(lastSeq);
  expectEqual(company);
  expectReplayable(company);
  await succeed(company, "verify", "--local");
});
