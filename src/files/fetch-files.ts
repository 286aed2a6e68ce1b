import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { forEachAtOnce } from "../base/semaphore.ts";
import { pathOf, type RecordFiles } from "../connector/resource.ts";
import type { Transport } from "../connector/transport.ts";
import type {
  PendingFiles,
  FilesQuestion,
  PendingRecord,
  FiledResource,
} from "../state/files/pending-files.ts";
import type { FileRead, StoredFiles } from "../state/files/stored-files.ts";
import type { FileArchive, NewFile } from "./archive.ts";
import { hashOf } from "../base/files/hashed-file.ts";
import { archivePath } from "./file-names.ts";
import { readZip, UnusableAnswer } from "./zip-entries.ts";

interface FetchParts {
  readonly archive: FileArchive;
  readonly pending: PendingFiles;
  readonly stored: StoredFiles;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface FetchTally {
  /** Records whose files were asked for. */
  asked: number;
  /** Files that are new or have other bytes than before. */
  written: number;
  bytes: number;
  /** Records whose files cannot be used. */
  problems: number;
}

/** Requests in flight at once: the budget allows two a second, and each may hold a part of a large file. */
const mostAtOnce = 2;

/** Other kinds of errors concern every request. */
const ownProblems = new Set(["not_found", "forbidden", "invalid", "protocol", "unavailable", "network"]);

/** The service is away, or its route is. */
const mostInRow = 5;
/** Answers in a row that a resource has no such file. */
const mostRefused = 20;
const recordsAtOnce = 100;

/**
 * Fetches the files of these resources that are missing or whose record changed. Each is stored before the next is asked
 * for, so that a stop loses nothing. What cannot be used is noted with the reason, and asked for again later.
 *
 * @throws MirrorError: `stopped` by the signal or a limit; that of the service when it is away; `database`
 */
export async function fetchFiles(
  parts: FetchParts,
  resources: readonly FiledResource[],
  question: FilesQuestion,
  tally: FetchTally,
): Promise<void> {
  for (const resource of resources) await fetchResource(parts, resource, question, tally);
}

async function fetchResource(
  { archive, pending, stored, transport, clock, log, signal }: FetchParts,
  resource: FiledResource,
  question: FilesQuestion,
  tally: FetchTally,
): Promise<void> {
  const { name, files } = resource;
  /** States of records that were asked for: none is asked for twice. */
  const tried = new Set<string>();
  /** Failures that may be the service's: a record's own only where another one is answered after them. */
  const doubtful: { readonly read: FileRead; readonly error: MirrorError }[] = [];
  let refused = 0;
  const isRefused = () => refused >= mostRefused;
  const readOf = ({ id, recordSha }: PendingRecord, problem: string | null): FileRead => {
    return { ref: { resource: name, id }, recordSha, readAtMs: clock.nowMs(), problem };
  };
  const note = (read: FileRead) => {
    tally.problems++;
    stored.fail(read);
    log.warn(`${name} ${read.ref.id}: no file: ${read.problem}`);
  };
  /** The service answers: what failed before was the records' own. */
  const noteDoubtful = () => {
    for (const { read } of doubtful.splice(0)) note(read);
  };
  const fail = (record: PendingRecord, error: unknown) => {
    const isOwn = error instanceof MirrorError && ownProblems.has(error.kind);
    if (!isOwn && !(error instanceof UnusableAnswer)) throw error;
    tally.asked++;
    const read = readOf(record, error.message);
    if (error instanceof MirrorError && error.retryable) {
      doubtful.push({ read, error });
      if (doubtful.length >= mostInRow) throw error;
      return;
    }
    refused++;
    note(read);
  };
  const fetchInto = async (into: string, record: PendingRecord) => {
    try {
      const path = pathOf(files.path, record.id);
      await transport.send({ method: "GET", path, expect: "bytes", into, lane: "files", signal });
      const found = (await contentsOf(files, into)).map(({ name: ownName, ...content }): NewFile => {
        const filed = { document: name, id: record.id, date: record.date, words: record.name, ownName };
        return { ...content, placed: (isTaken) => archivePath(filed, ".pdf", isTaken) };
      });
      noteDoubtful();
      refused = 0;
      tally.asked++;
      const { written, bytes } = archive.store(readOf(record, null), files.kind, found);
      tally.written += written;
      tally.bytes += bytes;
    } catch (error) {
      fail(record, error);
    }
  };
  while (!isRefused()) {
    const found = pending.next(resource, question, recordsAtOnce + doubtful.length);
    const records = found.filter((record) => !tried.has(stateOf(record)));
    if (records.length === 0) {
      // Nobody knows whose failures the last ones were: without any answer they are the network's.
      const last = doubtful.at(-1)?.error;
      if (last?.kind === "network") throw last;
      return noteDoubtful();
    }
    await forEachAtOnce(mostAtOnce, records, async (record) => {
      if (isRefused()) return;
      tried.add(stateOf(record));
      await archive.withDraft(`${name}-${record.id}`, (folder) => fetchInto(`${folder}/answer`, record));
    });
  }
  log.warn(`${name}: ${mostRefused} answers in a row brought no file: left for the next time`);
}

function stateOf({ id, recordSha }: PendingRecord): string {
  return `${id} ${recordSha}`;
}

async function contentsOf({ mediaType }: RecordFiles, answer: string) {
  const { size } = statSync(answer);
  if (size === 0) throw new UnusableAnswer("the answer is empty");
  if (mediaType === "application/pdf") {
    if (!(await isPdf(answer, size))) throw new UnusableAnswer("the answer is no PDF, or only a part of one");
    return [{ name: null, file: answer, ...(await hashOf(answer)) }];
  }
  return await readZip(answer);
}

/** What readers look for: the head within the first kilobyte, the end within the last. */
async function isPdf(file: string, sizeBytes: number): Promise<boolean> {
  await using handle = await open(file);
  const [head, tail] = [Buffer.alloc(1024), Buffer.alloc(1024)];
  await handle.read(head, { position: 0 });
  await handle.read(tail, { position: Math.max(0, sizeBytes - 1024) });
  return head.includes("%PDF-") && tail.includes("%%EOF");
}
