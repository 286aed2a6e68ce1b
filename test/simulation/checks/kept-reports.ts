import path from "node:path";
import { mkdirSync } from "node:fs";
import { manifest as fintoro } from "../../../connectors/fintoro/manifest.ts";
import { overlayAsOf } from "../../../src/state/as-of/rewind.ts";
import type { MirrorMoment } from "../../../src/state/as-of/moment.ts";
import { clockAt, publishedContent } from "../../support/export/published.ts";
import type { Row } from "../../support/export/recount.ts";
import { look } from "../../support/truth/compare.ts";
import { changedContent, type Content } from "./replay.ts";
import { newFolder } from "../machine/simulation-folders.ts";
import { manifest } from "../machine/simulated-manifest.ts";

/** To publish one and to rewind to it takes half a second. */
const mostKept = 3;

/** Reports of a few positions, published when the mirror was there, to be compared with those as of them. */
export class KeptReports {
  private readonly kept: { readonly moment: MirrorMoment; readonly content: Content }[] = [];
  private readonly folder = newFolder();
  private made = 0;
  private processes = 0;

  /** Publishes a mirror that nobody writes: after every second process, a few times. */
  async keep(mirror: string, nowMs: number): Promise<void> {
    if (this.processes++ % 2 > 0 || this.kept.length === mostKept) return;
    const seq = look(mirror, (db) => db.prepare("SELECT max(seq) FROM _change_log").pluck().get());
    if (typeof seq !== "number") return;
    const moment = { log: "", seq, at: new Date(nowMs).toISOString() };
    this.kept.push({ moment, content: await this.publish(mirror) });
  }

  /**
   * What a report as of a kept position shows otherwise than the one that was published there. Not to be asked where the
   * clock was set: runs and new columns are known by it.
   */
  async mistakes(mirror: string): Promise<string[]> {
    const found: string[] = [];
    for (const { moment, content } of this.kept) {
      const copy = path.join(this.folder, `${++this.made}.db`);
      const signal = new AbortController().signal;
      await overlayAsOf(mirror, copy, manifest, moment, { clock: clockAt("2026-11-20"), signal });
      const then = await this.publish(copy);
      const changed = changedContent(content, then);
      found.push(...changed.map((what) => `as of ${moment.seq} (${moment.at}), ${what}`));
    }
    return found;
  }

  private async publish(mirror: string): Promise<Content> {
    mkdirSync(this.folder, { recursive: true });
    const report = path.join(this.folder, `${++this.made}.report.db`);
    const content = Object.entries(await publishedContent(mirror, { manifest: fintoro, report }));
    return new Map(
      content.map(([name, rows = []]) => [
        name,
        new Set(rows.filter(isJudged).map((row) => JSON.stringify(row))),
      ]),
    );
  }
}

/** Which run read a table last, and when, is known to the millisecond, in which the next process may begin here. */
function isJudged({ subject, fact }: Row): boolean {
  return subject !== "run" && fact !== "fresh_at";
}
