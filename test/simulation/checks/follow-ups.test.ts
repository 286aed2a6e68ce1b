import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import type { Exchange } from "../service/service-types.ts";
import { brokenAfterUsualRun } from "./all-checks.ts";
import { MirrorContents } from "./mirror-contents.ts";
import type { SeenRead } from "./observation.ts";
import { overlappedUnread } from "./overlap.ts";
import { syncedMirror, type SyncedMirror } from "./synced-mirror.ts";

let synced: SyncedMirror;

beforeAll(async () => {
  synced = await syncedMirror(4, 80);
});

function tampered(change: string): MirrorContents {
  const db = new Database(synced.image);
  db.exec(change);
  return new MirrorContents(db);
}

describe("the checks of what follows from a read", () => {
  test("I3: name a record that a list showed otherwise meanwhile, and that nothing reads again", () => {
    const { log } = synced.service.company;
    const id = [...log.ids("clients")].find((one) => {
      const history = log.history("clients", one);
      return history.length > 1 && history.at(-1)?.shown && history[0]?.shown;
    });
    const shown = new Set([`clients ${id}`]);
    const at = (requestId: string, sentAtMs: number, receivedAtMs: number): SeenRead => {
      return { requestId, process: synced, sentAtMs, receivedAtMs, isMissing: false, shown };
    };
    const [usual] = synced.service.exchanges;
    if (!usual) throw new Error("the seed has no request");
    const list = { ...usual, requestId: "list", route: "/clients", status: 200, hitAtMs: 15, asOfMs: -1 };
    const later = { ...list, requestId: "later", route: `/clients/${id}`, hitAtMs: 70 };
    const reads = [at("own", 20, 30), at("list", 10, 50), at("last", 60, 80)];
    const { company, options } = synced.service;
    const foundAmong = (...exchanges: Exchange[]) =>
      overlappedUnread(tampered(""), { ...synced.seen, service: { company, options, exchanges }, reads });
    expect(foundAmong(list)).toEqual([
      `I3 clients ${id}: list overlapped with another read, and nothing is queued`,
    ]);
    expect(foundAmong(list, later)).toEqual([]);
  });

  test("I11: name what a usual run left unlike its list, and a CRM event unlike its invoice", () => {
    const after = (change: string) => brokenAfterUsualRun(tampered(change), synced.seen).join("\n");
    const { service } = synced;
    const shown = [...service.company.state.contact_activity_logs.values()].find(
      ({ invoiceId, parent }) => invoiceId !== null && service.company.state[parent.table].has(parent.id),
    );
    expect(after("")).toBe("");
    expect(after("UPDATE invoices SET note = 'another', to_be_paid = to_be_paid + 1")).toMatch(
      /^I11 after a usual run, invoices \d+: to_be_paid is/,
    );
    expect(after("UPDATE invoices SET note = 'another'")).toBe("");
    expect(after("DELETE FROM units WHERE id = 1")).toContain("units 1: missing");
    expect(after("UPDATE clients SET city = 'Elsewhere'")).toContain("city is");
    const old = `UPDATE _raw_contact_activity_logs SET json = replace(json, '"issueDate":"2026', '"issueDate":"1999') WHERE id = ${shown?.id}`;
    const change = `DELETE FROM _change_log WHERE resource = 'contact_activity_logs'; UPDATE _reads SET cause = 'sweep'`;
    expect(after(`${old}; ${change}`)).toContain("as it was before its last change");
  });
});
