import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { takeWriterLock } from "../../../src/store/writer-lock.ts";
import { wound } from "../../support/verify/verify.ts";
import { mirrorName, errorRows, type ErrorPlace, type ErrorSetups } from "../../support/program/error-row.ts";

const change = (sql: string) => (place: ErrorPlace) => wound({ file: place.at(mirrorName) }, sql);

/** Every page but the first is of other bytes. */
function damage({ at }: ErrorPlace): void {
  for (const ending of ["-wal", "-shm"]) rmSync(at(mirrorName + ending), { force: true });
  const bytes = readFileSync(at(mirrorName));
  writeFileSync(at(mirrorName), bytes.fill(0x5a, 4_096));
}

function lock({ at }: ErrorPlace): void {
  const held = takeWriterLock(at("data/acme.lock"), "sync");
  onTestFinished(() => held.release());
}

const setups: ErrorSetups = {
  text: {
    before: ({ write }) => write(mirrorName, "a text and no database ".repeat(200)),
    exit: 10,
    what: "the file is not a SQLite database",
    where: mirrorName,
    next: "a foreign file stands where the mirror belongs",
  },
  damaged: {
    mirror: true,
    before: damage,
    exit: 10,
    what: "the database is damaged",
    where: mirrorName,
    next: "restore a backup or move it away and sync anew",
  },
  written: {
    mirror: true,
    before: lock,
    exit: 11,
    what: "the mirror is being written by process",
    where: "(sync, since ",
    next: "Wait until it ends, or stop it",
  },
  newer: {
    mirror: true,
    before: change("INSERT INTO _migrations VALUES ('9999-later', '')"),
    where: mirrorName,
  },
  lacking: { mirror: true, before: change("DELETE FROM invoices WHERE id = (SELECT min(id) FROM invoices)") },
};

export const mirrorRows = errorRows(setups, [
  "text | a mirror that is no database: a run | sync",
  "text | a mirror that is no database: a report | publish",
  "text | a mirror that is no database: status | status",
  "damaged | a damaged page: a run | sync",
  "damaged | a damaged page: an export | export --out x",
  "damaged | a damaged page: a local verification | verify --local",
  "damaged | a damaged page: a backup | backup --to safe",
  "written | another process writes the mirror: a run | sync",
  "written | another process writes the mirror: prune | prune",
  "written | another process writes the mirror: a repair | verify --repair | the mirror that is to be repaired is being written by process",
  "newer 10 | a mirror of a newer version: a run | sync | the database was written by a newer version |  | Update fintoro-mirror",
  "newer 10 | a mirror of a newer version: an export | export --out x | a newer version wrote it |  | Update fintoro-mirror",
  "newer 10 | a mirror of a newer version: a report | publish | a newer version wrote it |  | Update fintoro-mirror",
  "lacking 1 | a row that is missing | verify --local | has no row | acme: the mirror is damaged:  | `fintoro-mirror verify --local --repair` makes rows again",
]);
