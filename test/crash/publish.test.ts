import { spawn, type ChildProcess } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { tempFolder } from "../support/mirror/mirror.ts";
import { endOf, type Ended } from "../support/program/cli.ts";
import { put } from "../support/mirror/store.ts";
import { processEnv, program } from "../support/program/process-env.ts";
import { longestWaitMs } from "../support/eventually.ts";

interface Place {
  readonly folder: string;
  readonly mirror: string;
  readonly report: string;
}

/** A config and a mirror that is large enough to be killed while its report is written. */
async function aPlace(rows: number): Promise<Place> {
  const folder = tempFolder();
  writeFileSync(
    path.join(folder, "config.yaml"),
    "data_dir: .\ncompanies: { acme: { token: '${env:T}' } }\n",
  );
  const mirror = path.join(folder, "acme.db");
  const opened = await openMirror(mirror, manifest);
  opened.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO invoices (id, number, client_name, issue_date, due_date, total, status, _synced_at)
    SELECT i, 'FA' || i, 'Klient ' || i, date('2020-01-01', '+' || (i % 2000) || ' days'), '2026-01-01', i / 7.0, 'paid', '' FROM n`);
  put(opened, "currencies", { id: 1, symbol: "EUR" });
  opened.close();
  return { folder, mirror, report: path.join(folder, "acme.report.db") };
}

/** Adds a change to publish. */
async function change({ mirror }: Place, step: number): Promise<void> {
  const opened = await openMirror(mirror, manifest);
  put(opened, "units", { id: 1, name: `unit ${step}` });
  opened.close();
}

function startPublish({ folder }: Place, args = "", before = ""): ChildProcess {
  const command = `${before} exec "${process.execPath}" "${program}" publish ${args} --config config.yaml`;
  return spawn("bash", ["-c", command], {
    cwd: folder,
    env: processEnv({ T: "token" }),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestWaitMs,
    killSignal: "SIGKILL",
  });
}

/** Starts a publish and kills it so long after its new file appeared, unless it has ended. */
async function publishUntil(place: Place, args: string, afterMs: number): Promise<Ended> {
  const child = startPublish(place, args);
  const watch = setInterval(() => {
    if (!existsSync(`${place.report}.next`)) return;
    clearInterval(watch);
    setTimeout(() => child.kill("SIGKILL"), afterMs);
  }, 1);
  return endOf(child).finally(() => clearInterval(watch));
}

function digest(file: string): string {
  return hash("sha256", readFileSync(file), "hex");
}

function soundUnits(report: string): unknown {
  const db = openDatabase(report, { readonly: true });
  try {
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.pragma("foreign_key_check")).toEqual([]);
    return db.prepare("SELECT name FROM units").pluck().get();
  } finally {
    db.close();
  }
}

const litter = ({ folder }: Place) => readdirSync(folder).filter((name) => name.includes(".next"));

describe("publish, killed at any moment", () => {
  // Fault: process | kill -9 at varied moments while the report is written | a process of `publish` | the old or the new report, complete; the next publish leaves no other file
  test("leaves the old or the new report, complete; the next publish leaves no other file", async () => {
    const place = await aPlace(40_000);
    await change(place, 0);
    expect((await endOf(startPublish(place))).code).toBe(0);
    const random = seededRandom(Number(process.env["CRASH_SEED"] ?? 3));
    let kills = 0;
    let halfDone = 0;
    for (let step = 1; step <= 6; step++) {
      const before = { bytes: digest(place.report), unit: soundUnits(place.report) };
      await change(place, step);
      const { code } = await publishUntil(
        place,
        step % 2 === 0 ? "--force" : "",
        Math.floor(random.next() * 300),
      );
      if (code === null) kills += 1;
      if (litter(place).length > 0) halfDone += 1;
      const now = digest(place.report);
      if (now === before.bytes) expect(soundUnits(place.report)).toBe(before.unit);
      else expect(soundUnits(place.report)).toBe(`unit ${step}`);
    }
    expect(kills).toBeGreaterThan(2);
    expect(halfDone).toBeGreaterThan(0);
    expect((await endOf(startPublish(place))).code).toBe(0);
    expect(litter(place)).toEqual([]);
    expect(soundUnits(place.report)).toBe("unit 6");
  });
});

describe("publish on a disk that is full", () => {
  // Fault: disk | the disk is full while the report is written | a process of `publish` with a limit on file size | exit 10 with the cause; the old report stays, and nothing else
  test("exits with 10 and a clear error; the old report is complete and no other file is left", async () => {
    const place = await aPlace(20_000);
    await change(place, 0);
    expect((await endOf(startPublish(place))).code).toBe(0);
    const before = digest(place.report);
    await change(place, 1);
    const { code, stderr } = await endOf(startPublish(place, "--force", "ulimit -f 512;"));
    expect({ code, said: /disk|space/.test(stderr), bug: stderr.includes("bug") }).toEqual({
      code: 10,
      said: true,
      bug: false,
    });
    expect(digest(place.report)).toBe(before);
    expect(litter(place)).toEqual([]);
    expect(soundUnits(place.report)).toBe("unit 0");
  });
});
