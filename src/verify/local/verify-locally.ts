import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { absentOwnTables, FileCheck, restoreOwnTables } from "../../state/checks/file-check.ts";
import { openMirror } from "../../state/mirror.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import { checkLocally, isOfIndex, type LocalCheckOptions } from "./check-locally.ts";
import type { LocalCheck } from "./local-check.ts";
import { repairLocally, type LocalRepair } from "./repair-locally.ts";

/** How a mirror is verified against itself. */
export interface LocalVerificationOptions extends LocalCheckOptions {
  /** Repairs what is found: the caller holds the writer lock. */
  readonly repair: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Names of the resources that the config mirrors. @default all */
  readonly selected?: ReadonlySet<string>;
}

/** What was found, and what is left of it. */
export interface LocalVerification {
  readonly found: LocalCheck;
  /** null: nothing was repaired. */
  readonly repair: LocalRepair | null;
  /** After the repair; the same as `found` without one. `match`: nothing is wrong. */
  readonly result: LocalCheck;
}

/**
 * Checks a mirror against itself, repairs it if asked to, and checks it again. Sends no request.
 *
 * @throws MirrorError `database`, `stopped` when the signal aborted
 */
export async function verifyLocally(
  path: string,
  manifest: Manifest,
  options: LocalVerificationOptions,
): Promise<LocalVerification> {
  const found = await checkLocally(path, manifest, options);
  if (found.match || !options.repair) return { found, repair: null, result: found };
  if (!(await repairFile(path, found))) return { found, repair: null, result: found };
  const { clock, log, signal, selected } = options;
  const mirror = await openMirror(path, manifest, {}, { clock, log, ...(signal && { signal }) });
  try {
    const queue = new WorkQueue(mirror.db);
    const repair = await repairLocally({ mirror, queue, clock, selected }, options);
    return { found, repair, result: await checkLocally(path, manifest, options) };
  } finally {
    mirror.close();
  }
}

/** What must be whole before the mirror can be opened. False: the file is damaged beyond its indexes. */
async function repairFile(path: string, { problems }: LocalCheck): Promise<boolean> {
  const damages = problems.filter(({ kind }) => kind === "integrity");
  if (!damages.every(({ message }) => isOfIndex(message))) return false;
  const db = openDatabase(path);
  try {
    guarded(path, () => {
      restoreOwnTables(db, absentOwnTables(db));
      if (damages.length > 0) new FileCheck(db).reindex();
    });
    return true;
  } finally {
    db.close();
  }
}
