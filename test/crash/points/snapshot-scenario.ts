import { hash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { fleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import { mirrorKey } from "../../../src/fleet/snapshot/stored-snapshots.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { startPostgres } from "../../support/postgres/server.ts";
import { put } from "../../support/mirror/store.ts";
import { filesBelow, runToDie, soundly, succeed, type CrashScenario } from "./crash-scenario.ts";
import { changeMirror, clientsFolder } from "./publish-scenario.ts";

const script = { file: fileURLToPath(new URL("../../support/fleet/snapshot-process.ts", import.meta.url)) };

/**
 * A node that makes a snapshot, or restores the published one over a mirror with a log that no process closed.
 *
 * @param way `make` dies in the process or between statements of Postgres, `pack` in the thread that copies and packs,
 *   `restore` in the thread that checks and replaces
 */
export async function snapshotScenario(way: "make" | "pack" | "restore"): Promise<CrashScenario> {
  const server = await startPostgres();
  const template = await server.createDatabase();
  const base = await clientsFolder(50);
  await changeMirror(base, (mirror) => {
    mirror.meta.set("identity", { name: "Acme", salt: "salt", fingerprint: "f", businessId: null });
    put(mirror, "units", { id: 1, name: "first" });
  });
  await withPostgres(template, async (postgres) => {
    await migrateFleet(postgres);
    await fleetTables(postgres).companies.put("acme", {});
    await claim(postgres);
  });
  await succeed(base, ["make", template, "1"], script);
  await changeMirror(base, (mirror) => put(mirror, "units", { id: 1, name: "published" }));
  await succeed(base, ["make", template, "1"], script);
  await leaveLog(base);
  await withPostgres(template, claim);

  const urls = new Map<string, string>();
  const urlOf = (folder: string) => urls.get(folder) ?? "";
  const args = (folder: string, epoch: number) => [
    way === "restore" ? way : "make",
    urlOf(folder),
    String(epoch),
  ];
  const check =
    way === "restore" ? damagedMirror : async (folder: string) => damagedStore(folder, urlOf(folder));
  return {
    countsStatements: true,
    isAnswering: true,
    base,
    run: async (attempt) => {
      urls.set(attempt.folder, await server.createDatabase(path.basename(template)));
      const env = { ...attempt.env, ...(way !== "make" && { CRASH_THREADS: "" }) };
      return runToDie({ ...attempt, env }, args(attempt.folder, 2), script);
    },
    afterCrash: ({ folder }) => check(folder),
    finish: async ({ folder }) => {
      if (way !== "restore")
        await changeMirror(folder, (mirror) => put(mirror, "units", { id: 1, name: "later" }));
      await withPostgres(urlOf(folder), claim);
      await succeed(folder, args(folder, 3), script);
      const wrong = way === "restore" ? notRestored(folder) : await notPublished(folder, urlOf(folder));
      wrong.push(...(await check(folder)));
      await server.dropDatabase(urlOf(folder));
      return wrong;
    },
    close: () => server.end(),
  };
}

async function withPostgres<T>(url: string, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = await openPostgres(url, "node-1", silentLog);
  try {
    return await work(postgres);
  } finally {
    await postgres.close();
  }
}

/** The next epoch, whatever became of the owner before. */
async function claim(postgres: Postgres): Promise<void> {
  await postgres.query("UPDATE fintoro_mirror.owners SET expires_at = clock_timestamp() - interval '1 s'");
  await fleetTables(postgres).owners.claim("acme", "node-1", 600_000);
}

/** Changes the mirror; the change stands in a write-ahead log that nobody has closed. */
async function leaveLog(folder: string): Promise<void> {
  const file = path.join(folder, "acme.db");
  const mirror = await openMirror(file, declaration);
  put(mirror, "units", { id: 1, name: "after" });
  for (const ending of ["", "-wal"]) copyFileSync(file + ending, `${file}${ending}.kept`);
  mirror.close();
  for (const ending of ["", "-wal"]) renameSync(`${file}${ending}.kept`, file + ending);
}

const unitIn = (file: string) => soundly(file, "SELECT name FROM units WHERE id = 1");

async function damagedMirror(folder: string): Promise<string[]> {
  const unit = unitIn(path.join(folder, "acme.db"));
  return ["after", "published"].includes(unit) ? [] : [`the mirror is neither old nor new: ${unit}`];
}

function notRestored(folder: string): string[] {
  const unit = unitIn(path.join(folder, "acme.db"));
  const left = filesBelow(folder).filter((name) => name.includes("restore") || name.endsWith("-wal"));
  return [
    ...(unit === "published" ? [] : [`restored: ${unit}`]),
    ...left.map((name) => `left over: ${name}`),
  ];
}

function publishedIn(url: string) {
  return withPostgres(url, async (postgres) => {
    const rows = await postgres.query<{ seq: number }>("SELECT seq FROM fintoro_mirror.changes ORDER BY seq");
    return {
      pointer: await fleetTables(postgres).snapshots.current("acme"),
      seqs: rows.map(({ seq }) => seq),
    };
  });
}

const names: Readonly<Record<number, string>> = { 1: "published", 2: "after", 3: "later" };

/** The pointer names a whole snapshot, and the change log goes exactly as far. */
async function damagedStore(folder: string, url: string): Promise<string[]> {
  const { pointer, seqs } = await publishedIn(url);
  if (!pointer) return ["nothing is published any more"];
  const whole = seqs.map((_, at) => pointer.seq - seqs.length + 1 + at);
  const log =
    seqs.join() === whole.join() ? [] : [`changes ${seqs.join()}, the snapshot ends with ${pointer.seq}`];
  const file = path.join(folder, "store", mirrorKey(pointer));
  if (!existsSync(file)) return [...log, `the pointer leads to nothing: ${mirrorKey(pointer)}`];
  const packed = readFileSync(file);
  if (hash("sha256", packed) !== pointer.sha256) return [...log, "the pointer leads to other bytes"];
  const unpacked = path.join(folder, "unpacked.db");
  writeFileSync(unpacked, zstdDecompressSync(packed));
  const unit = unitIn(unpacked);
  rmSync(unpacked);
  return unit === names[pointer.epoch] ? log : [...log, `snapshot of epoch ${pointer.epoch}: ${unit}`];
}

/** After the next snapshot there is nothing but that and the one before it. */
async function notPublished(folder: string, url: string): Promise<string[]> {
  const { pointer } = await publishedIn(url);
  const stored = filesBelow(path.join(folder, "store"));
  const left = filesBelow(folder).filter((name) => name.includes(".acme.snapshot"));
  return [
    ...(pointer?.epoch === 3 ? [] : [`published is epoch ${pointer?.epoch}`]),
    ...(stored.length === 4 && stored.every((name) => /\.(?:db\.zst|json)$/.test(name))
      ? []
      : [`stored: ${stored.join(", ")}`]),
    ...left.map((name) => `left over: ${name}`),
  ];
}
