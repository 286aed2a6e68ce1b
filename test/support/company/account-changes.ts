import { randomUUID } from "node:crypto";
import { pragueTime, type Books, type RecordKind } from "../../../connectors/fakturoid/sandbox/books.ts";
import { systemClock } from "../../../src/base/clock.ts";

/** Where events go; `secret` is their `Authorization`. */
interface Receiver {
  readonly url: string;
  readonly secret: string;
}

/** Changes of an account at Fakturoid, each with its event, sent once, where there is a receiver. */
export function changesOf(books: Books, clock = systemClock, receiver: Receiver | null = null) {
  const answers: number[] = [];
  const send = async (kind: RecordKind, change: string, record: object | undefined) => {
    if (!receiver) return;
    const singular = kind.slice(0, -1);
    const created_at = pragueTime(clock.nowMs());
    const document = {
      webhook_id: 5,
      event_name: `${singular}_${change}`,
      created_at,
      body: { [singular]: record },
    };
    const own = { authorization: receiver.secret, "idempotency-key": randomUUID() };
    const headers = { "content-type": "application/json", ...own };
    const { status } = await fetch(receiver.url, { method: "POST", headers, body: JSON.stringify(document) });
    answers.push(status);
  };
  return {
    answers,
    add: (kind: RecordKind): number => {
      const record = books.make(kind, clock.nowMs());
      void send(kind, "created", record);
      return record.id;
    },
    change: (kind: RecordKind, id: number, fields: object): void => {
      const updated_at = pragueTime(clock.nowMs());
      void send(kind, "updated", Object.assign(books.find(kind, id) ?? {}, fields, { updated_at }));
    },
    remove: (kind: RecordKind, id: number): void => void send(kind, "removed", books.remove(kind, id)),
  };
}
