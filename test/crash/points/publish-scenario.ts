import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { dump } from "../../support/truth/compare.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { put } from "../../support/mirror/store.ts";
import { differingNames, filesBelow, runToDie, soundly, succeed } from "./crash-scenario.ts";
import type { CrashScenario } from "./crash-scenario.ts";

const reportOf = (folder: string) => path.join(folder, "acme.report.db");
const publish = ["publish", "--config", "config.yaml"];

/** A folder with a config and a mirror of so many clients. */
export async function clientsFolder(clients: number): Promise<string> {
  const folder = memoryScratch().path;
  writeFileSync(path.join(folder, "config.yaml"), "data_dir: .\ncompanies: { acme: { token: fake } }\n");
  await changeMirror(folder, ({ db }) =>
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${clients})
    INSERT INTO clients (id, name, _synced_at) SELECT i, 'client ' || i, '' FROM n`),
  );
  return folder;
}

/** The same, gone with the test. */
export async function aClientsFolder(clients: number): Promise<string> {
  const folder = await clientsFolder(clients);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function changeMirror(folder: string, change: (mirror: Mirror) => void): Promise<void> {
  const mirror = await openMirror(path.join(folder, "acme.db"), declaration);
  change(mirror);
  mirror.close();
}

/** What a command leaves where nothing disturbs it: in a copy of the folder, which is gone then. */
export async function undisturbed<T>(base: string, args: readonly string[], look: (folder: string) => T) {
  const folder = `${base}-undisturbed`;
  cpSync(base, folder, { recursive: true });
  await succeed(folder, args);
  const left = { names: filesBelow(folder), after: look(folder) };
  rmSync(folder, { recursive: true });
  return left;
}

/**
 * A `publish` over an earlier report.
 *
 * @param way `anew`: the whole report; `changes`: a copy of the earlier one with one more change
 */
export async function publishScenario(way: "anew" | "changes"): Promise<CrashScenario> {
  const base = await clientsFolder(way === "anew" ? 200 : 21_000);
  await changeMirror(base, (mirror) => put(mirror, "units", { id: 1, name: "before" }));
  await succeed(base, publish);
  await changeMirror(base, (mirror) => put(mirror, "units", { id: 1, name: "after" }));
  const contentOf = (folder: string) => JSON.stringify(dump(reportOf(folder), ["_about"]));
  const before = readFileSync(reportOf(base));
  const { names, after } = await undisturbed(base, publish, contentOf);

  const damage = (folder: string) => {
    const found = soundly(reportOf(folder), "SELECT 'sound'");
    return found === "sound" ? [] : [`the report is ${found}`];
  };
  const difference = (folder: string) =>
    contentOf(folder) === after ? [] : ["the report has other content than without a crash"];
  return {
    countsStatements: true,
    base,
    run: (attempt) => runToDie(attempt, publish),
    afterCrash: ({ folder }) =>
      readFileSync(reportOf(folder)).equals(before) ? [] : [...damage(folder), ...difference(folder)],
    finish: async ({ folder }) => {
      await succeed(folder, publish);
      return [...damage(folder), ...difference(folder), ...differingNames(names, filesBelow(folder))];
    },
  };
}
