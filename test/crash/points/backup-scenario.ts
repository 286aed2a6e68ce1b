import { program } from "../../support/program/process-env.ts";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openDatabase } from "../../../src/store/database.ts";
import { endOf } from "../../support/program/cli.ts";
import { startToDie, type CrashScenario } from "./crash-scenario.ts";
import { changeMirror, clientsFolder, succeed } from "./publish-scenario.ts";

const config = ["--config", "config.yaml"];
const backup = [program, "backup", "--to", "backups", "--keep", "1", ...config];
const restore = [program, "restore", "--from", "backups", ...config];

/** A `backup` over an earlier one, which it removes, or a `restore` over a mirror that changed since. */
export async function backupScenario(what: "backup" | "restore"): Promise<CrashScenario> {
  const base = await clientsFolder(50);
  await changeMirror(base, ({ meta }) =>
    meta.set("identity", { name: "Acme", salt: "salt", fingerprint: "f", businessId: null }),
  );
  mkdirSync(path.join(base, "acme.files"));
  writeFileSync(path.join(base, "acme.files/1.pdf"), "%PDF");
  await succeed(base, backup);
  await changeMirror(base, ({ db }) => db.exec("UPDATE clients SET name = 'changed'"));
  if (what === "restore") rmSync(path.join(base, "acme.files"), { recursive: true });
  const args = what === "backup" ? backup : restore;
  const damage = what === "backup" ? damagedBackups : damagedMirror;
  return {
    name: what,
    countsStatements: true,
    base,
    run: (attempt) => endOf(startToDie(attempt, args)),
    afterCrash: ({ folder }) => damage(folder),
    finish: async ({ folder }) => {
      await succeed(folder, args);
      const wrong = what === "backup" ? onlyOne(folder) : restored(folder);
      const names = readdirSync(folder).filter((name) => /^\.acme\.(?:backup|restore)$/.test(name));
      return [...damage(folder), ...wrong, ...names.map((name) => `left over: ${name}`)];
    },
    close: () => {
      rmSync(base, { recursive: true, force: true });
      return Promise.resolve();
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

/** Names of all clients, once each; what SQLite finds comes first. */
function namesIn(folder: string): { readonly found: unknown; readonly names: readonly string[] } {
  const db = openDatabase(path.join(folder, "acme.db"), { readonly: true });
  try {
    const found = db.pragma("integrity_check", { simple: true });
    return { found, names: db.prepare("SELECT name FROM clients ORDER BY id").pluck().all() as string[] };
  } finally {
    db.close();
  }
}

const isOld = (names: readonly string[]) => names.length === 50 && names.every((name) => name === "changed");
const isRestored = (names: readonly string[]) =>
  names.length === 50 && names.every((name, index) => name === `client ${index + 1}`);

function damagedMirror(folder: string): string[] {
  const { found, names } = namesIn(folder);
  if (found !== "ok") return [`the mirror is damaged: ${String(found)}`];
  return isOld(names) || isRestored(names) ? [] : ["the mirror is neither the earlier one nor the backup"];
}

function restored(folder: string): string[] {
  const document = path.join(folder, "acme.files/1.pdf");
  return [
    ...(isRestored(namesIn(folder).names) ? [] : ["the mirror is not the backup"]),
    ...(existsSync(document) && readFileSync(document, "utf8") === "%PDF"
      ? []
      : ["the document is not there"]),
  ];
}
