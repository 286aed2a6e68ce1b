import { hash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { SnapshotPointer } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { manifestKey, mirrorKey } from "../../../src/fleet/snapshot/stored-snapshots.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { takeWriterLock } from "../../../src/store/writer-lock.ts";
import { rejectionOf } from "../../support/errors.ts";
import { look } from "../../support/truth/equal.ts";
import { anOwner, type FleetNode } from "../../support/fleet/node.ts";
import type { StoreKind } from "../../support/file-store.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { put } from "../../support/mirror/store.ts";

function rename(mirror: Mirror, name: string): void {
  put(mirror, "people", { id: 1, name, email: null, score: 0.5 });
}

const nameIn = (node: FleetNode) =>
  look(node.files.mirror, (db) => db.prepare("SELECT name FROM people WHERE id = 1").pluck().get());

/** A fleet whose first node has published a mirror; the second one has none. */
async function aPublished(kind: StoreKind = "folder") {
  const { fleet, node: one, mirror, ownership } = await anOwner(kind);
  const other = await fleet.node("node-2");
  mirror.meta.set("identity", { name: "Acme", salt: "salt", fingerprint: "f", businessId: null });
  rename(mirror, "published");
  const pointer = await one.make(ownership);
  if (!pointer) throw new Error("nothing was published");
  const stored = fleet.fileOf(mirrorKey(pointer));
  return { ...fleet, one, other, mirror, stored };
}

/** Another mirror on a node's disk. */
async function leave(node: FleetNode, name: string, identity: object): Promise<void> {
  const mirror = await node.open();
  mirror.meta.set("identity", { salt: "other", fingerprint: "g", businessId: null, ...identity });
  rename(mirror, name);
  mirror.close();
}

/** Stores the mirror as it is now in place of the published snapshot; gives the pointer to it. */
async function storeInstead({ mirror, stored, snapshots }: Awaited<ReturnType<typeof aPublished>>) {
  const pointer = await snapshots.current("acme");
  if (!pointer) throw new Error("nothing is published");
  const unpacked = mirror.db.serialize();
  const packed = zstdCompressSync(unpacked);
  writeFileSync(stored, packed);
  const facts: SnapshotPointer["facts"] = { ...pointer.facts, unpacked: contentOf(unpacked) };
  return { ...pointer, ...contentOf(packed), facts };
}

const contentOf = (bytes: Buffer) => ({ size_bytes: bytes.length, sha256: hash("sha256", bytes) });

const namesOf = (node: FleetNode) => readdirSync(path.dirname(node.files.mirror)).toSorted();

describeWithPostgres("a restored snapshot", () => {
  test("takes the place of the mirror that is there, and of what was about that one", async () => {
    const { one, mirror } = await aPublished();
    rename(mirror, "never published");
    mirror.close();
    for (const file of [one.files.verified, one.files.compared]) writeFileSync(file, "{}");
    await one.restore();
    expect(nameIn(one)).toBe("published");
    expect(namesOf(one)).toEqual(["acme.db", "acme.lock", "acme.numbers.json"]);
  });

  // Fault: files | the last mirror left a write-ahead log, with or without its database | a restore in its place | the log does not become the restored mirror's
  test.each(["with its database", "without"])("applies no log that was left behind: %s", async (which) => {
    const { one, other, mirror } = await aPublished();
    const db = openDatabase(one.files.mirror);
    rename(mirror, "never published");
    for (const ending of ["", "-wal"]) copyFileSync(one.files.mirror + ending, other.files.mirror + ending);
    db.close();
    if (which === "without") rmSync(other.files.mirror);
    await other.restore();
    expect(nameIn(other)).toBe("published");
    expect(namesOf(other)).toEqual(["acme.db", "acme.lock"]);
  });

  // Fault: fleet | the mirror on a node's disk is damaged | a restore on that node | it is replaced: the published snapshot counts
  test("replaces a mirror that nobody can read, and one of the company that was begun apart", async () => {
    const { other } = await aPublished();
    await leave(other, "begun apart", { name: "Acme" });
    await other.restore();
    expect(nameIn(other)).toBe("published");
    writeFileSync(other.files.mirror, "no database, whatever it was before it was overwritten".repeat(100));
    writeFileSync(`${other.files.mirror}-wal`, "x");
    await other.restore();
    expect(nameIn(other)).toBe("published");
    expect(namesOf(other)).toEqual(["acme.db", "acme.lock", "acme.numbers.json"]);
  });
});

describeWithPostgres("nothing on the node is touched", () => {
  // Fault: fleet | a mirror of another company stands where a snapshot belongs | a node with a foreign data folder | `identity`, and the mirror stays (I10)
  test("I10: where the mirror there is of another company", async () => {
    const { other } = await aPublished();
    await leave(other, "of another company", { name: "Other Ltd" });
    const error = await rejectionOf(other.restore());
    expect([error.kind, error.hint]).toEqual(["identity", expect.stringContaining("data_dir")]);
    expect(nameIn(other)).toBe("of another company");
  });

  // Fault: fleet | the published snapshot is lost, cut off or changed in the store | the folder, and a bucket | `database` with what to bring back; the node's mirror stays as it was
  test.each([
    ["folder", "changed"],
    ["folder", "cut off"],
    ["s3", "changed"],
    ["s3", "lost"],
  ] as const)("where the stored snapshot is damaged: %s, %s", async (kind, how) => {
    const { other, stored } = await aPublished(kind);
    await leave(other, "earlier", { name: "Acme" });
    if (how === "changed") writeFileSync(stored, readFileSync(stored).fill(0, 1_000, 1_001));
    else if (how === "cut off") writeFileSync(stored, readFileSync(stored).subarray(0, 1_000));
    else rmSync(stored);
    const error = await rejectionOf(other.restore());
    expect([error.kind, error.retryable]).toEqual(["database", false]);
    expect(error.message).toMatch(/lost or damaged: acme\/e1\//);
    expect(nameIn(other)).toBe("earlier");
    expect(other.files.restoreStaging).not.toSatisfy(existsSync);
  });

  test.each(["{", "null"])(
    "where %s stands beside the newest snapshot, once Postgres was set back",
    async (text) => {
      const { postgres, snapshots, fileOf, other } = await aPublished();
      const pointer = await snapshots.current("acme");
      if (!pointer) throw new Error("nothing is published");
      await postgres.query("DELETE FROM fintoro_mirror.snapshots");
      writeFileSync(fileOf(manifestKey(pointer)), text);
      const timeline = { number: 2, id: "", beats: 1, startedMs: 0, setBackToMs: null };
      const error = await rejectionOf(other.current(timeline));
      const message = expect.stringContaining("lost or damaged: acme/e1/") as string;
      expect(error).toMatchObject({ kind: "database", message });
    },
  );

  test("while another process writes the mirror, once the restore is to end, and where a newer version wrote the snapshot", async () => {
    const published = await aPublished();
    const { other, mirror } = published;
    await leave(other, "earlier", { name: "Acme" });
    const lock = takeWriterLock(other.files.lock, "sync");
    expect(await rejectionOf(other.restore())).toMatchObject({ kind: "locked", retryable: true });
    lock.release();
    expect((await rejectionOf(other.restore({ signal: AbortSignal.abort() }))).kind).toBe("stopped");
    mirror.db.exec("INSERT INTO _migrations VALUES ('9999-later', '2030-01-01')");
    const pointer = await storeInstead(published);
    expect((await rejectionOf(other.restore({ pointer }))).message).toContain("a newer version wrote it");
    expect(nameIn(other)).toBe("earlier");
  });

  // Fault: fleet | a node's disk or memory changes what is unpacked | the unpacked mirror | an error before anything is touched
  test("where it does not unpack to what was packed", async () => {
    const published = await aPublished();
    const { other } = published;
    await leave(other, "earlier", { name: "Acme" });
    const pointer = await storeInstead(published);
    const facts = { ...pointer.facts, unpacked: { size_bytes: 4_096, sha256: "0".repeat(64) } };
    const error = await rejectionOf(other.restore({ pointer: { ...pointer, facts } }));
    expect([error.kind, error.message]).toEqual(["database", expect.stringContaining("did not unpack")]);
    expect(nameIn(other)).toBe("earlier");
    const unknown = await rejectionOf(other.restore({ pointer: { ...pointer, facts: {} } }));
    expect(unknown.hint).toContain("update fintoro-mirror");
  });
});
