import path from "node:path";
import { expect, test } from "vitest";
import type { RedactRule } from "../../src/store/snapshot/redaction.ts";
import { StoredFiles } from "../../src/state/files/stored-files.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { publish, publishedCompany, reading } from "../support/export/published.ts";

const redact: readonly RedactRule[] = [{ columns: "*.client_name", mode: "drop" }];

test("the report names the stored files as they are at each publish; never by what is redacted", async () => {
  const company = await publishedCompany({ records: "small" });
  try {
    const report = path.join(path.dirname(company.file), "files.report.db");
    const pathsIn = () => reading(report).prepare("SELECT path FROM document_files").pluck().all();
    const stored = new StoredFiles(company.mirror.db);
    const sha256 = "ab".repeat(32);
    const file = { document: "invoices", document_id: 7, kind: "pdf", size_bytes: 9, sha256 } as const;
    const fetched_at = "2026-11-22T00:00:00.000Z";
    const read = { ref: { resource: "invoices", id: 7 }, recordSha: "", readAtMs: 0, problem: null };
    for (const [lines, place] of [
      [1, "2026/10/invoices/1 Servis.pdf"],
      [2, "2026/10/invoices/1 Novák.pdf"],
    ] as const) {
      const position = { lines, bytes: lines, head: String(lines).repeat(64) };
      stored.replace(read, [{ ...file, path: place, fetched_at }], position);
      expect(await publish(company.mirror, { report })).toMatchObject({ outcome: "written" });
      expect(pathsIn()).toEqual([place]);
      expect(await publish(company.mirror, { report })).toMatchObject({ outcome: "unchanged" });
    }
    rememberIdentity(company.mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
    await publish(company.mirror, { report, redact });
    expect(pathsIn()).toEqual([`objects/ab/${sha256}`]);
  } finally {
    company.close();
  }
});
