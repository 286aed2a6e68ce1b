import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import type { RecordRef } from "../../base/ids.ts";
import { formatCount, formatSize } from "../../base/units.ts";
import type { FileKind } from "../../connector/resource.ts";
import { connectService, type ServiceConnection } from "../../runs/service-connection.ts";
import { FileArchive } from "../../files/archive.ts";
import { fetchFiles, type FetchTally } from "../../files/fetch-files.ts";
import {
  filedResources,
  PendingFiles,
  type FileProblem,
  type PendingQuestion,
} from "../../state/files/pending-files.ts";
import { filesStep } from "../../status/after-run-record.ts";
import { StoredFiles, type DocumentFile } from "../../state/files/stored-files.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import { readExisting, type CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { askWhoami, judgeOwnToken } from "../mirror/whoami.ts";
import { recorded } from "./recorded-step.ts";

/** Which files of a company are fetched. */
export interface FilesRequest {
  readonly kinds: readonly FileKind[];
  readonly question: PendingQuestion;
  readonly mostRequests?: number | undefined;
  /** Closes when the time for it is over. */
  readonly closed?: AbortSignal | undefined;
}

/** What fetching came to. */
export interface FilesResult extends FetchTally {
  /** `stopped`: a limit was reached. `partial`: some cannot be used. */
  readonly outcome: "complete" | "stopped" | "partial";
  /** Records whose files are still to be fetched. */
  readonly pending: number;
  readonly requests: number;
  readonly folder: string;
}

/** One answer, at most. It is on the disk, not in memory. */
const mostFileBytes = 100_000_000;

/** Requests in flight at once: the budget allows two a second, and each may hold a part of a large file. */
const mostAtOnce = 2;

/**
 * Fetches files of one company beside whoever writes the mirror, and records how it went for `status`. Sends nothing where
 * none is missing. On a terminal one line shows the progress.
 *
 * @throws MirrorError `locked` while another process fetches, `identity` for the token of another company (I10),
 *   `database`, and those of the service when it is away
 */
export function fetchCompanyFiles(scope: CompanyScope, request: FilesRequest): Promise<FilesResult> {
  return recorded(
    scope,
    filesStep,
    () => fetchAlone(scope, request),
    ({ written }) => ({ unchanged: written === 0, seq: null }),
  );
}

async function fetchAlone(scope: CompanyScope, request: FilesRequest): Promise<FilesResult> {
  const { files } = scope;
  // There must be a mirror: opening one for writing would make it.
  await readExisting(scope, () => null);
  const lock = takeWriterLock(files.folderLock, "files", `the folder ${files.folder}`);
  const db = openDatabase(files.mirror);
  try {
    return await fetchLocked(scope, request, db);
  } finally {
    db.close();
    lock.release();
  }
}

/**
 * The files of these documents, fetched where they are missing; those that the service does not give are left out.
 * @param onFailure gets what kept them from being fetched, where those that are stored are enough
 */
export async function filesOfDocuments(
  scope: CompanyScope,
  documents: readonly RecordRef[],
  { onFailure }: { readonly onFailure?: (error: unknown) => void } = {},
): Promise<(DocumentFile & { readonly file: string })[]> {
  const question = { retryBeforeMs: scope.context.clock.nowMs(), records: documents };
  try {
    await fetchAlone(scope, { kinds: ["pdf", "attachment"], question });
  } catch (error) {
    if (!onFailure || scope.context.signal.aborted) throw error;
    onFailure(error);
  }
  return readExisting(scope, (db) => {
    const stored = new StoredFiles(db);
    const found = documents.flatMap((ref) => stored.of(ref));
    return found.map((each) => ({ ...each, file: path.join(scope.files.folder, each.path) }));
  });
}

async function fetchLocked(scope: CompanyScope, request: FilesRequest, db: Db): Promise<FilesResult> {
  const { context, config, company, manifest, files } = scope;
  const { clock, log, signal } = context;
  const { kinds, question, mostRequests, closed } = request;
  const selected = filedResources(selectResources(manifest, config.resources, []));
  const resources = selected.filter((resource) => kinds.includes(resource.files.kind));
  const archive = FileArchive.open(files.folder, db, clock);
  const [pending, stored] = [new PendingFiles(db), new StoredFiles(db)];
  const left = () => pending.count(resources, question);
  const of = left();
  const tally: FetchTally = { asked: 0, written: 0, bytes: 0, problems: 0 };
  const end = (outcome: FilesResult["outcome"], requests: number): FilesResult => ({
    ...tally,
    outcome: outcome === "complete" && tally.problems > 0 ? "partial" : outcome,
    pending: left(),
    requests,
    folder: files.folder,
  });
  if (of === 0) return end("complete", 0);
  const connection = connectService(
    context,
    { ...scope, config: capped(config) },
    {
      attempts: 3,
      events: company.webhook.secrets.length > 0,
      limits: { mostRequests, closed },
    },
  );
  const { transport } = connection;
  const line = () => [
    `${company.name}: files ${formatCount(tally.asked)} of ${formatCount(of)}, ${formatSize(tally.bytes)}`,
  ];
  const work = async () => {
    await assertOwnToken(scope, connection);
    const parts = { archive, pending, stored, transport, clock, log, signal, concurrency: mostAtOnce };
    await fetchFiles(parts, resources, question, tally);
  };
  try {
    await context.showing(line, work);
    return end("complete", transport.stats().requests);
  } catch (error) {
    const isLimit = error instanceof MirrorError && error.kind === "stopped" && !signal.aborted;
    if (!isLimit) throw error;
    return end("stopped", transport.stats().requests);
  } finally {
    await connection.close();
  }
}

function capped(config: CompanyScope["config"]): CompanyScope["config"] {
  const maxResponseBytes = Math.min(config.http.maxResponseBytes, mostFileBytes);
  return { ...config, http: { ...config.http, maxResponseBytes } };
}

/** The ids of another company's documents are the same numbers. */
async function assertOwnToken(scope: CompanyScope, { transport }: ServiceConnection): Promise<void> {
  const name = await askWhoami(transport, scope.manifest, scope.context.signal);
  const verdict = await judgeOwnToken(scope, transport, name);
  if (verdict?.kind === "refused") throw verdict.error;
}

/** The problems that are left, for people and for `--json`. */
export function fileProblems(scope: CompanyScope, most: number): Promise<FileProblem[]> {
  return readExisting(scope, (db) => new PendingFiles(db).problems(most));
}
