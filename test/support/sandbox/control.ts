import { systemClock } from "../../../src/base/clock.ts";
import type { AnsweredRecord } from "../../../connectors/fintoro/sandbox/base/values.ts";
import {
  english,
  lookupList,
  lookupNames,
} from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import { tableNames, type TableName } from "../../../connectors/fintoro/sandbox/model/catalogue.ts";
import { emit, type Company, type SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { writable } from "../../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { seriesView } from "../../../connectors/fintoro/sandbox/resources/documents.ts";
import { present } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import { startSandbox as start, type SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { Fault } from "../../../connectors/fintoro/sandbox/service/faults.ts";

/** Today in every test that does not care which day it is. */
export const testDay = "2026-11-20";

/** A sandbox whose control does what tests ask of it, too. */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = await start(options);
  return { ...sandbox, control: controlOf(sandbox) };
}
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

interface Day {
  readonly changes: number;
  readonly durationMs: number;
  readonly seed: number;
  /** Index of the company. @default the first one */
  readonly company?: number;
}

/** Changes and looks past HTTP, budget and faults. Without a company's index, or where none can be given, it is about the first one. */
function controlOf({ control }: Awaited<ReturnType<typeof start>>) {
  const { companies, parts } = control;
  const { faults, tokens, failures } = parts;
  const at = (index = 0) => present(companies[index]);
  const known = (table: TableName, id: number) => present(at().company.tables[table].get(id));
  return {
    ...control,
    /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
    create: (table: TableName, input: unknown, index?: number) => {
      const { company } = at(index);
      return writable[table].view(company, writable[table].create(company, input), english);
    },
    update: (table: TableName, id: number, input: unknown) => {
      const { company } = at();
      const changed = writable[table].update(company, known(table, id), input);
      return writable[table].view(company, changed, english);
    },
    remove: (table: TableName, id: number) => writable[table].remove(at().company, known(table, id)),
    /**
     * Changes fields of a record as the sandbox keeps it (model/row.ts), past every rule: what
     * the web application may do and the API may not. With `event` an event is emitted.
     */
    alter: (table: TableName, id: number, changes: object, { event = false } = {}) => {
      const { company } = at();
      company.tables[table].replace({ ...known(table, id), ...changes });
      if (event) emit(company, table, "updated", id);
    },
    /** Works for a while as `sandbox tick` has it do; `done` resolves when the day ends or is stopped. */
    day: ({ changes, durationMs, seed, company }: Day) => {
      const stopped = new AbortController();
      const work = async () => {
        for (let turn = 0; turn < changes; turn++) {
          control.work(turn, seed, company);
          await systemClock.sleep(durationMs / changes, stopped.signal);
          if (stopped.signal.aborted) return;
        }
      };
      return { done: work(), stop: () => stopped.abort() };
    },
    fault: (fault: Fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    events: () => at().company.events.list(),
    onEvent: (listener: (event: SentEvent) => void) => at().company.events.subscribe(listener),
    /** Every record by table and id, as its detail shows it. */
    snapshot: (index?: number) => snapshotOf(at(index).company),
    rename: (name: string) => {
      at().company.name = name;
    },
    revoke: (token: string) => void tokens.delete(token),
    /** What the subscription's deliveries are signed with now. */
    secret: (subscription: number, index?: number) =>
      present(at(index).company.tables.webhook_subscriptions.get(subscription)).secret,
    /** Bugs of the sandbox itself; empty in a sound run. */
    failures: () => [...failures],
  };
}

/** Table name -> id -> record. The company's own record has id 1. */
type Snapshot = ReadonlyMap<string, ReadonlyMap<number, AnsweredRecord>>;

/** Everything a company has, every record as its own route would show it now. */
function snapshotOf(company: Company): Snapshot {
  const { tables } = company;
  const series = Array.from(tables.numerical_series.values(), (one) => seriesView(company, one));
  const viewsOf = (name: TableName) => {
    return Array.from(tables[name].values(), (one) => writable[name].view(company, one, english));
  };
  return new Map<string, ReadonlyMap<number, AnsweredRecord>>([
    ["company", new Map([[1, { name: company.name }]])],
    ...lookupNames.map((name) => [name.replaceAll("-", "_"), byId(lookupList(name, english))] as const),
    ...tableNames.map((name) => [name, byId(viewsOf(name))] as const),
    ["numerical_series", byId(series)],
  ]);
}

function byId(records: readonly AnsweredRecord[]): ReadonlyMap<number, AnsweredRecord> {
  return new Map(records.map((one) => [Number(one["id"]), one]));
}
