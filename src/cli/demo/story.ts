import { answer } from "./report-steps.ts";
import { behind } from "./webhook-steps.ts";
import { crash, morning, resume } from "./sync-steps.ts";
import type { DemoContext } from "./demo-steps.ts";
import type { DemoSetup } from "./demo-setup.ts";
import type { Narrate } from "./narration.ts";

/** Tells what happened, every number read off it. Returns whether it ended as it should. */
type Chapter = (stage: DemoSetup, scene: DemoContext, tell: Narrate) => Promise<boolean>;

const chapters: readonly (readonly [title: string, chapter: Chapter])[] = [
  ["A first sync, and the plug is pulled in the middle of it", crash],
  ["The next sync goes on where it was", resume],
  ["The service changes; an ordinary nightly run brings it in", morning],
  ["Seconds behind: serve hears of changes by webhook", behind],
  ["The answer to a question: in plain SQL, as CSV, as Parquet", answer],
];

/** The whole story, to its end even where a chapter did not end well. Returns whether all of them did. */
export async function runDemo(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  let good = true;
  for (const [index, [title, chapter]] of chapters.entries()) {
    if (index > 0) await tell("");
    await tell(`${index + 1}. ${title}`);
    good = (await chapter(stage, scene, tell)) && good;
  }
  return good;
}
