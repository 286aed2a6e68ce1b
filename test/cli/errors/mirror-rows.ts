import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { takeWriterLock } from "../../../src/store/writer-lock.ts";
import { mirrorName, type ErrorPlace, errorRows, type ErrorRow } from "../../support/program/error-row.ts";

const aText = {
  before: ({ write }: ErrorPlace) => write(mirrorName, "a text and no database ".repeat(200)),
} as const;

function change(place: ErrorPlace, sql: string): void {
  const db = openDatabase(place.at(mirrorName));
  db.exec(sql);
  db.close();
}

const newer = {
  mirror: true,
  before: (place: ErrorPlace) => change(place, "INSERT INTO _migrations VALUES ('9999-later', '')"),
} as const;

/** Every page but the first is of other bytes. */
const damaged = {
  mirror: true,
  before: ({ at }: ErrorPlace) => {
    for (const ending of ["-wal", "-shm"]) rmSync(at(mirrorName + ending), { force: true });
    const bytes = readFileSync(at(mirrorName));
    writeFileSync(at(mirrorName), bytes.fill(0x5a, 4_096));
  },
} as const;

const written = {
  mirror: true,
  before: ({ at }: ErrorPlace) => {
    const lock = takeWriterLock(at("data/acme.lock"), "sync");
    onTestFinished(() => lock.release());
  },
} as const;

const notADatabase = {
  exit: 10,
  what: "the file is not a SQLite database",
  where: mirrorName,
  next: "a foreign file stands where the mirror belongs",
} as const;
const isDamaged = {
  exit: 10,
  what: "the database is damaged",
  where: mirrorName,
  next: "restore a backup or move it away and sync anew",
} as const;
const isLocked = {
  exit: 11,
  what: "the mirror is being written by process",
  where: "(sync, since ",
  next: "Wait until it ends, or stop it",
} as const;

/** What happens to the database of a mirror. */
export const mirrorRows: readonly ErrorRow[] = [
  { situation: "a mirror that is no database: a run", command: "sync", ...aText, ...notADatabase },
  { situation: "a mirror that is no database: a report", command: "publish", ...aText, ...notADatabase },
  { situation: "a mirror that is no database: status", command: "status", ...aText, ...notADatabase },
  { situation: "a damaged page: a run", command: "sync", ...damaged, ...isDamaged },
  { situation: "a damaged page: an export", command: "export --out x", ...damaged, ...isDamaged },
  { situation: "a damaged page: a local verification", command: "verify --local", ...damaged, ...isDamaged },
  { situation: "a damaged page: a backup", command: "backup --to safe", ...damaged, ...isDamaged },
  { situation: "another process writes the mirror: a run", command: "sync", ...written, ...isLocked },
  { situation: "another process writes the mirror: prune", command: "prune", ...written, ...isLocked },
  ...errorRows({ ...newer, where: mirrorName }, [
    "10 | a mirror of a newer version: a run | sync | the database was written by a newer version |  | Update fintoro-mirror",
    "10 | a mirror of a newer version: an export | export --out x | a newer version wrote it |  | Update fintoro-mirror",
  ]),
  ...errorRows(
    {
      mirror: true,
      before: (place) => change(place, "DELETE FROM invoices WHERE id = (SELECT min(id) FROM invoices)"),
    },
    [
      "1 | a row that is missing | verify --local | has no row | acme: the mirror is damaged:  | `fintoro-mirror verify --local --repair` makes rows again",
    ],
  ),
];
