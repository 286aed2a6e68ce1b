import { cpSync, globSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { mirrorName, type ErrorPlace, type ErrorRow } from "../../support/program/error-row.ts";
import { startS3 } from "../../support/export/s3-server.ts";
import { aSmallDisk, canMount } from "../../support/crash/small-disk.ts";

const aFile = { before: ({ write }: ErrorPlace) => write("books", "my books"), mirror: true } as const;
async function backUp({ run }: ErrorPlace): Promise<void> {
  await run("backup --to safe -q");
}

/** The mirror is pinned to another company, and holds documents of its own. */
function belongToAnother(place: ErrorPlace): void {
  const tables =
    "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'uuid' WHERE m.type = 'table'";
  const db = openDatabase(place.at(mirrorName));
  for (const table of db.prepare<[], string>(tables).pluck().all())
    db.exec(`UPDATE "${table}" SET uuid = 'other-' || id`);
  db.exec("UPDATE _meta SET value = json_set(value, '$.salt', 'other') WHERE key = 'identity'");
  db.close();
}

const s3Keys = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_REGION: "us-east-1" };

/** The company's data, on a disk that was mounted read-only. */
const readOnly = {
  mirror: true,
  config: "data_dir: fixed\n",
  before: ({ at }: ErrorPlace) => {
    const disk = aSmallDisk(16_000_000);
    cpSync(at("data"), disk.folder, { recursive: true });
    disk.forbidWrites();
    symlinkSync(disk.folder, at("fixed"));
  },
  exit: 10,
} as const;

/** Only who may mount a small disk can fill one. */
const diskRows: readonly ErrorRow[] = [
  {
    situation: "a read-only disk: a run",
    command: "sync",
    ...readOnly,
    what: "the lock file cannot be used",
    where: "fixed/acme.lock",
    next: "the owner and mode of the file and its folder: the disk is mounted read-only",
  },
  {
    situation: "a read-only disk: status",
    command: "status",
    ...readOnly,
    what: "the database cannot be opened",
    where: "fixed/acme.db",
    next: "Check that data_dir exists and may be read and written: the disk is mounted read-only",
  },
  {
    situation: "a full disk: a run",
    command: "sync",
    config: "data_dir: full\n",
    before: full,
    exit: 10,
    what: "the disk is full",
    where: "full/",
    next: "Free some space and run it again",
  },
  {
    situation: "a full disk: an export",
    command: "export invoices --out full",
    mirror: true,
    before: full,
    exit: 10,
    what: "the disk is full",
    where: "full/",
    next: "Free some space and run it again",
  },
];

/** What else stands where files belong, and disks and buckets. */
export const fileRows: readonly ErrorRow[] = [
  {
    situation: "a folder where the report belongs",
    command: "publish",
    mirror: true,
    before: ({ at }) => {
      rmSync(at("data/acme.report.db"), { force: true });
      mkdirSync(at("data/acme.report.db"));
    },
    exit: 10,
    what: "something that is no report stands in its place",
    where: "data/acme.report.db",
    next: "Move it away",
  },
  {
    situation: "another's file where the report belongs",
    command: "publish",
    mirror: true,
    before: ({ write }) => write("data/acme.report.db", "my notes"),
    exit: 10,
    what: "something that is no report stands in its place",
    where: "data/acme.report.db",
    next: "Move it away; publish does not overwrite other people's files",
  },
  {
    situation: "report.out is a file",
    command: "publish",
    config: "report: { out: ./books }\n",
    ...aFile,
    exit: 2,
    what: "books is a file",
    where: "config.yaml:5:16: report.out needs a folder",
    next: "name another folder",
  },
  {
    situation: "an export into a file",
    command: "export invoices --out books",
    ...aFile,
    exit: 10,
    what: "something else stands where the files belong",
    where: "books",
    next: "Move it away, or choose another folder",
  },
  {
    situation: "an export where nothing can be written",
    command: "export invoices --out /proc/x",
    mirror: true,
    exit: 10,
    what: "there is no such file or folder",
    where: "cannot make the folder /proc/x",
    next: "check the path",
  },
  {
    situation: "an export to S3 without a key",
    command: "export invoices --to s3://books/x",
    mirror: true,
    exit: 2,
    what: "the object store needs",
    where: "AWS_ACCESS_KEY_ID",
    next: "Also: AWS_REGION",
  },
  {
    situation: "an address of S3 with a slip",
    command: "export invoices --to s3:/books",
    mirror: true,
    exit: 2,
    what: "is not an address in an object store",
    where: '"s3:/books"',
    next: "Write s3://BUCKET or s3://BUCKET/PREFIX",
  },
  {
    situation: "a bucket that does not exist",
    command: "export invoices --to s3://others/x",
    mirror: true,
    before: async ({ at }) => {
      mkdirSync(at("s3"));
      const { url, close } = await startS3(at("s3"), "books");
      onTestFinished(close);
      return { ...s3Keys, AWS_ENDPOINT_URL: url };
    },
    exit: 1,
    what: "the object store refused",
    where: "x/acme/",
    next: "Check the bucket's name",
  },
  {
    situation: "files to prove, and none were fetched",
    command: "files check",
    exit: 0,
    what: "no files yet",
    where: "data/acme.files",
    next: "`fintoro-mirror files` fetches them",
  },
  {
    situation: "a package into a file",
    command: "package --month 2026-10 --out books",
    ...aFile,
    exit: 10,
    what: "something else stands where the files belong",
    where: "books",
    next: "Move it away, or choose another folder",
  },
  {
    situation: "a backup into a file",
    command: "backup --to books",
    ...aFile,
    exit: 10,
    what: "a file is where a folder belongs",
    where: "books",
    next: "name another folder",
  },
  {
    situation: "a restore from nowhere",
    command: "restore --from nothing",
    exit: 1,
    what: "there is no backup of acme",
    where: "nothing",
    next: "Name the folder that `backup --to` wrote",
  },
  {
    situation: "a restore from no archive",
    command: "restore --from books",
    ...aFile,
    exit: 10,
    what: "this is no copy of a mirror",
    where: "books",
    next: "Name the folder that `backup --to` wrote",
  },
  {
    situation: "a backup of another moment",
    command: "restore --from safe --at 2001",
    mirror: true,
    before: backUp,
    exit: 1,
    what: "there is no backup of 2001 of acme",
    where: "safe",
    next: "There are: 20",
  },
  {
    situation: "a backup that was changed",
    command: "restore --from safe",
    mirror: true,
    before: async (place) => {
      await backUp(place);
      const [copy = ""] = globSync(place.at("safe/acme/*/mirror.db"));
      writeFileSync(copy, "x", { flag: "a" });
    },
    exit: 10,
    what: "the backup is damaged",
    where: "mirror.db of",
    next: "`restore --at` takes an older backup",
  },
  {
    situation: "a backup of another company",
    command: "restore --from safe",
    mirror: true,
    before: async (place) => {
      await backUp(place);
      belongToAnother(place);
    },
    exit: 4,
    what: "the backup is of another company",
    where: "than the mirror of acme",
    next: "Nothing was touched",
  },
  ...(canMount() ? diskRows : []),
  {
    situation: "a port that is taken",
    command: "serve --listen 127.0.0.1:{busy}",
    mirror: true,
    exit: 10,
    what: "cannot listen on 127.0.0.1:",
    where: "EADDRINUSE",
    next: "choose another",
  },
];

function full({ at }: ErrorPlace): void {
  const disk = aSmallDisk(300_000);
  disk.fill(0);
  symlinkSync(disk.folder, at("full"));
}
