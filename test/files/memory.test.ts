import path from "node:path";
import { expect, test } from "vitest";
import { zipOf } from "../../connectors/fintoro/sandbox/resources/record-files.ts";
import { aCompany, sync } from "../support/company/company.ts";
import { runProgram } from "../support/program/cli.ts";
import { peakBytesIn, peakReporter } from "../support/program/peak-memory.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { look } from "../support/truth/compare.ts";

const megabyte = 1_000_000;

/** As large as an answer may be. */
function aLargePdf(): Buffer {
  const content = Buffer.alloc(95 * megabyte, 32);
  content.write("%PDF-1.7\n");
  content.write("%%EOF", content.length - 5);
  return content;
}

function anArchive(sizeBytes: number): Buffer {
  const contents = [1, 2].map((value) => Buffer.alloc(sizeBytes, value));
  const atMs = Date.UTC(2026, 9, 5);
  return zipOf(contents.map((content, index) => ({ name: `${index}.bin`, content, atMs })));
}

const reply = (type: string, body: Buffer) => ({ status: 200, headers: { "content-type": type }, body });

/** The real program in a folder; gives its exit code and the most memory that it ever had. */
async function runMeasured(folder: string, args: readonly string[]) {
  const file = path.join(folder, "peak");
  const { code } = await runProgram(args, { cwd: folder, nodeOptions: ["--import", peakReporter(file)] });
  return { code, peakBytes: peakBytesIn(file) };
}

// Fault: files | PDFs and archives as large as they may be, several at once | the routes of files, under the real program | fetched and checked within 512 MB of memory
test("files as large as they may be are fetched and checked within 512 MB", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(
    company,
    "files: { pdf: on, attachments: on }\nresources: { include: [invoices, clients, contact_activity_logs] }",
  );
  await sync(company);
  const [pdf, archive, small] = [aLargePdf(), anArchive(45 * megabyte), anArchive(45)];
  let archives = 0;
  company.proxy.obstruct(({ path: asked }) => {
    if (asked.endsWith("/pdf")) return reply("application/pdf", pdf);
    if (!asked.endsWith("/attachments")) return undefined;
    return reply("application/zip", ++archives > 2 ? small : archive);
  });
  const sql = "SELECT DISTINCT size_bytes FROM document_files ORDER BY 1";
  const sizes = () => look(company.file, (db) => db.prepare(sql).pluck().all());
  for (const args of [["files"], ["files", "check"]]) {
    const { code, peakBytes } = await runMeasured(company.folder, args);
    expect([code, sizes()]).toEqual([0, [45, 45 * megabyte, pdf.length]]);
    // The two of each together are larger.
    expect(peakBytes).toBeLessThan(350 * megabyte);
  }
});
