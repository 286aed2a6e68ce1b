import { setImmediate } from "node:timers/promises";
import type { RecordId } from "../../base/ids.ts";
import { readList } from "../../extract/answers.ts";
import { pageFacts, wholeFacts } from "../../extract/page-facts.ts";
import { applyCounted, type AnswerContext } from "../context/run-context.ts";
import { applyListed } from "./listed-record.ts";
import { addListingPage, pagePlace } from "./listing.ts";

/** Records per transaction: longer answers are cut, so that other answers are applied in between. */
export const recordsAtOnce = 1_000;

/**
 * Applies one answer of a list or of a parent's list. Its records, what follows from them and the removal of the
 * work item commit together. A long answer commits in parts, the work item with the last: after a crash in between
 * it is read again and finds the rows unchanged (I1, I7).
 *
 * @throws ProtocolError when the body is not a list, or not the page that was asked for
 */
export async function applyList(answer: AnswerContext, body: Buffer): Promise<void> {
  const { run, resource, item, stamp } = answer;
  const { records, paginator } = readList(body);
  const { page, attempt } = pagePlace(item);
  const isPaged = resource.list.kind !== "whole";
  const facts = isPaged ? pageFacts(paginator, page, records.count) : wholeFacts(records.count);
  const ids: RecordId[] = [];
  const apply = (from: number, to: number) => ids.push(...applyListed(answer, records, { from, to }));
  let applied = 0;
  for (; records.count - applied > recordsAtOnce; applied += recordsAtOnce) {
    const from = applied;
    applyCounted(run, () => void apply(from, from + recordsAtOnce));
    await setImmediate();
  }
  applyCounted(run, () => {
    apply(applied, records.count);
    // Before the listing is completed: another sweep that it queues is an item of its own.
    run.queue.done(item, stamp.sentSeq);
    if (attempt === 1) run.tally.of(resource.name).listed += ids.length;
    if (resource.list.kind === "paged") run.tally.totals.set(resource.name, facts.total);
    addListingPage(answer, ids, facts);
  });
}
