import path from "node:path";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { AskedMoment } from "../../base/ids.ts";
import type { MonthPackage } from "../../connector/report-view.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { monthChanges, type MonthChanges } from "../../export/package/month-changes.ts";
import { translationTo } from "../../export/plan/export-plan.ts";
import { periodOfMonth } from "../../export/plan/period.ts";
import { handOversOf } from "../../state/as-of/hand-overs.ts";
import { findMoment, type MirrorMoment } from "../../state/as-of/moment.ts";
import { overlayAsOf } from "../../state/as-of/rewind.ts";
import { openSnapshot } from "../../state/mirror-snapshot.ts";
import { withOverlay, type ScopeAsOf } from "./as-of.ts";
import { readExisting } from "./company-scope.ts";

interface SinceHandOver {
  /** The mirror that was compared. */
  readonly seq: number;
  readonly since: MirrorMoment;
  readonly changes: MonthChanges;
  /** Has nothing changed since the last hand-over? Then `since` is the one before, with which that one was compared. */
  readonly isAgain: boolean;
}

/**
 * Compares a month with its last hand-over, or with the moment asked for; null: there was none. The same month again is
 * compared as the last time, so that it gives the same files.
 *
 * @throws MirrorError `usage` where the change log does not reach back to the moment asked for
 */
export async function sinceHandOver(
  scope: ScopeAsOf,
  monthPackage: MonthPackage,
  month: string,
  asked: AskedMoment | undefined,
  scratch: string,
): Promise<SinceHandOver | null> {
  const { context, manifest, config, files, company, moment } = scope;
  // An overlay as of a moment has no log of its own.
  const ofNow = mirrorFiles(config, company.name);
  const at = { nowMs: context.clock.nowMs(), timezone: config.schedule.timezone };
  const moments = await readExisting({ ...scope, files: ofNow }, (db) => {
    if (asked) return [findMoment(db, asked, at)];
    return handOversOf(db, month)
      .filter(({ seq }) => moment === null || seq <= moment.seq)
      .slice(-2)
      .toReversed()
      .flatMap(({ log, seq, at: handedOver }) => {
        try {
          const { at: changedAt } = findMoment(db, { kind: "position", position: { log, seq } }, at);
          return [{ log, seq, at: handedOver > changedAt ? handedOver : changedAt }];
        } catch (error) {
          if (!(error instanceof MirrorError)) throw error;
          const what = `${company.name}: what changed in ${month} since it was handed over on ${handedOver} is not known`;
          context.log.warn(`${what}: ${messageOf(error)}`);
          return [];
        }
      });
  });
  const period = periodOfMonth(month);
  const shown = { ...manifest, views: [...(manifest.views ?? []), ...monthPackage.sheets] };
  const options = { reportDate: period.to, redact: config.report.redact };
  const words = translationTo(manifest, monthPackage.language);
  makeFolders(scratch);
  let compared: SinceHandOver | null = null;
  for (const [i, since] of moments.entries()) {
    const copy = path.join(scratch, `handed-over-${i}.db`);
    using then = await withOverlay(
      () => overlayAsOf(ofNow.mirror, copy, manifest, since, context),
      () => openSnapshot(copy, shown, options),
    );
    using now = openSnapshot(files.mirror, shown, options);
    const changes = monthChanges(then, now, monthPackage, period, words);
    compared = { seq: now.seq, since, changes, isAgain: i > 0 };
    if (changes.changed.length + changes.corrected.length > 0) break;
  }
  const { changed = [], corrected = [] } = compared?.changes ?? {};
  const isUnchanged = changed.length + corrected.length === 0;
  return compared && isUnchanged ? { ...compared, isAgain: asked === undefined } : compared;
}
