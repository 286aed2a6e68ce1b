import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { createTestInvocation, runCommand } from "../support/program/cli.ts";
import { aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { named, verify, wound } from "../support/verify/verify.ts";
import { eventually } from "../support/eventually.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { comparedReads } from "../../src/verify/compared-reads.ts";

const comparedFile = ({ folder }: Company) => `${folder}/acme.compared.jsonl`;

/** The ids of invoices whose details were compared. */
function comparedInvoices(company: Company): number[] {
  const lines = readFileSync(comparedFile(company), "utf8").trimEnd().split("\n").slice(1);
  const keys = lines.map((line) => (JSON.parse(line) as string[])[0] ?? "");
  return keys.filter((key) => key.startsWith("invoices ")).map((key) => Number(key.split(" ")[1]));
}

/** A mirror of which `verify --all` was stopped by Ctrl-C when it had compared some invoices. */
async function interrupted(): Promise<Company> {
  const company = await aMirroredCompany({ records: 6 });
  writeServeConfig(company);
  const parts = { commands, clock: systemClock, cwd: company.folder };
  const { run, signals } = createTestInvocation(["verify", "--all"], parts);
  const remove = company.proxy.obstruct(async (_asked, passOn) => {
    await systemClock.sleep(10);
    return passOn();
  });
  const ended = run();
  const isUnderWay = () => existsSync(comparedFile(company)) && comparedInvoices(company).length > 3;
  await eventually(isUnderWay, "some details");
  signals.emit("SIGINT");
  expect((await ended).code).toBe(130);
  expect(existsSync(`${company.folder}/acme.verified.json`)).toBe(false);
  remove();
  return company;
}

// Fault: process | SIGINT in the middle of `verify --all` | the command, in process | exit 130; the next one compares the rest only, and says what was compared before, and when
test("Ctrl-C ends it with 130; the next one reads what is left, and says since when the rest was compared", async () => {
  const company = await interrupted();
  const compared = comparedInvoices(company);
  const from = company.proxy.asked.length;
  const { report, code } = await verify(company, ["--all"]);
  expect([code, report.match]).toEqual([0, true]);
  expect(report.details_compared).toBe(report.details_total);
  const { since = "", details = 0 } = report.resumed ?? {};
  expect(details).toBeGreaterThanOrEqual(compared.length);
  expect(since < report.started_at).toBe(true);
  const again = new Set(company.proxy.asked.slice(from).map(({ path }) => path));
  expect(compared.filter((id) => again.has(`/invoices/${id}`))).toEqual([]);
  const status = await runCommand(["status"], { cwd: company.folder });
  expect(status.stdout).toContain(`details compared since ${since}`);
  expect(existsSync(comparedFile(company))).toBe(false);
  expect((await verify(company, ["--all"])).report.resumed).toBeNull();
});

test("what was compared before is compared again when the mirror's record changed since, or was damaged", async () => {
  const company = await interrupted();
  const [changed = 0, damaged = 0] = comparedInvoices(company);
  company.sandbox.control.alter("invoices", changed, { note: "added later" });
  await sync(company, { full: true });
  company.sandbox.control.alter("invoices", changed, { note: "and again" });
  wound(company, "UPDATE invoice_items SET quantity = 99.5 WHERE invoice_id = ? AND position = 0", damaged);
  const { report } = await verify(company, ["--all"]);
  expect(report.resumed?.details).toBeGreaterThan(0);
  expect(named(report)).toEqual(
    [
      `invoices ${changed} different note`,
      `invoices ${damaged} different invoice_items[0].quantity`,
    ].toSorted(),
  );
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
