import type Database from "better-sqlite3";
import { laneRank } from "../../../src/base/lane.ts";
import { hourMs, isoTime, minuteMs } from "../../../src/base/clock.ts";
import { lookedAtMs } from "./company-view.ts";

/** So long before the moment at which states are looked at, ISO. */
export const ago = (ms: number) => isoTime(lookedAtMs - ms);

/** Texts as somebody with bad intentions would send them. */
export const hostile = {
  script: `"><script>globalThis.wasRun = true</script><img src=x onerror="globalThis.wasRun = true">`,
  turned: "invoice \u202egnp.exe\u202c \u2066x\u2069 \u0000\u001b[31m",
  long: "x".repeat(10_000),
  wide: "W".repeat(300),
};

function addEvent(db: Database.Database, facts: Record<string, unknown>): void {
  const row = {
    event_id: `evt-${Math.random()}`,
    type: "invoices.updated",
    resource_type: "invoice",
    resource_id: 1,
    received_at: ago(20 * minuteMs),
    body: "{}",
    state: "done",
    resource: "invoices",
    target: null,
    outcome: "updated",
    problem: null,
    ...facts,
  };
  const names = Object.keys(row);
  const values = names.map((name) => `@${name}`);
  db.prepare(`INSERT INTO _inbox (${names.join()}) VALUES (${values.join()})`).run(row);
}

/** Events of a day, and a receiver that has run since. */
export function events(db: Database.Database): void {
  const end = "strftime('%Y-%m-%dT%H:%M:%fZ', started_at, (180 / id) || ' seconds')";
  db.exec(`UPDATE _runs SET finished_at = ${end}`);
  addEvent(db, { resource_id: 14, outcome: "unchanged", received_at: ago(5 * hourMs) });
  addEvent(db, { type: "clients.deleted", resource_id: 3, outcome: "deleted", received_at: ago(3 * hourMs) });
  const created = { type: "orders.created", resource_id: 77, outcome: "inserted" };
  addEvent(db, { ...created, received_at: ago(2 * hourMs) });
  addEvent(db, {});
  db.exec(`INSERT INTO _hand_overs (month, position, log, at, command, files)
    SELECT substr(issue_date, 1, 7), 0, '', '${ago(24 * hourMs)}', '', '{}' FROM invoices ORDER BY issue_date DESC LIMIT 1`);
  const receiver = db.prepare("INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)");
  receiver.run(lookedAtMs - 9 * hourMs, lookedAtMs);
}

type Db = Database.Database;

function addWork(db: Db, target: string, lane: number, state: string, error: string | null = null): void {
  db.prepare(
    `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq, attempts, state, error)
     VALUES ('invoices', ?, 'detail', ?, 0, 'changed', 1, 5, ?, ?)`,
  ).run(target, lane, state, error);
}

function addQuarantined(db: Database.Database, key: string, reason: string): void {
  const sql = "INSERT INTO _quarantine VALUES ('invoices', ?, 7, ?, ?, 'req-1', '{}')";
  db.prepare(sql).run(key, reason, ago(7 * hourMs));
}

/** Reads that were given up, a record in quarantine, lists that are too old. */
export function failures(db: Database.Database): void {
  addWork(db, "id:17", laneRank("changed"), "dead", "GET /invoices/17 answered 500 five times");
  addWork(db, "id:18", laneRank("changed"), "dead", "the answer is no JSON");
  addWork(db, "id:19", laneRank("webhook"), "ready");
  addQuarantined(db, "7", "total is no number: 12,50");
  const older = "UPDATE _runs SET swept = (SELECT json_group_object(key, ?) FROM json_each(swept))";
  db.prepare(older).run(ago(31 * hourMs));
  db.prepare("UPDATE _runs SET outcome = 'failed' WHERE id = (SELECT max(id) FROM _runs)").run();
  addEvent(db, { type: "invoices.paid", resource_id: 18, state: "waiting", outcome: null, target: "id:18" });
}

export function firstRun(db: Database.Database): void {
  db.prepare("DELETE FROM _runs").run();
  db.prepare("INSERT INTO _runs (mode, started_at, pid) VALUES ('incremental', ?, 1)").run(ago(4 * minuteMs));
  for (let i = 0; i < 40; i++) addWork(db, `id:${1_000 + i}`, laneRank("hydration"), "ready");
}

export function hostileRows(db: Database.Database): void {
  const { script, turned, long, wide } = hostile;
  addEvent(db, { type: script, problem: turned, state: "unknown", outcome: null });
  addEvent(db, { type: turned, state: "waiting", outcome: null });
  addEvent(db, { type: long });
  addWork(db, script, laneRank("changed"), "dead", script);
  addWork(db, "id:1", laneRank("changed"), "dead", long);
  addQuarantined(db, script, script + turned + wide);
  const json = JSON.stringify({ number: script, [script]: turned, note: long, [wide]: wide });
  const last = "seq > (SELECT max(seq) - 6 FROM _change_log)";
  db.prepare(`UPDATE _change_log SET op = 'update', before = ? WHERE ${last}`).run(json);
  const report = JSON.stringify({ resources: {}, error: { kind: script, message: script + wide } });
  const run = "UPDATE _runs SET outcome = ?, report = ? WHERE id = (SELECT max(id) FROM _runs)";
  db.prepare(run).run(script, report);
}
