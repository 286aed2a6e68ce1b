import { hash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect, describe, onTestFinished, test } from "vitest";
import { jsonLines, runCommand, type InvocationParts } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { dayMs } from "../../src/base/clock.ts";
import { copyMirror } from "../../src/backup/copy-mirror.ts";
import { idOfBackup } from "../../src/backup/stored-backups.ts";
import { openDatabase } from "../../src/store/database.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { expectEqual, look } from "../support/truth/equal.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { s3Env, startS3 } from "../support/export/s3-server.ts";
import { put } from "../support/mirror/store.ts";
import { jumpingClock } from "../support/terminal/terminal.ts";

/** A company with a mirror, and the folder or bucket of its backups. */
async function aMirrored(): Promise<Company & { readonly backups: string }> {
  const company = writeServeConfig(await aMirroredCompany({ companies: 2, records: 5 }));
  return { ...company, backups: path.join(company.folder, "backups") };
}

/** Where the backups of a company are, with what opens a bucket. */
type BackedUp = Company & { readonly backups: string; readonly env?: Readonly<Record<string, string>> };

async function run(company: Omit<BackedUp, "backups">, args: readonly string[], parts: InvocationParts = {}) {
  const { env = {} } = company;
  const config = path.join(company.folder, "config.yaml");
  return runCommand([...args, "--config", config], { cwd: company.folder, env, ...parts });
}

async function backUp(company: BackedUp, ...more: string[]): Promise<string> {
  const args = ["backup", "--to", company.backups, "--json", ...more];
  const { code, stdout, stderr } = await run(company, args);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return (JSON.parse(stdout) as { companies: { acme: { id: string } } }).companies.acme.id;
}

const restore = (company: BackedUp, ...more: string[]) =>
  run(company, ["restore", "--from", company.backups, ...more]);

const idsIn = (company: BackedUp) => readdirSync(path.join(company.backups, "acme")).toSorted();

/** Every file of a data folder with its content, without backups and locks. */
function contentOf({ folder }: Company): Map<string, string> {
  const names = readdirSync(folder).filter((name) => /^\.?acme/.test(name) && !name.includes(".lock"));
  return new Map(names.map((name) => [name, hash("sha256", readFileSync(path.join(folder, name)))]));
}

/** Where the change log of a mirror ends. */
async function positionOf(company: Company) {
  const { stdout } = await run(company, ["changes", "--json"]);
  return JSON.parse(stdout) as { readonly log: string; readonly next_since: number };
}

