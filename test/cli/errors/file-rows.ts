import { cpSync, globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import {
  mirrorName,
  errorRows,
  type ErrorPlace,
  type ErrorRow,
  type ErrorSetups,
} from "../../support/program/error-row.ts";
import { s3Env, startS3 } from "../../support/export/s3-server.ts";
import { aSmallDisk, canMount } from "../../support/crash/small-disk.ts";

async function backUp({ run }: ErrorPlace): Promise<void> {
  await run("backup --to safe -q");
}

async function damageBackup(place: ErrorPlace): Promise<void> {
  await backUp(place);
  const [copy = ""] = globSync(place.at("safe/acme/*/mirror.db"));
  writeFileSync(copy, "x", { flag: "a" });
}

/** After a backup the mirror is pinned to another company, and holds documents of its own. */
async function belongToAnother(place: ErrorPlace): Promise<void> {
  await backUp(place);
  const tables =
    "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'uuid' WHERE m.type = 'table'";
  using db = openDatabase(place.at(mirrorName));
  for (const table of db.prepare<[], string>(tables).pluck().all())
    db.exec(`UPDATE "${table}" SET uuid = 'other-' || id`);
  db.exec("UPDATE _meta SET value = json_set(value, '$.salt', 'other') WHERE key = 'identity'");
}

async function startBucket({ at }: ErrorPlace) {
  mkdirSync(at("s3"));
  const { url, close } = await startS3(at("s3"), "books");
  onTestFinished(close);
  return s3Env(url);
}

function full({ at }: ErrorPlace): void {
  const disk = aSmallDisk(300_000);
  disk.fill(0);
  symlinkSync(disk.folder, at("full"));
}

/** The company's data, on a disk that was mounted read-only. */
function readOnly({ at }: ErrorPlace): void {
  const disk = aSmallDisk(16_000_000);
  cpSync(at("data"), disk.folder, { recursive: true });
  disk.forbidWrites();
  symlinkSync(disk.folder, at("fixed"));
}

const setups: ErrorSetups = {
  mirror: { mirror: true },
  readOnly: { mirror: true, config: "data_dir: fixed\n", before: readOnly },
  full: { config: "data_dir: full\n", before: full },
  fullBeside: { mirror: true, before: full },
  foreign: { mirror: true, before: ({ write }) => write("data/acme.report.db", "my notes") },
  books: { mirror: true, before: ({ write }) => write("books", "my books") },
  bucket: { mirror: true, before: startBucket },
  saved: { mirror: true, before: backUp },
  damaged: { mirror: true, before: damageBackup },
  others: { mirror: true, before: belongToAnother },
};

/** Only who may mount a small disk can fill one. */
const diskRows = errorRows(setups, [
  "readOnly 10 | a read-only disk: a run | sync | the lock file cannot be used | fixed/acme.lock | the owner and mode of the file and its folder: the disk is mounted read-only",
  "readOnly 10 | a read-only disk: status | status | the database cannot be opened | fixed/acme.db | Check that data_dir exists and may be read and written: the disk is mounted read-only",
  "full 10 | a full disk: a run | sync | the disk is full | full/ | Free some space and run it again",
  "fullBeside 10 | a full disk: an export | export invoices --out full | the disk is full | full/ | Free some space and run it again",
]);

export const fileRows: readonly ErrorRow[] = [
  ...(canMount() ? diskRows : []),
  ...errorRows(setups, [
    "foreign 10 | another's file where the report belongs | publish | something that is no report stands in its place | data/acme.report.db | Move it away; publish does not overwrite other people's files",
    "books 10 | an export into a file | export invoices --out books | a file is where a folder belongs | books | Move it away, or choose another path",
    "books 10 | a package into a file | package --month 2026-10 --out books | a file is where a folder belongs | books | Move it away, or choose another path",
    "books 10 | a backup into a file | backup --to books | a file is where a folder belongs | books | name another folder",
    "books 10 | a restore from no archive | restore --from books | this is no copy of a mirror | books | Name the folder that `backup --to` wrote",
    "mirror 10 | an export where nothing can be written | export invoices --out /proc/x | there is no such file or folder | /proc/x | Check the path",
    "mirror 2 | an export to S3 without a key | export invoices --to s3://books/x | the object store needs | AWS_ACCESS_KEY_ID | Also: AWS_REGION",
    'mirror 2 | a day that no month has | export invoices --to 2026-02-30 | is not an address in an object store | "2026-02-30" | a day for `export --to` is such as 2026-10-31',
    'mirror 2 | an address of S3 with a slip | export invoices --to s3:/books | is not an address in an object store | "s3:/books" | Write s3://BUCKET or s3://BUCKET/PREFIX',
    "mirror 10 | a port that is taken | serve --listen 127.0.0.1:{busy} | cannot listen on 127.0.0.1: | EADDRINUSE | choose another",
    "bucket 1 | a bucket that does not exist | export invoices --to s3://others/x | the object store refused | x/acme/ | Check the bucket's name",
    "0 | files to prove, and none were fetched | files check | no files yet | data/acme.files | `fintoro-mirror files` fetches them",
    "1 | a restore from nowhere | restore --from nothing | there is no backup of acme | nothing | Name the folder that `backup --to` wrote",
    "saved 1 | a backup of another moment | restore --from safe --at 2001 | there is no backup of 2001 of acme | safe | There are: 20",
    "damaged 10 | a backup that was changed | restore --from safe | the backup is damaged | mirror.db of | `restore --at` takes an older backup",
    "others 4 | a backup of another company | restore --from safe | the backup is of another company | than the mirror of acme | Nothing was touched",
  ]),
];
