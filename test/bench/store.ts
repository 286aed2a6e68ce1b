import path from "node:path";
import Database from "better-sqlite3";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { stampOf } from "../support/mirror/store.ts";
import { startSandbox } from "../support/sandbox/control.ts";
import { truthOf, type Truth } from "../support/truth/truth.ts";
import { benchFolder, inTurns, median, medianRatio, timed, type BenchResult } from "./result.ts";

const documents = 5_000;
const perPage = 500;
const rounds = 5;

/** What it costs a first run to keep a file that gives free pages back, in processor time of the store alone. */
export async function benchStore(): Promise<BenchResult[]> {
  using folder = benchFolder();
  const sandbox = await startSandbox({ records: documents });
  const truth = truthOf(sandbox);
  await sandbox.close();
  let number = 0;
  const filled = (mode: "INCREMENTAL" | "NONE") => async () => {
    const file = path.join(folder.path, `${++number}.db`);
    // A file that has a page keeps the mode it has.
    const empty = new Database(file);
    empty.exec(`PRAGMA auto_vacuum = ${mode}; CREATE TABLE first (id INTEGER); DROP TABLE first`);
    empty.close();
    const mirror = await openMirror(file, declaration);
    globalThis.gc?.();
    const { cpuMs } = await timed(() => fill(mirror, truth));
    mirror.close();
    return cpuMs;
  };
  const { usual, fixed } = await inTurns(rounds, { usual: filled("INCREMENTAL"), fixed: filled("NONE") }, 1);
  const records = [...truth.values()].reduce((sum, each) => sum + each.size, 0);
  return [
    {
      name: "first run, CPU of the store against a file without auto_vacuum",
      ratio: medianRatio(usual, fixed),
      aim: "at most 1.1",
      detail: `${records} records, ${median(usual).toFixed(0)} ms`,
    },
  ];
}

function fill(mirror: Mirror, truth: Truth): void {
  for (const [name, records] of truth) {
    const table = mirror.table(name);
    const all = Array.from(records, ([id, { text }]) => ({ id: Number(id), slice: Buffer.from(text) }));
    for (let first = 0; first < all.length; first += perPage) {
      const stamp = stampOf(mirror, { cause: "sweep" });
      mirror.apply(() => {
        for (const record of all.slice(first, first + perPage))
          table.put({ ...record, stamp, source: "list" });
      });
    }
  }
}
