import { MirrorError } from "../../../../src/base/errors.ts";
import { nearest } from "../../../../src/base/names.ts";
import {
  collections,
  documentKinds,
  documentTable,
  eventTypes,
  tableNames,
  type TableName,
} from "../model/catalogue.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { Missing } from "../rules/refusals.ts";
import { change } from "./changed-records.ts";
import { stockIn } from "./goods.ts";
import { isRefusal, type Hand } from "./actor.ts";
import { payInFull } from "./paying.ts";
import { writeNew } from "./new-records.ts";

export interface TriggerHow {
  /** Of the record it is to happen to; one is chosen when it is not given. */
  readonly id?: number | undefined;
  /** Tells the event without the change. */
  readonly forge?: boolean | undefined;
}

/** What was done, and every event that followed from it. */
export interface Triggered {
  readonly event: string;
  readonly id: number;
  readonly forged: boolean;
  readonly events: readonly SandboxEvent[];
}

/** Makes the event happen: by a fitting change under the company's own rules, and only told where asked. */
export function trigger(hand: Hand, event: string, how: TriggerHow = {}): Triggered {
  const { table, change: kind, type } = readEvent(event);
  const forged = how.forge === true || table === null;
  const events: SandboxEvent[] = [];
  const stop = hand.company.events.subscribe((one) => events.push(one));
  try {
    let id = how.id ?? 0;
    if (forged) hand.company.events.append(event, type, (id = how.id ?? someId(hand, table)));
    else id = perform(hand, table, kind, how.id ?? null);
    const told = events.find((one) => one.type === event);
    return { event, id: told?.resource.id ?? id, forged, events };
  } finally {
    stop();
  }
}

/** Documents of others: they have no route, so that there is nothing to change. */
const routeless: Readonly<Record<string, string>> = {
  "received-invoices.paid": "receivedInvoice",
  "received-receipts.paid": "receivedReceipt",
};

function readEvent(event: string): { table: TableName | null; change: string; type: string } {
  const [path = "", kind = ""] = event.split(".");
  const type = routeless[event];
  if (type !== undefined) return { table: null, change: kind, type };
  const table = tableNames.find((name) => collections[name].path === path);
  if (table && eventTypes.includes(event)) return { table, change: kind, type: collections[table].type };
  const near = nearest(event, eventTypes);
  throw new MirrorError("usage", `there is no event "${event}"${near ? `; did you mean "${near}"?` : ""}`, {
    hint: `events are ${eventTypes.join(", ")}`,
  });
}

function someId({ company, chance }: Hand, table: TableName | null): number {
  if (table === null) return chance.int(1, 99_999);
  const ids = [...company.tables[table].ids()];
  return ids.length > 0 ? chance.pick(ids) : company.tables[table].nextId;
}

function perform(hand: Hand, table: TableName, kind: string, id: number | null): number {
  switch (kind) {
    case "created":
      if (id === null) return writeNew(hand, table);
      throw new MirrorError("usage", "a new record gets its id from the service", {
        hint: "leave the id out, or forge the event",
      });
    case "updated":
      return toOne(hand, table, id, (one) => change(hand, table, one));
    case "deleted":
      return toOne(hand, table, id, (one) => hand.remove(table, one));
    case "paid":
      return pay(hand, table, id);
    default:
      return stockIn(hand, id);
  }
}

/** To the record that was named; else to any that allows it, or to one that is written for it. */
function toOne(hand: Hand, table: TableName, id: number | null, act: (id: number) => void): number {
  if (id !== null) {
    act(id);
    return id;
  }
  try {
    return hand.withAny(table, act);
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    const made = writeNew(hand, table);
    act(made);
    return made;
  }
}

function pay(hand: Hand, table: TableName, id: number | null): number {
  const kind = documentKinds.find((one) => documentTable[one] === table);
  if (!kind) throw new Missing();
  try {
    return payInFull(hand, kind, id);
  } catch (cause) {
    if (id !== null || !isRefusal(cause)) throw cause;
    return payInFull(hand, kind, writeNew(hand, table));
  }
}
