import { stampWithoutRead } from "../store/apply/read-stamp.ts";
import { yieldToLoop } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { canonicalId } from "../base/ids.ts";
import type { DeriveResult } from "../store/apply/derive-rows.ts";
import { idsHeld } from "../store/apply/held-record.ts";
import type { ResourceTable } from "../store/apply/resource-table.ts";
import type { StoreNotices } from "../store/apply/table-context.ts";
import type { Derivations } from "../store/tables/derivations.ts";
import { finishTables } from "../store/tables/table-layout.ts";

/** Records of one transaction: less than 0.1 s of work, so that timers and other companies get their turn. */
const recordsAtOnce = 1_000;

/** What deriving needs of the mirror. */
interface DerivableMirror {
  readonly derivations: Derivations;
  readonly notices: StoreNotices;
  apply<T>(step: () => T): T;
  table(resource: string): ResourceTable;
}

/**
 * Derives the rows of a resource from their JSON where `Derivations` says so. Reports progress to the notices.
 *
 * Guarantee: at each commit, rows and change log fit together, and readers find each row as it was or as it is now.
 * Source of truth: `_raw_<resource>`, and `_derivations` for what is done.
 * Worst outcome of a crash: the next opening continues with the transaction that was cut off.
 *
 * @throws MirrorError `stopped` when the signal aborted
 */
export async function deriveAgain(
  mirror: DerivableMirror,
  resource: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const totals = { same: 0, written: 0, unusable: 0 };
  while (mirror.derivations.nextId(resource) !== null) {
    const isDone = deriveSome(mirror, resource, clock, totals);
    mirror.notices.onDerived?.({ resource, ...totals, isDone });
    if (!isDone) await yieldToLoop(signal, `stopped while the rows of ${resource} were derived again`);
  }
}

/** Returns whether these were the last. */
function deriveSome(
  mirror: DerivableMirror,
  resource: string,
  clock: Clock,
  totals: Record<DeriveResult, number>,
): boolean {
  const { derivations } = mirror;
  const table = mirror.table(resource);
  const stamp = stampWithoutRead("schema", clock);
  return mirror.apply(() => {
    const from = derivations.nextId(resource);
    const ids = from === null ? [] : idsHeld(table.context.db, table.plan, from, recordsAtOnce + 1);
    const next = ids[recordsAtOnce] ?? null;
    for (const id of ids.slice(0, recordsAtOnce)) totals[table.derive(canonicalId(id), stamp)] += 1;
    if (next === null) finishTables(table.context.db, table.plan);
    derivations.advance(resource, next);
    return next === null;
  });
}
