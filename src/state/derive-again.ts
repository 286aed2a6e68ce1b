import { yieldToLoop } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import type { DeriveResult } from "../store/apply/derive-rows.ts";
import { idsHeld } from "../store/apply/held-record.ts";
import { stampWithoutRead, type ReadStamp } from "../store/apply/read-stamp.ts";
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
  for (let from = mirror.derivations.nextId(resource); from !== null;) {
    from = deriveSome(mirror, resource, { from, stamp: stampWithoutRead("schema", clock) }, totals);
    mirror.notices.onDerived?.({ resource, ...totals, isDone: from === null });
    if (from !== null) await yieldToLoop(signal, `stopped while the rows of ${resource} were derived again`);
  }
}

/** Returns where the next ones begin; null: these were the last. */
function deriveSome(
  mirror: DerivableMirror,
  resource: string,
  { from, stamp }: { readonly from: bigint; readonly stamp: ReadStamp },
  totals: Record<DeriveResult, number>,
): bigint | null {
  const table = mirror.table(resource);
  return mirror.apply(() => {
    const { ids, next } = idsHeld(table.context.db, table.plan, from, recordsAtOnce);
    for (const id of ids) totals[table.derive(id, stamp)] += 1;
    if (next === null) finishTables(table.context.db, table.plan);
    mirror.derivations.advance(resource, next);
    return next;
  });
}
