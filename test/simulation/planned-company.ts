import type { BookRow } from "../../connectors/fintoro/sandbox/model/company.ts";
import { dayMs, isoTime } from "../../src/base/clock.ts";
import { assert } from "../../src/base/errors.ts";
import { createMemoryRateLimitStore } from "../../src/rate-limit/state.ts";
import { limiterKinds } from "../support/rate-limit/simulated-budget.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { SimulatedTime } from "../support/virtual/simulated-time.ts";
import { usualSync } from "./scenarios/phases.ts";
import type { Exchange } from "./service/service-types.ts";
import { SimulatedService } from "./service/simulated-service.ts";
import { newFolder, SimulatedDisk } from "./machine/simulated-disk.ts";
import { SimulatedMachine } from "./machine/simulated-machine.ts";
import { SimulatedProcess } from "./machine/simulated-process.ts";
import { SimulatedProgram } from "./machine/simulated-program.ts";

/** The first night, at a quarter past two. */
export const firstDayMs = Date.parse("2026-11-01T02:15:00+01:00");
const historyDays = 1_095;

/**
 * A simulated company of so many invoices and a quarter as many parents of CRM events, made within three years. Its runs
 * are made one by one, and nothing goes wrong.
 */
export class PlannedCompany {
  readonly time = new SimulatedTime(firstDayMs);
  readonly service: SimulatedService;
  readonly disk = new SimulatedDisk(newFolder(), null);
  private readonly machine: SimulatedMachine;
  private readonly budget = createMemoryRateLimitStore();

  constructor(documents: number) {
    const { time, disk } = this;
    const share = (part: number) => Math.round(documents * part);
    const parents = { clients: share(0.17), business_cases: share(0.08) };
    const size = { ...parents, price_list_items: share(0.04), invoices: documents };
    const [limiter] = limiterKinds;
    assert(limiter, "there is a kind of limiter");
    const noted = { ...size, contact_activity_logs: parents.clients };
    this.service = new SimulatedService({ size: noted, limiter, random: seededRandom(1), clock: time });
    this.machine = new SimulatedMachine({ time, service: this.service, disk, hasMirror: false });
    for (const [table, count] of Object.entries({ ...parents, invoices: documents }))
      this.change(table as keyof typeof parents, count, issuedAt);
  }

  async sync(): Promise<void> {
    const { machine, time } = this;
    const process = new SimulatedProcess(machine, { kind: "by itself" }, machine.tokens.own);
    const activity = { ...usualSync, scrub: true };
    const options = { activity, durationMs: 0, seed: 1, acceptIdentity: false, budget: this.budget };
    const program = new SimulatedProgram(machine, process, options);
    const running = process.run(() => program.run());
    const end = await time.until(running, Infinity);
    if (program.runs.length === 0 || machine.broken.length > 0)
      throw new Error([JSON.stringify(end), ...machine.broken].join("\n"));
  }

  /** Lets time pass until this many days after the first night; none when that is over. */
  async reachDay(day: number): Promise<void> {
    const { time } = this;
    await time.until(time.sleep(day * dayMs - time.passedMs), Infinity);
  }

  /** By what was read, when it was read last. */
  lastReads(isAsked: (exchange: Exchange) => boolean): ReadonlyMap<string, number> {
    const asked = this.service.exchanges.filter(isAsked);
    return new Map(asked.map(({ route, search, hitAtMs }) => [`${route}?${search}`, hitAtMs]));
  }

  /** Changes so many invoices, and as many CRM events, in what no list of documents or parents shows. */
  editUnseen(count: number, note: string): void {
    this.change("invoices", count, () => ({ note }));
    this.change("contact_activity_logs", count, () => ({ type: "note", metadata: { content: note } }));
  }

  /** Changes so many records of a table, spread over all of them, without an event. */
  change(
    table: "clients" | "business_cases" | "invoices" | "contact_activity_logs",
    count: number,
    to: (at: number) => Partial<BookRow>,
  ): void {
    const { company } = this.service;
    const rows = [...company.company.tables[table].values()];
    for (let n = 0; n < count; n++) {
      const row = rows[Math.floor((n * rows.length) / count)];
      if (row) company.company.tables[table].replace({ ...row, ...to(n / count) });
    }
    company.publish(table);
  }
}

/** @param share of the history, from its beginning */
function issuedAt(share: number): Partial<BookRow> {
  const createdAtMs = firstDayMs - Math.floor((1 - share) * historyDays) * dayMs;
  return { issueDate: isoTime(createdAtMs).slice(0, 10), createdAtMs, updatedAtMs: createdAtMs };
}

/** Is it a record's own route, or the list of a parent? */
export function isSlow({ route, search }: Exchange): boolean {
  return /\/\d+$/.test(route) || /(?:clientId|businessCaseId)=/.test(search);
}
