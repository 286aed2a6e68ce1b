import { abortAfter } from "../../../base/cancellation.ts";
import { MirrorError } from "../../../base/errors.ts";
import type { RecordRef } from "../../../base/ids.ts";
import { counted, formatCount, formatSize } from "../../../base/units.ts";
import type { FileKind } from "../../../connector/resource.ts";
import { connectService } from "../../../runs/service-connection.ts";
import { FileArchive } from "../../../files/archive.ts";
import { readFile } from "../../../files/published-files.ts";
import type { FileStore } from "../../../file-store/file-store.ts";
import { openStore } from "../../../file-store/open-store.ts";
import { fetchFiles, type FetchTally } from "../../../files/fetch-files.ts";
import {
  fileKinds,
  filedResources,
  PendingFiles,
  type FilesQuestion,
} from "../../../state/files/pending-files.ts";
import { StoredFiles } from "../../../state/files/stored-files.ts";
import { filesStep } from "../../../status/after-run-record.ts";
import { openDatabase } from "../../../store/database.ts";
import { takeWriterLock } from "../../../store/writer-lock.ts";
import { assertOwnToken, readExisting, type CompanyScope } from "../../mirror/company-scope.ts";
import { failureOf } from "../../console/console.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany, recorded } from "../../runs/each-company.ts";

export const filesCommand: CommandRun<"files"> = (context, { options, config }) => {
  const { month, maxRequests: mostRequests, maxDuration } = options;
  const closed = maxDuration === undefined ? undefined : abortAfter(maxDuration);
  const asked = fileKinds(config);
  // Where the config asks for none, a person who calls the command wants all.
  const kinds = asked.length > 0 ? asked : (["pdf", "attachment"] as const);
  return forEachCompany(context, config, (scope) => {
    const question = { retryBeforeMs: context.clock.nowMs(), month };
    return fetchCompanyFiles(scope, { kinds, question, mostRequests, closed });
  });
};

interface FilesRequest {
  readonly kinds: readonly FileKind[];
  readonly question: FilesQuestion;
  readonly mostRequests?: number | undefined;
  readonly closed?: AbortSignal | undefined;
}

/** Problems that are named; the others are counted. */
const mostNamed = 20;

/**
 * Fetches files of one company beside whoever writes the mirror, and records how it went for `status`. Sends nothing where
 * none is missing. On a terminal one line shows the progress. Gives also how many are still to be fetched.
 *
 * @throws MirrorError `locked` while another process fetches, `identity` for the token of another company (I10),
 *   `database`, and those of the service when it is away
 */
export function fetchCompanyFiles(scope: CompanyScope, request: FilesRequest) {
  return recorded(scope, filesStep, async () => {
    const result = await fetchAlone(scope, request);
    const { outcome, written, bytes, pending, folder } = result;
    const left = pending > 0 ? `; ${formatCount(pending)} still to be fetched` : "";
    const bad = result.problems > 0 ? `; ${formatCount(result.problems)} without a file` : "";
    const problems = await readExisting(scope, (db) => new PendingFiles(db).problems(mostNamed));
    const what = `${counted(written, "file")} written to ${folder} (${formatSize(bytes)})${bad}${left}`;
    return {
      outcome,
      pending,
      isUnchanged: written === 0,
      document: { ...result, problems },
      lines: [
        `${scope.company.name}: ${what}`,
        ...problems.map(({ document, document_id: id, problem }) => `  ${document} ${id}: ${problem}`),
      ],
    };
  });
}

/** The files of these documents, fetched where missing, as far as the service gives them; `isStoredEnough`: failures are logged. */
export async function filesOfDocuments(
  scope: CompanyScope,
  documents: readonly RecordRef[],
  isStoredEnough = false,
) {
  const question = { retryBeforeMs: scope.context.clock.nowMs(), records: documents };
  try {
    await fetchAlone(scope, { kinds: ["pdf", "attachment"], question });
  } catch (error) {
    if (!isStoredEnough || scope.context.signal.aborted) throw error;
    const { kind, message, hint } = failureOf(error);
    const what = `${scope.company.name}: PDFs were not fetched: ${message}`;
    scope.context.log.warn(what, { kind, hint: hint ?? undefined });
  }
  return storedFilesOf(scope, documents);
}

export function storedFilesOf(scope: CompanyScope, documents: readonly RecordRef[]) {
  return readExisting(scope, (db) => {
    const stored = new StoredFiles(db);
    const found = documents.flatMap((ref) => stored.of(ref));
    const { folder } = scope.files;
    const store = storeOfFiles(scope);
    return found.map((each) => ({ ...each, content: readFile(folder, store, each, scope.context.signal) }));
  });
}

/** Where a worker keeps contents; null: they are in the company's folder. */
export function storeOfFiles({ config: { files }, context }: CompanyScope): FileStore | null {
  return files.store === null ? null : openStore(files.store, context);
}

/** One answer, at most. It is on the disk, not in memory. */
const mostFileBytes = 100_000_000;

async function fetchAlone(scope: CompanyScope, { kinds, question, mostRequests, closed }: FilesRequest) {
  const { context, config, company, files } = scope;
  // There must be a mirror: opening one for writing would make it.
  await readExisting(scope, () => null);
  using _ = takeWriterLock(files.folderLock, "files", `the folder ${files.folder}`);
  using db = openDatabase(files.mirror);
  const { clock, log, signal } = context;
  const resources = filedResources(scope.resources, kinds);
  const archive = FileArchive.open(files.folder, db, clock, config.files.store === null);
  const [pending, stored] = [new PendingFiles(db), new StoredFiles(db)];
  const left = () => pending.count(resources, question);
  const of = left();
  const tally: FetchTally = { asked: 0, written: 0, bytes: 0, problems: 0 };
  /** `stopped`: a limit was reached. `partial`: some cannot be used. */
  const end = (outcome: "complete" | "stopped", requests: number) => ({
    ...tally,
    outcome: outcome === "complete" && tally.problems > 0 ? ("partial" as const) : outcome,
    pending: left(),
    requests,
    folder: files.folder,
  });
  if (of === 0) return end("complete", 0);
  const maxResponseBytes = Math.min(config.http.maxResponseBytes, mostFileBytes);
  const capped = { ...config, http: { ...config.http, maxResponseBytes } };
  const events = company.webhook.secrets.length > 0;
  const asked = { attempts: 3, events, limits: { mostRequests, closed } };
  await using service = connectService(context, { ...scope, config: capped }, asked);
  const { transport } = service;
  // Beside a run there are more than at the beginning.
  const line = () =>
    `${company.name}: files ${formatCount(tally.asked)} of ${formatCount(Math.max(of, tally.asked))}, ${formatSize(tally.bytes)}`;
  try {
    await context.showing(async (show) => {
      show(line);
      await assertOwnToken(scope, transport);
      const parts = { archive, pending, stored, transport, clock, log, signal };
      await fetchFiles(parts, resources, question, tally);
    });
    return end("complete", transport.stats().requests);
  } catch (error) {
    const isLimit = error instanceof MirrorError && error.kind === "stopped" && !signal.aborted;
    if (!isLimit) throw error;
    return end("stopped", transport.stats().requests);
  }
}
