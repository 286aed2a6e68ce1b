import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { storePdf } from "../../support/company/stored-file.ts";
import { runToDie, soundly, succeed, type CrashScenario } from "./crash-scenario.ts";
import { changeMirror, clientsFolder } from "./publish-scenario.ts";

const config = ["--config", "config.yaml"];
const backup = ["backup", "--to", "backups", "--keep", "1", ...config];
const restore = ["restore", "--from", "backups", ...config];

/** A `backup` over an earlier one, which it removes, or a `restore` over a mirror that changed since. */
export async function backupScenario(what: "backup" | "restore"): Promise<CrashScenario> {
  const base = await clientsFolder(50);
  await changeMirror(base, ({ meta }) =>
    meta.set("identity", { name: "Acme", salt: "salt", fingerprint: "f", businessId: null }),
  );
  storePdf(path.join(base, "acme.files"));
  await succeed(base, backup);
  await changeMirror(base, ({ db }) => db.exec("UPDATE clients SET name = 'changed'"));
  if (what === "restore") rmSync(path.join(base, "acme.files"), { recursive: true });
  const args = what === "backup" ? backup : restore;
  const damage = what === "backup" ? damagedBackups : damagedMirror;
  return {
    countsStatements: true,
    base,
    run: (attempt) => runToDie(attempt, args),
    afterCrash: ({ folder }) => damage(folder),
    finish: async ({ folder }) => {
      await succeed(folder, args);
      const wrong = what === "backup" ? onlyOne(folder) : restored(folder);
      const names = readdirSync(folder).filter((name) => /^\.acme\.(?:backup|restore)$/.test(name));
      return [...damage(folder), ...wrong, ...names.map((name) => `left over: ${name}`)];
    },
  };
}

const foldersIn = (folder: string) => readdirSync(path.join(folder, "backups/acme"));
const finishedIn = (folder: string) =>
  foldersIn(folder).filter((name) => existsSync(path.join(folder, "backups/acme", name, "manifest.json")));

function damagedBackups(folder: string): string[] {
  const finished = finishedIn(folder);
  if (finished.length === 0) return ["there is no backup any more"];
  return finished.flatMap((id) => {
    const own = path.join(folder, "backups/acme", id);
    const manifest = JSON.parse(readFileSync(path.join(own, "manifest.json"), "utf8")) as {
      readonly files: readonly { readonly file: string; readonly sha256: string }[];
    };
    const isRight = (file: string, sha256: string) =>
      existsSync(path.join(own, file)) &&
      hash("sha256", readFileSync(path.join(own, file)), "hex") === sha256;
    return manifest.files.flatMap(({ file, sha256 }) =>
      isRight(file, sha256) ? [] : [`damaged: ${id}/${file}`],
    );
  });
}

const onlyOne = (folder: string) =>
  foldersIn(folder)
    .slice(1)
    .map((name) => `left over: ${name}`);

/** Names of all clients, each that there is once. */
const namesIn = (folder: string) =>
  soundly(
    path.join(folder, "acme.db"),
    "SELECT group_concat(name) FROM (SELECT name FROM clients ORDER BY id)",
  );
const names = (nameOf: (id: number) => string) => Array.from({ length: 50 }, (_, i) => nameOf(i + 1)).join();
const changed = names(() => "changed");
const backedUp = names((id) => `client ${id}`);

function damagedMirror(folder: string): string[] {
  const found = namesIn(folder);
  return found === changed || found === backedUp
    ? []
    : [`the mirror is neither the earlier one nor the backup: ${found.slice(0, 200)}`];
}

function restored(folder: string): string[] {
  const document = path.join(folder, "acme.files/2026/01/invoices/1.pdf");
  return [
    ...(namesIn(folder) === backedUp ? [] : ["the mirror is not the backup"]),
    ...(existsSync(document) && readFileSync(document, "utf8") === "%PDF"
      ? []
      : ["the document is not there"]),
  ];
}
