import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { forEachAtOnce } from "../base/semaphore.ts";
import { pathOf, type RecordFiles } from "../connector/resource.ts";
import type { Transport } from "../connector/transport.ts";
import type { PendingFiles, FilesQuestion, PendingRecord } from "../state/files/pending-files.ts";
import type { FiledResource } from "../state/files/pending-files.ts";
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
  for (const resource of resources) await new ResourceFetch(parts, resource, tally).run(question);
}

class ResourceFetch {
  private readonly parts: FetchParts;
  private readonly resource: FiledResource;
  private readonly tally: FetchTally;
  /** States of records that were asked for: none is asked for twice. */
  private readonly tried = new Set<string>();
  /** Failures that may be the service's: a record's own only where another one is answered after them. */
  private readonly doubtful: FileRead[] = [];
  private lastError: MirrorError | null = null;
  private refused = 0;

  constructor(parts: FetchParts, resource: FiledResource, tally: FetchTally) {
    this.parts = parts;
    this.resource = resource;
    this.tally = tally;
  }

  async run(question: FilesQuestion): Promise<void> {
    const { pending, log } = this.parts;
    while (this.refused < mostRefused) {
      const found = pending.next(this.resource, question, recordsAtOnce + this.doubtful.length);
      const records = found.filter((record) => !this.tried.has(stateOf(record)));
      if (records.length === 0) return this.endDoubtful();
      await forEachAtOnce(mostAtOnce, records, (record) => this.fetch(record));
    }
    log.warn(
      `${this.resource.name}: ${mostRefused} answers in a row brought no file: left for the next time`,
    );
  }

  private async fetch(record: PendingRecord): Promise<void> {
    if (this.refused >= mostRefused) return;
    this.tried.add(stateOf(record));
    const draft = `${this.resource.name}-${record.id}`;
    await this.parts.archive.withDraft(draft, (folder) => this.fetchInto(`${folder}/answer`, record));
  }

  private async fetchInto(into: string, record: PendingRecord): Promise<void> {
    const { transport, archive, signal } = this.parts;
    const { files } = this.resource;
    try {
      const path = pathOf(files.path, record.id);
      await transport.send({ method: "GET", path, expect: "bytes", into, lane: "files", signal });
      const found = await this.filesIn(record, into);
      this.noteDoubtful();
      this.refused = 0;
      this.tally.asked++;
      const { written, bytes } = archive.store(this.readOf(record, null), files.kind, found);
      this.tally.written += written;
      this.tally.bytes += bytes;
    } catch (error) {
      this.fail(record, error);
    }
  }

  private fail(record: PendingRecord, error: unknown): void {
    const isOwn = error instanceof MirrorError && ownProblems.has(error.kind);
    if (!isOwn && !(error instanceof UnusableAnswer)) throw error;
    this.tally.asked++;
    const read = this.readOf(record, error.message);
    if (error instanceof MirrorError && error.retryable) {
      this.lastError = error;
      this.doubtful.push(read);
      if (this.doubtful.length >= mostInRow) throw error;
      return;
    }
    this.refused++;
    this.note(read);
  }

  /** The service answers: what failed before was the records' own. */
  private noteDoubtful(): void {
    for (const read of this.doubtful.splice(0)) this.note(read);
  }

  /** Nobody knows whose failures the last ones were: without any answer they are the network's. */
  private endDoubtful(): void {
    if (this.doubtful.length > 0 && this.lastError?.kind === "network") throw this.lastError;
    this.noteDoubtful();
  }

  private note(read: FileRead): void {
    const { log, stored } = this.parts;
    const { resource, id } = read.ref;
    this.tally.problems++;
    stored.fail(read);
    log.warn(`${resource} ${id}: no file: ${read.problem}`);
  }

  private readOf(record: PendingRecord, problem: string | null): FileRead {
    const ref = { resource: this.resource.name, id: record.id };
    return { ref, recordSha: record.recordSha, readAtMs: this.parts.clock.nowMs(), problem };
  }

  private async filesIn(record: PendingRecord, answer: string): Promise<NewFile[]> {
    const { name: document, files } = this.resource;
    const found = await contentsOf(files, answer);
    return found.map(({ name: ownName, ...content }) => {
      const filed = { document, id: record.id, date: record.date, words: record.name, ownName };
      return { ...content, placed: (isTaken) => archivePath(filed, ".pdf", isTaken) };
    });
  }
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
