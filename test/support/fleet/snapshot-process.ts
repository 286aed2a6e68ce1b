/**
 * Makes or restores a snapshot of `acme` as a node does, in a process that may be killed. The working folder has the
 * node's files and the folder `store`. Usage: `snapshot-process.ts make|restore URL EPOCH`.
 */
import path from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import { Lease, readSentAt } from "../../../src/fleet/ownership/ownership.ts";
import { openPostgres, sqlBy, type Postgres, type Sql } from "../../../src/fleet/postgres/connection.ts";
import { SnapshotsTable } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { MirrorSnapshots } from "../../../src/fleet/snapshot/mirror-snapshots.ts";
import { openStore } from "../../../src/file-store/open-store.ts";
import { scopeIn } from "./snapshot-facts.ts";

const [what = "", url = "", epoch = ""] = process.argv.slice(2);
const { point } =
  process.env["CRASH_LOG"] === undefined ? { point: () => undefined } : await import("../crash/points.ts");

async function around<T>(label: string, step: () => Promise<T>): Promise<T> {
  point(`before ${label}`);
  const result = await step();
  point(`after ${label}`);
  return result;
}

function statements(sql: Sql): Sql {
  return sqlBy((text, values) =>
    around(text.replaceAll(/\s+/g, " ").trim().slice(0, 40), () => sql.query(text, values)),
  );
}

/** Postgres with a point before and after each statement and commit. */
function watched(postgres: Postgres): Postgres {
  return {
    ...statements(postgres),
    transaction: (step) =>
      around("transaction", () =>
        postgres.transaction(async (sql) => {
          const result = await step(statements(sql));
          point("before commit");
          return result;
        }),
      ),
    close: () => postgres.close(),
  };
}

const scope = scopeIn(process.cwd());
const files = mirrorFiles(scope.config, "acme");
const onSecrets = () => undefined;
const store = openStore(path.resolve("store"), { clock: systemClock, env: {}, onSecrets });
const postgres = watched(await openPostgres(url, "node-1", silentLog));
const snapshots = new SnapshotsTable(postgres);
const { signal } = new AbortController();
const parts = { store, snapshots, clock: systemClock, log: silentLog, version: "1.2.3" };
const mirrors = new MirrorSnapshots(parts);
try {
  if (what === "make") {
    const facts = { company: "acme", epoch: Number(epoch), node: "node-1", heldMs: 600_000 };
    await mirrors.publish(new Lease(facts, readSentAt(systemClock), systemClock), scope, 0, signal);
  } else {
    const pointer = await snapshots.current("acme");
    if (!pointer) throw new Error("nothing is published");
    await mirrors.restore(pointer, files, signal);
  }
} finally {
  await postgres.close();
}
