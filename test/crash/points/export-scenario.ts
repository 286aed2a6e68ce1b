import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ExportManifest } from "../../../src/export/files/export-manifest.ts";
import { differingNames, filesBelow, runToDie, succeed, type CrashScenario } from "./crash-scenario.ts";
import { changeMirror, clientsFolder, undisturbed } from "./publish-scenario.ts";

const months = ["2024-01-15", "2025-02-20", "2026-03-25"];

/**
 * An `export` over an earlier one: some files change, some are new, some no longer belong.
 *
 * @param format `csv`: in parts by year; `parquet`: by workers
 */
export async function exportScenario(format: "csv" | "parquet"): Promise<CrashScenario> {
  const base = await clientsFolder(50);
  const parts = format === "csv" ? ["--partition-by", "year"] : [];
  const exported = ["export", "clients", "invoices", "--format", format, ...parts, "--out", "out"];
  await changeMirror(base, ({ db }) => {
    const insert = db.prepare("INSERT INTO invoices (id, issue_date, _synced_at) VALUES (?, ?, '')");
    months.slice(0, 2).forEach((month, index) => insert.run(index + 1, month));
  });
  await succeed(base, exported);
  await changeMirror(base, ({ db }) => {
    db.exec("DELETE FROM invoices WHERE id = 1; UPDATE clients SET name = 'changed' WHERE id = 7");
    db.prepare("INSERT INTO invoices (id, issue_date, _synced_at) VALUES (3, ?, '')").run(months[2]);
  });
  const before = digests(base);
  const { names, after } = await undisturbed(base, exported, digests);

  const halves = (folder: string) =>
    [...digests(folder)]
      .filter(([file, digest]) => digest !== before.get(file) && digest !== after.get(file))
      .map(([file]) => `neither the earlier file nor the new one: ${file}`);
  return {
    countsStatements: false,
    base,
    run: (attempt) => runToDie(attempt, exported),
    afterCrash: ({ folder }) => halves(folder),
    finish: async ({ folder }) => {
      await succeed(folder, exported);
      const found = digests(folder);
      const wrong = [...after].filter(([file, digest]) => found.get(file) !== digest);
      return [
        ...wrong.map(([file]) => `not as without a crash: ${file}`),
        ...wrongFiles(path.join(folder, "out")),
        ...differingNames(names, filesBelow(folder)),
      ];
    },
  };
}

/** Of the files that readers see; the manifest holds the time. */
function digests(folder: string): Map<string, string> {
  const out = path.join(folder, "out");
  const visible = filesBelow(out).filter(
    (file) => !file.startsWith(".") && !/\/manifest\.json(?:\.new)?$/.test(file),
  );
  return new Map(visible.map((file) => [file, digestOf(path.join(out, file))]));
}

const digestOf = (file: string) => hash("sha256", readFileSync(file), "hex");

/** Files that differ from the manifest, and the manifest where there is none. */
export function wrongFiles(out: string): string[] {
  const folder = path.join(out, "acme");
  if (!existsSync(path.join(folder, "manifest.json"))) return ["manifest.json"];
  const { files } = JSON.parse(readFileSync(path.join(folder, "manifest.json"), "utf8")) as ExportManifest;
  const isRight = ({ file, sha256 }: ExportManifest["files"][number]) =>
    existsSync(path.join(folder, file)) && digestOf(path.join(folder, file)) === sha256;
  return files.filter((each) => !isRight(each)).map(({ file }) => file);
}
