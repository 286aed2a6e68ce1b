import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { Resource } from "../connector/resource.ts";
import { filedResources, fileKinds, PendingFiles, usualQuestion } from "../state/files/pending-files.ts";
import { filesStep, readSteps } from "../status/after-run-record.ts";
import type { Db } from "../store/database.ts";

export interface IdleFetchParts {
  readonly context: { readonly clock: Clock; readonly log: Log };
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly resources: readonly Resource[];
  /** The mirror. */
  readonly db: Db;
  /** Is a run under way? The budget is its own then. */
  readonly isRunning: () => boolean;
  /** Fetches for a minute at most, in another process, so that no report waits for long. Never rejects. */
  readonly fetchSome: () => Promise<void>;
  readonly closed: AbortSignal;
}

/**
 * Gives a function that has files fetched, if the config asks for them, until none is left or a run begins. Call it when a
 * run has ended and after events.
 *
 * Guarantee: no file is fetched while a run asks the service, but for the rest of a minute.
 * Source of truth: what the mirror says is missing.
 * Worst outcome of a crash: none; it is asked again.
 */
export function createIdleFetch(parts: IdleFetchParts): () => void {
  const { context, config, company, resources, db, isRunning, fetchSome, closed } = parts;
  const kinds = fileKinds(config);
  const filed = filedResources(resources).filter(({ files }) => kinds.includes(files.kind));
  const { afterRun } = mirrorFiles(config, company.name);
  const pending = new PendingFiles(db);
  const isDue = () =>
    !closed.aborted && !isRunning() && pending.isAny(filed, usualQuestion(context.clock.nowMs()));
  const last = () => readSteps(afterRun)[filesStep];
  let isFetching = false;
  const fetchAll = async () => {
    isFetching = true;
    try {
      for (let before = last()?.at; isDue(); before = last()?.at) {
        await fetchSome();
        // Nothing is recorded where another process fetches, or where the disk is full.
        if (last()?.outcome === "failed" || last()?.at === before) return;
      }
    } catch (error) {
      context.log.error("fetching files failed", { error: messageOf(error) });
    } finally {
      isFetching = false;
    }
  };
  return () => {
    if (filed.length > 0 && !isFetching) void fetchAll();
  };
}
