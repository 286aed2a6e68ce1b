import { appendFileSync } from "node:fs";
import path from "node:path";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { checkLocally } from "../../../src/verify/local/check-locally.ts";
import { count, dump } from "../../support/truth/compare.ts";
import { named } from "../../support/mirror/local-check.ts";
import { makeRuns, replayOver } from "../../support/mirror/prune.ts";
import { allChanges, liveRecords, put, remove } from "../../support/mirror/store.ts";
import { runToDie, succeed, type CrashScenario } from "./crash-scenario.ts";
import { changeMirror, clientsFolder } from "./publish-scenario.ts";

const prune = ["prune", "--config", "config.yaml"];
const fileIn = (folder: string) => path.join(folder, "acme.db");

/** A `prune` of some hundred changes, runs and events that are all old. */
export async function pruneScenario(): Promise<CrashScenario> {
  const base = await clientsFolder(0);
  appendFileSync(path.join(base, "config.yaml"), "retention: { runs: 1s, inbox_bodies: 1s, changes: 1s }\n");
  await changeMirror(base, (mirror) => {
    mirror.db.exec("DELETE FROM clients");
    for (let at = 0; at < 450; at++) put(mirror, "units", { id: at % 40, name: `${at} ${"x".repeat(900)}` });
    remove(mirror, "units", 7);
    makeRuns(mirror, 1);
    mirror.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)
      INSERT INTO _inbox (event_id, received_at, body, state) SELECT 'e' || i, '2026-01-01T00:00:00.000Z', 'b', 'done' FROM n;
      UPDATE _reads SET at = '2026-01-01T00:00:00.000Z'`);
  });
  const whole = await openMirror(fileIn(base), declaration);
  const [changes, live] = [allChanges(whole), liveRecords(whole, "units")];
  whole.close();
  const rowsOf = (folder: string) => JSON.stringify(dump(fileIn(folder), pruned));
  const rows = rowsOf(base);

  const damage = async ({ folder }: { readonly folder: string }) => {
    const mirror = await openMirror(fileIn(folder), declaration);
    const replayed = replayOver(changes, allChanges(mirror));
    mirror.close();
    const isReplayed = sortedText(replayed) === sortedText(live);
    return [
      ...named(await checkLocally(fileIn(folder), declaration)),
      ...(isReplayed ? [] : ["I2 the log does not give the live rows"]),
      ...(rowsOf(folder) === rows ? [] : ["something else was changed"]),
    ];
  };
  return {
    countsStatements: true,
    base,
    run: (attempt) => runToDie(attempt, prune),
    afterCrash: damage,
    finish: async (attempt) => {
      await succeed(attempt.folder, prune);
      const left = count(
        fileIn(attempt.folder),
        "SELECT (SELECT count(*) FROM _change_log) + (SELECT count(*) FROM _inbox WHERE body = 'b')",
      );
      return [...(await damage(attempt)), ...(left === 1 ? [] : [`${left} changes and bodies are left`])];
    },
  };
}

const pruned = ["_runs", "_change_log", "_changes", "_reads", "_inbox", "_meta"];

function sortedText(records: ReadonlyMap<string, string>): string {
  const lines = [...records].map(([key, json]) => `${key} ${json}`);
  return lines.toSorted((a, b) => a.localeCompare(b, "en")).join("\n");
}
