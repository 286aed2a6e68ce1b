import path from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { count } from "../../support/truth/compare.ts";
import { serve, writeServeConfig } from "../../support/program/serve.ts";
import { inMirror, statusOf } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

const missing = `SELECT count(*) FROM invoices i WHERE _deleted_at IS NULL AND NOT EXISTS
  (SELECT 1 FROM document_files f WHERE f.document = 'invoices' AND f.document_id = i.id)`;

const isFile = ({ path: asked }: { readonly path: string }) => /\/(?:pdf|attachments)$/.test(asked);

const filesInReport = ({ folder }: Company) =>
  count(
    path.join(folder, "acme.report.db"),
    "SELECT count(*) FROM document_files WHERE document = 'invoices'",
  );

test("after its run `serve` fetches the files, and the report names them", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, "schedule: { sync: off }\nfiles: { pdf: on }");
  const daemon = await serve(company);
  const invoices = () => Number(inMirror(company, "SELECT count(*) FROM invoices"));
  await eventually(() => invoices() > 0 && inMirror(company, missing) === 0, "the files");
  await eventually(() => filesInReport(company) === invoices(), "the report");
  expect(company.proxy.asked.filter(({ path: asked }) => asked.endsWith("/attachments"))).toEqual([]);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  const { after_run: steps, files } = await statusOf(company);
  expect(steps).toContainEqual(expect.objectContaining({ step: "files", error: null }));
  expect(files).toMatchObject({ pending: 0, problems: 0 });
});

test("`sync` fetches files last of all, and the report names them", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, "files: { pdf: on, attachments: on }\nschedule: { publish: after_sync }");
  const { code, stderr } = await runCommand(["sync"], { cwd: company.folder });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(inMirror(company, missing)).toBe(0);
  expect(filesInReport(company)).toBe(inMirror(company, "SELECT count(*) FROM invoices"));
  const first = company.proxy.asked.findIndex(isFile);
  const later = company.proxy.asked.slice(first).filter((asked) => !isFile(asked));
  expect(later.map(({ path: asked }) => asked)).toEqual([]);
});
