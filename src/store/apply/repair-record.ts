import { hash } from "node:crypto";
import type { RecordId } from "../../base/ids.ts";
import { readHeld } from "./held-record.ts";
import type { Overrides, ReadStamp, Source } from "./read-stamp.ts";
import type { ResourceTable } from "./resource-table.ts";

/** One step of the repair of a record; they are made in the order given. */
export type RepairStep =
  | { readonly kind: "fence"; readonly gone: 0 | 1; readonly source: Source }
  | { readonly kind: "last change"; readonly seq: number }
  /** Adds a change after the record's last one. */
  | { readonly kind: "log"; readonly op: "insert" | "delete"; readonly after: number | null }
  | { readonly kind: "json"; readonly json: string }
  /** The rows anew from the JSON; `overrides` are cells that it does not name. */
  | { readonly kind: "derive"; readonly overrides?: Overrides }
  /** The JSON is not trusted: the next read is stored whatever it says. */
  | { readonly kind: "forget" }
  /** The record is to be read; the caller queues that. */
  | { readonly kind: "refetch" };

/**
 * Makes one step of a repair.
 *
 * Guarantee: runs in the transaction of `Mirror.apply`, so that a record is repaired whole or not at all, with a change
 * in the log where its row changes (I2).
 * Source of truth: as the caller judged it.
 * Worst outcome of a crash: the record is judged again.
 */
export function repairRecord(table: ResourceTable, id: RecordId, step: RepairStep, stamp: ReadStamp): void {
  const { statements, context, resource } = table;
  switch (step.kind) {
    case "fence": {
      const { gone, source } = step;
      const { fence, bytes } = readHeld(statements, id);
      if (fence) return void statements.of("setFence").run(gone, gone, source, id);
      const sha = gone === 1 || !bytes ? null : hash("sha1", bytes, "buffer");
      // Any read is newer than one of which nothing is known.
      return void statements
        .of("upsertFence")
        .run([id, sha, null, source, 0, stamp.receivedAtMs, null, gone]);
    }
    case "log": {
      const { op, after } = step;
      const json = op === "delete" ? (statements.of("selectRaw").get(id) as string | undefined) : undefined;
      const change = { stamp, resource: resource.name, id, op, before: json ?? null };
      return void statements.of("setLastChange").run(context.log.add(change, after), id);
    }
    case "last change":
      return void statements.of("setLastChange").run(step.seq, id);
    case "json":
      return void statements.of("upsertRaw").run(id, Buffer.from(step.json));
    case "derive":
      return void table.derive(id, stamp, step.overrides);
    case "forget":
      return void statements.of("forgetSha").run(id);
    case "refetch":
      return undefined;
  }
}
