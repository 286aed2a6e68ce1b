import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { RunSummary } from "../../src/sync/context/run-summary.ts";
import {
  aCompany,
  aMirroredCompany,
  scrubOf,
  sync,
  type Company,
  type SyncOptions,
} from "../support/company/company.ts";
import { count, expectEqual, look, serviceIds } from "../support/truth/equal.ts";

const begunMs = Date.parse("2026-11-20T02:15:00Z");
const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;

/** Options of a run of the scheduler's kind, so many days after the first. */
const ofNight = (day: number): SyncOptions => ({
  scrub: scrubOf(3_600),
  parentsPerRun: "auto",
  startAtMs: begunMs + day * dayMs,
});

function nightly(company: Company, day: number, options: SyncOptions = {}): Promise<RunSummary> {
  return sync(company, { ...ofNight(day), ...options });
}

/** Notes and lines that no preview shows, stock that no list shows, and CRM events. Returns how many records. */
function hideEdits(company: Company): number {
  const { control } = company.sandbox;
  const edits = documents.flatMap((table) =>
    serviceIds(company, table).map((id) => () => control.alter(table, id, { note: `hidden ${table} ${id}` })),
  );
  const note = { type: "note", metadata: { content: "hidden" } };
  const logs = serviceIds(company, "contact_activity_logs");
  const events = logs.map((id) => () => control.alter("contact_activity_logs", id, note));
  const chosen = [...edits.slice(0, 41), ...events.slice(0, 8)];
  for (const edit of chosen) edit();
  return chosen.length;
}

function outcomes(company: Company): unknown[] {
  return look(company.file, (db) => db.prepare("SELECT outcome FROM _runs ORDER BY id").pluck().all());
}

/** Ends a run where its scrub begins, without a report, as a kill does. */
const dies = () => Promise.reject(new TypeError("killed"));

const queued = (company: Company) => count(company.file, "SELECT count(*) FROM _work");

// Fault: clock | everything was read by a clock that was a year ahead | the first run's clock | the first night with a right clock finds what no list shows (I11)
test("I11: changes that no list shows are found the next night, also where a clock that was a year ahead dated the first run", async () => {
  const company = await aCompany();
  await nightly(company, 365);
  const hidden = hideEdits(company);
  expect(hidden).toBeGreaterThan(20);
  const report = await nightly(company, 1);
  expect(report).toMatchObject({ outcome: "complete", scrub: { changed: hidden, left: 0 } });
  expectEqual(company);
});

// Fault: process | a run is stopped by a signal or a limit in the middle of a scrub | the run's signal | what was read is not read again; the next run is not resumed
test("a limit, a signal or a kill in the scrub, which comes last, loses nothing: nothing is left in the queue, and the next run is not resumed, and makes the scrub", async () => {
  const company = await aMirroredCompany({}, ofNight(0));
  const cut = await nightly(company, 1, { mostRequests: listRequests(company) + 15 });
  expect(cut.outcome).toBe("stopped");
  expect(cut.scrub?.left).toBeGreaterThan(0);
  expect(queued(company)).toBe(0);
  const stop = new AbortController();
  const onListed = async (_: unknown, isBeforeScrub: boolean) => {
    if (isBeforeScrub) stop.abort();
  };
  const interrupted = await nightly(company, 1.01, { signal: stop.signal, onListed });
  expect(interrupted).toMatchObject({ outcome: "interrupted", resumed: false, scrub: { read: 0 } });
  expect(queued(company)).toBe(0);
  const last = await nightly(company, 1.02);
  expect(last).toMatchObject({ outcome: "complete", resumed: false, scrub: { left: 0 } });
  expect(outcomes(company)).toEqual(["complete", "stopped", "interrupted", "complete"]);
  await expect(nightly(company, 2, { onListed: dies })).rejects.toThrow("killed");
  const next = await nightly(company, 2.01);
  expect(next).toMatchObject({ outcome: "complete", resumed: false, scrub: { left: 0 } });
  expect(next.scrub?.read).toBeGreaterThan(0);
});

function listRequests(company: Company): number {
  const sql = "SELECT report ->> '$.requests.list' FROM _runs ORDER BY id DESC LIMIT 1";
  return 1 + count(company.file, sql);
}
