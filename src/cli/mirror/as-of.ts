import { rm } from "node:fs/promises";
import path from "node:path";
import { localDate } from "../../base/clock.ts";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { guardedFile } from "../../base/files/hashed-file.ts";
import type { AskedMoment } from "../../base/ids.ts";
import { findMoment, type MirrorMoment } from "../../state/as-of/moment.ts";
import { overlayWithHistory, overlayAsOf } from "../../state/as-of/overlays.ts";
import { readRestored } from "../../state/meta.ts";
import { databaseError, type Db } from "../../store/database.ts";
import { OverlayOutdated } from "../../store/snapshot/overlay.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import { readExisting, type CompanyScope } from "./company-scope.ts";

/**
 * Runs `work` on the mirror as it was at the moment asked for, or as it is. On a terminal a line says what is done.
 *
 * @throws MirrorError `usage` for a moment that has not come or that the change log does not reach
 */
export async function withMoment<T>(
  scope: CompanyScope,
  asked: AskedMoment | undefined,
  work: (scope: CompanyScope) => Promise<T>,
): Promise<T> {
  if (!asked) return work(scope);
  const { declaration, files, context } = scope;
  const moment = await readExisting(scope, (db) => findAsked(scope, db, asked));
  const make = (overlay: string) => overlayAsOf(files.mirror, overlay, declaration, moment, context);
  return overScope(scope, `reading the books as of ${moment.at}`, make, (then) => work({ ...then, moment }));
}

/** Finds a moment, and warns of one of which a restored mirror knows only what its backup did. Throws as `findMoment`. */
export function findAsked({ context, config, company }: CompanyScope, db: Db, asked: AskedMoment) {
  const moment = findMoment(db, asked, context.clock.nowMs(), config.schedule.timezone);
  const { at: restoredAt = "", taken_at: takenAt = "" } = readRestored(db) ?? {};
  if (takenAt < moment.at && moment.at < restoredAt)
    context.log.warn(`${company.name}: as of ${moment.at} this shows what the backup of ${takenAt} held`, {
      hint: `The mirror was restored from it at ${restoredAt}: what it learnt in between is lost.`,
    });
  return moment;
}

/** Runs `work` on an overlay of the mirror that shows all versions of each table's rows. */
export async function withHistory<T>(
  scope: CompanyScope,
  work: (scope: CompanyScope) => Promise<T>,
): Promise<T> {
  const { declaration, files, context } = scope;
  await readExisting(scope, () => null);
  const make = (overlay: string) => overlayWithHistory(files.mirror, overlay, declaration, context);
  return overScope(scope, "reading its history", make, work);
}

function overScope<T>(
  scope: CompanyScope,
  doing: string,
  make: (overlay: string) => Promise<void>,
  work: (scope: CompanyScope) => Promise<T>,
): Promise<T> {
  const { context, company, files } = scope;
  return withScratchFolder(scope, "as-of", async (folder) => {
    makeFolders(folder);
    const mirror = path.join(folder, path.basename(files.mirror));
    const shown = () =>
      context.showing((show) => {
        show(() => `${company.name}: ${doing}`);
        return make(mirror).catch((error: unknown) => Promise.reject(databaseError(mirror, error)));
      });
    return withOverlay(shown, () => work({ ...scope, files: { ...files, mirror } }));
  });
}

/** To use them up, a writer must commit between an overlay's making and its opening every time. */
const mostAttempts = 50;

/** Runs `work` on the overlay that `make` makes and brings up to date, which the live mirror may outrun before it is opened. */
export async function withOverlay<T>(make: () => Promise<void>, work: () => T | Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await make();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OverlayOutdated) || attempt === mostAttempts) throw error;
    }
  }
}

/** How files as of a moment are named: `2026-10-25` for a day's end, else with the change's number. */
export function momentName(asked: AskedMoment, { seq, at }: MirrorMoment, timezone: string): string {
  if (asked.kind === "day") return asked.day;
  return `${localDate(Date.parse(at), timezone)}-${seq}`;
}

/**
 * Runs `work` with a folder of its own beside the mirror, for files that are made to be used elsewhere. It is gone
 * afterwards; what a killed process left goes with the next run.
 *
 * @throws MirrorError `locked` while another process works in it; `database`: it cannot be used; what `work` throws
 */
export async function withScratchFolder<T>(
  { config, company }: Pick<CompanyScope, "config" | "company">,
  /** Each use has a folder of its own. */
  use: "package" | "upload" | "as-of" | "month" | "snapshot",
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = path.join(config.dataDir, `.${company.name}.${use}`);
  const files = path.join(folder, "files");
  await guardedFile(folder, async () => makeFolders(folder));
  using _ = takeWriterLock(path.join(folder, "lock"), use, `the folder ${folder}`);
  try {
    await rm(files, { recursive: true, force: true });
    return await work(files);
  } finally {
    // With the lock still held: another process may take the folder as soon as it is free.
    await rm(folder, { recursive: true, force: true });
  }
}