describe("a backup", () => {
  // Fault: disk | another connection commits while pages are copied | the mirror, during its copy | the copy shows one commit, and is not begun again
  test("shows one commit, however often others commit meanwhile", async () => {
    const mirror = await openHasty();
    const { db } = mirror;
    const name = "x".repeat(2_000);
    for (let id = 1; id <= 2_000; id++)
      put(mirror, "people", { id, name: `${id}${name}`, email: null, score: 0 });
    const target = path.join(tempFolder(), "copy.db");
    let commits = 0;
    const writer = setInterval(() => {
      for (let each = 0; each < 5; each++)
        put(mirror, "people", { id: 10_000 + commits++, name: "late", email: null, score: 0 });
    }, 1);
    const facts = await copyMirror(db.name, target, new AbortController().signal).finally(() =>
      clearInterval(writer),
    );
    expect(commits).toBeGreaterThan(0);
    expect(facts.rows["people"]).toBe(2_000);
    expect(look(target, (copy) => copy.prepare("SELECT count(*) FROM people").pluck().get())).toBe(2_000);
    expect(`${target}-wal`).not.toSatisfy(existsSync);
  });

  test("leaves so many as are to be kept, and touches nothing else in their folder", async () => {
    const company = await aMirrored();
    const ids = [await backUp(company), await backUp(company)];
    const own = path.join(company.backups, "acme");
    for (const name of ["2026-01-01", "2026-11-22T03-45-00-123Z", "2026-11-22T03-45-00-456Z/files"])
      mkdirSync(path.join(own, name), { recursive: true });
    writeFileSync(path.join(own, "2026-11-22T03-45-00-456Z/mirror.db"), "unfinished");
    // Perhaps another node of a fleet is making it.
    const young = idOfBackup(new Date().toISOString());
    mkdirSync(path.join(own, young));
    writeFileSync(path.join(own, "notes.txt"), "mine");
    const { code, stdout } = await run(company, ["backup", "--to", company.backups, "--keep", "2"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 older removed")]);
    const made = expect.stringMatching(/^2.*Z$/);
    expect(idsIn(company)).toEqual(["2026-01-01", ids[1], young, made, "notes.txt"]);
  });

  // Fault: disk | the place of backups is a file | `backup --to` | exit 10 with the cause, shown by `status`
  test("that fails says so, and is shown by status until the next one", async () => {
    const company = await aMirrored();
    writeFileSync(company.backups, "");
    expect((await run(company, ["backup", "--to", company.backups])).code).toBe(10);
    const failed = await run(company, ["status"]);
    expect([failed.code, failed.stdout]).toEqual([3, expect.stringContaining("! backup: failed")]);
    rmSync(company.backups);
    await backUp(company);
    const mended = await run(company, ["status"]);
    expect([mended.code, mended.stdout]).toEqual([0, expect.stringContaining("backup: written")]);
  });

  test("to another place than the config's is not taken for one of those that `serve` makes", async () => {
    const company = await aMirrored();
    writeServeConfig(company, `backup: { to: ${company.backups} }`);
    const elsewhere = path.join(company.folder, "elsewhere");
    writeFileSync(elsewhere, "");
    expect((await run(company, ["backup", "--to", elsewhere])).code).toBe(10);
    rmSync(elsewhere);
    expect((await run(company, ["backup", "--to", elsewhere])).code).toBe(0);
    const { code, stdout } = await run(company, ["status"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("backup: not made yet")]);
    await backUp(company);
    expect((await run(company, ["status"])).stdout).toContain("backup: written");
  });

  // Fault: clock | a backup was made while the clock was years ahead | `backup --keep` and `restore` | the new one stays and is restored, the name in the future is warned of
  test("that is new stays and is the newest, also where an earlier one has a name in the future", async () => {
    const company = await aMirrored();
    const first = await backUp(company);
    const ahead = "2099-01-01T00-00-00-000Z";
    renameSync(path.join(company.backups, "acme", first), path.join(company.backups, "acme", ahead));
    company.sandbox.control.create("clients", { name: "Nová" });
    await sync(company);
    const second = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([second, ahead]);
    const { stdout, stderr } = await restore(company);
    expect(stdout).toContain(`backup ${second}`);
    expect(stderr).toContain(`in the future: ${ahead}`);
    const third = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([second, third]);
    const last = await backUp(company, "--keep", "1");
    expect(idsIn(company)).toEqual([last]);
  });

  // Fault: disk | the manifest of an earlier backup is damaged | `backup --keep` and `restore` | the new one is made; the damaged one is neither removed nor passed over unseen
  test("is made beside one whose manifest cannot be read", async () => {
    const company = await aMirrored();
    const damaged = await backUp(company);
    writeFileSync(path.join(company.backups, "acme", damaged, "manifest.json"), "{");
    const second = await backUp(company, "--keep", "2");
    const third = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([damaged, third]);
    expect((await restore(company)).code).toBe(10);
    expect((await restore(company, "--at", third)).code).toBe(0);
    expect(second).not.toBe(third);
  });
});

describe("a restore", () => {
  // Fault: identity | the backup of another company | `restore` over a filled mirror | exit 4, and nothing is touched (I10)
  test("over another company's mirror exits with 4 and touches nothing; its own, begun anew, it knows by a record", async () => {
    const company = await aMirrored();
    await backUp(company);
    rmSync(company.file);
    await sync(company);
    expect((await restore(company)).code).toBe(0);
    rmSync(company.file);
    await sync(company, { token: company.sandbox.companies[1]?.token ?? "" });
    const before = contentOf(company);
    const { code, stderr } = await restore(company);
    expect([code, stderr]).toEqual([4, expect.stringContaining("another company")]);
    expect(contentOf(company)).toEqual(before);
  });

  // Fault: process | another process holds the lock of the mirror or of its files | `restore` | exit 11, and nothing is touched
  test("while a process writes the mirror or files exits with 11; one that nobody can read has to be moved away, and what `verify` found of it is forgotten", async () => {
    const company = await aMirrored();
    await backUp(company);
    const names = ["acme.verified.json", "acme.compared.jsonl"];
    const about = names.map((name) => path.join(company.folder, name));
    for (const file of about) writeFileSync(file, "{}");
    const before = contentOf(company);
    for (const name of ["acme.lock", "acme.files.lock"]) {
      using _ = takeWriterLock(path.join(company.folder, name), "files");
      expect((await restore(company)).code).toBe(11);
      expect(contentOf(company)).toEqual(before);
    }
    writeFileSync(company.file, "no database, whatever it was before it was overwritten".repeat(100));
    const refused = await restore(company);
    expect([refused.code, refused.stderr]).toEqual([10, expect.stringContaining("Move it away")]);
    rmSync(company.file);
    expect((await restore(company)).code).toBe(0);
    expect(about.filter((file) => existsSync(file))).toEqual([]);
  });

  // Fault: disk | bytes of the backup are changed, cut off or appended | each file of the backup | exit 10; nothing is touched, and an earlier backup can be restored
  test("from a damaged backup touches nothing, whether bytes changed or were added, or its manifest is lost", async () => {
    const company = await aMirrored();
    const [first, last] = [await backUp(company), await backUp(company)];
    const inLast = (name: string) => path.join(company.backups, "acme", last, name);
    const bytes = readFileSync(inLast("mirror.db"));
    const manifest = readFileSync(inLast("manifest.json"), "utf8");
    const before = contentOf(company);
    for (const [name, damaged] of [
      ["mirror.db", Buffer.from(bytes).fill("x", 9_000, 9_010)],
      ["mirror.db", Buffer.concat([bytes, Buffer.from("x")])],
      ["manifest.json", "{}"],
      ["manifest.json", manifest.replace(/"file": ".*"/, '"file": 5')],
      ["manifest.json", manifest.replace(/"taken_at": ".*"/, '"taken_at": 5')],
    ] as const) {
      writeFileSync(inLast("mirror.db"), bytes);
      writeFileSync(inLast(name), damaged);
      const { code, stderr } = await restore(company);
      expect([code, stderr]).toEqual([10, expect.stringContaining("`restore --at` takes an older backup")]);
      expect(contentOf(company)).toEqual(before);
    }
    expect((await restore(company, "--at", first)).code).toBe(0);
  });

  test("takes the place's only company for one that got another name", async () => {
    const company = await aMirrored();
    await backUp(company);
    writeServeConfig(company, "", [{ name: "renamed", token: company.sandbox.token }]);
    expect((await restore(company)).code).toBe(0);
    expect(path.join(company.folder, "renamed.db")).toSatisfy(existsSync);
  });

  // Fault: disk | the same backup is restored twice, over mirrors that went on from it | `changes --since` with positions of the replaced mirrors | no number is given twice; those positions are refused
  test("gives no number that the backup, the replaced mirror or an earlier restore of it gave", async () => {
    const company = await aMirrored();
    await backUp(company);
    let last = 0;
    const seen = new Set<string>();
    for (const [round, name] of ["Prvá", "Druhá", "Tretia"].entries()) {
      company.sandbox.control.create("clients", { name });
      await sync(company);
      const { log, next_since } = await positionOf(company);
      expect(next_since).toBeGreaterThan(last);
      expect(seen).not.toContain(log);
      seen.add(log);
      last = next_since;
      if (round === 1) rmSync(company.file);
      expect((await restore(company)).code).toBe(0);
      for (const position of [`${log}:${next_since}`, String(next_since)])
        expect((await run(company, ["changes", "--since", position])).code).toBe(2);
    }
  });

  test("makes the report say of which log its position is, though nothing else changed", async () => {
    const company = await aMirrored();
    await backUp(company);
    const logs = async () => {
      expect((await run(company, ["publish"])).code).toBe(0);
      const { log } = await positionOf(company);
      const fact = "SELECT value FROM _about WHERE fact = 'log'";
      return [log, look(company.file.replace(/db$/, "report.db"), (db) => db.prepare(fact).pluck().get())];
    };
    const [before, reported] = await logs();
    expect((await restore(company)).code).toBe(0);
    const [log, again] = await logs();
    expect([reported, again]).toEqual([before, log]);
    expect(log).not.toBe(before);
  });
});

test("webhook keys are in a backup unless that is said; a restore brings back what is missing, for its owner alone, and says what to do without them", async () => {
  const company = await aMirrored();
  const keyFile = path.join(company.folder, "key");
  const { token } = company.sandbox;
  const configure = (more = "") =>
    writeServeConfig(company, more, [{ name: "acme", token, secrets: [`\${file:${keyFile}}`] }]);
  const keysIn = (id: string) => existsSync(path.join(company.backups, "acme", id, "keys"));
  writeFileSync(keyFile, "a-webhook-secret-of-acme");
  chmodSync(keyFile, 0o644);
  configure();
  const id = await backUp(company);
  expect(id).toSatisfy(keysIn);
  const modes = ["", "keys", "keys/webhook-0"].map((name) =>
    (statSync(path.join(company.backups, "acme", id, name)).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(["700", "700", "600"]);
  expect(await backUp(company, "--no-keys")).not.toSatisfy(keysIn);
  configure("backup: { keys: off }");
  expect(await backUp(company)).not.toSatisfy(keysIn);
  expect((await restore(company)).stdout).not.toContain("no webhook secret");
  rmSync(keyFile);
  const { code, stdout } = await restore(company);
  expect(code).toBe(0);
  expect(stdout).toContain(`no webhook secret for ${keyFile}: put it there`);
  expect(stdout).toContain("webhooks rotate");
  const keyNow = () => [readFileSync(keyFile, "utf8"), (statSync(keyFile).mode & 0o777).toString(8)];
  await restore(company, "--at", id);
  expect(keyNow()).toEqual(["a-webhook-secret-of-acme", "600"]);
  writeFileSync(keyFile, "a-newer-webhook-secret-of-acme");
  await restore(company, "--at", id);
  expect(keyNow()).toEqual(["a-newer-webhook-secret-of-acme", "600"]);
});

test("a copy that another program made is restored like a backup", async () => {
  const company = await aMirrored();
  const copy = path.join(company.folder, "copy.db");
  const db = openDatabase(company.file);
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
  rmSync(company.file);
  expect((await run(company, ["restore", "--from", copy])).code).toBe(0);
  expect(await sync(company)).toMatchObject({ outcome: "complete", resumed: false });
  expectEqual(company);
  writeFileSync(`${copy}-wal`, "x");
  expect((await run(company, ["restore", "--from", copy])).code).toBe(10);
});

// Fault: files | an object of the backup is lost or changed, or was never finished | the object store | not listed without its manifest; refused where it was changed
test("a bucket holds backups as a folder does", async () => {
  const bucket = tempFolder();
  const server = await startS3(bucket, "lake");
  onTestFinished(() => server.close());
  const env = s3Env(server.url);
  const company = { ...(await aMirrored()), backups: "s3://lake/some/prefix", env };
  const ids: string[] = [];
  for (let each = 0; each < 3; each++) ids.push(await backUp(company, "--keep", "2"));
  const [, second = "", third = ""] = ids;
  const store = (id: string, file: string) =>
    path.join(bucket, "lake/some/prefix/acme", id, `${file}._S3rver_object`);
  expect(ids.map((id) => existsSync(store(id, "mirror.db")))).toEqual([false, true, true]);
  rmSync(company.file);
  expect((await restore(company)).code).toBe(0);
  expect((await sync(company)).outcome).toBe("complete");
  expectEqual(company);

  const stored = store(third, "mirror.db");
  writeFileSync(stored, readFileSync(stored).fill("x", 9_000, 9_010));
  expect((await restore(company)).code).toBe(10);
  rmSync(store(third, "manifest.json"));
  const { code, stdout } = await restore(company);
  expect([code, stdout]).toEqual([0, expect.stringContaining(second)]);
  for (const name of [".acme.backup", ".acme.restore"])
    expect(path.join(company.folder, name)).not.toSatisfy(existsSync);
});

test.each([
  ["backup", "acme: storing file 1: mirror.db"],
  ["restore", "acme: fetching file 1 of 1: mirror.db"],
  ["prune", "acme: going through what is old"],
])("a long %s says without a terminal what it is at", async (command, said) => {
  const company = await aMirrored();
  await backUp(company, "--no-keys");
  appendFileSync(path.join(company.folder, "config.yaml"), "\nretention: { changes: 1h }\n");
  const place = { backup: ["--to", company.backups], restore: ["--from", company.backups] }[command] ?? [];
  const clock = jumpingClock(Date.now() + dayMs);
  const { code, stderr } = await run(company, [command, ...place], { clock });
  expect([code, jsonLines(stderr).map(({ msg }) => msg)]).toEqual([0, expect.arrayContaining([said])]);
});
