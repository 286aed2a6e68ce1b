import { dayOf } from "../../../connectors/fintoro/sandbox/base/calendar.ts";
import type { JsonObject } from "../../../connectors/fintoro/sandbox/base/values.ts";
import type { OpenCompany } from "../../../connectors/fintoro/sandbox/control.ts";
import { seriesView } from "../../../connectors/fintoro/sandbox/documents/number-series.ts";
import type { Fault } from "../../../connectors/fintoro/sandbox/faults/service-fault.ts";
import {
  english,
  languageNamed,
  type Language,
} from "../../../connectors/fintoro/sandbox/lookups/languages.ts";
import { lookupList, lookupNames } from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import { tableNames, type TableName } from "../../../connectors/fintoro/sandbox/model/catalogue.ts";
import {
  emit,
  type Company,
  type EventListener,
  type RecordOf,
} from "../../../connectors/fintoro/sandbox/model/company-state.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox-options.ts";
import {
  startSandbox as start,
  type Sandbox as Started,
} from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { LimiterOptions } from "../../../connectors/fintoro/sandbox/service/limiter.ts";
import { collectionOf, present } from "../../../connectors/fintoro/sandbox/traffic/trigger.ts";
import type { DeliveryShares } from "../../../connectors/fintoro/sandbox/webhooks/delivery-faults.ts";

/** A sandbox whose control does what tests ask of it, too. */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = await start(options);
  return { ...sandbox, control: controlOf(sandbox) };
}
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;
export type Control = Sandbox["control"];

/** Changes and looks past HTTP, budget and faults. Without a company's index it is about the first one. */
function controlOf({ control }: Started) {
  const { companies, faults, tokens, clock, failures } = control.parts;
  const at = (index = 0): OpenCompany => present(companies[index]);
  const chosen = (index?: number) => (index === undefined ? companies : [at(index)]);
  const known = (table: TableName, id: number, index?: number): RecordOf<TableName> =>
    present(at(index).company.tables[table].get(id));
  return {
    ...control,
    clock,
    /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
    create: (table: TableName, input: unknown, index?: number) => {
      const { company } = at(index);
      return collectionOf(table).view(company, collectionOf(table).create(company, input), english);
    },
    update: (table: TableName, id: number, input: unknown, index?: number) => {
      const { company } = at(index);
      const changed = collectionOf(table).update(company, known(table, id, index), input);
      return collectionOf(table).view(company, changed, english);
    },
    remove: (table: TableName, id: number, index?: number) =>
      collectionOf(table).remove(at(index).company, known(table, id, index)),
    /**
     * Changes fields of a record as the sandbox keeps it (model/records.ts), past every rule: what
     * the web application may do and the API may not. With `event` an event is emitted.
     */
    alter: (
      table: TableName,
      id: number,
      changes: object,
      how: { event?: boolean; company?: number } = {},
    ) => {
      const { company } = at(how.company);
      company.tables[table].replace({ ...known(table, id, how.company), ...changes } as never);
      if (how.event) emit(company, table, "updated", id);
    },
    /** Returns what removes the fault. */
    fault: (fault: Fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    /** For all companies, or for one. */
    limiter: (options: Partial<LimiterOptions>, index?: number) => {
      for (const { limiter } of chosen(index)) limiter.change(options);
    },
    events: (index?: number) => at(index).company.events.list(),
    onEvent: (listener: EventListener, index?: number) => at(index).company.events.subscribe(listener),
    mails: (index?: number) => at(index).company.mails,
    /** Every record by table and id, as its detail shows it. */
    snapshot: (index?: number, language = "en") =>
      snapshotOf(at(index).company, languageNamed(language) ?? english),
    /** Statuses by due date follow it. */
    setToday: (date: string) => {
      for (const { company } of companies) company.settings.today = dayOf(date);
    },
    rename: (name: string, index?: number) => {
      at(index).company.settings.name = name;
    },
    revoke: (token: string) => void tokens.delete(token),
    /** Changes what goes wrong from now on on the way to receivers; for all companies, or for one. */
    deliveries: (shares: Partial<DeliveryShares>, index?: number) => {
      for (const { sender } of chosen(index)) sender.faults.change(shares);
    },
    /** What the subscription's deliveries are signed with now. */
    secret: (subscription: number, index?: number) =>
      present(at(index).company.tables.webhook_subscriptions.get(subscription)).secret,
    /** Bugs of the sandbox itself; empty in a sound run. */
    failures: () => [...failures],
  };
}

/** Table name -> id -> record. The company's own record has id 1. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<number, JsonObject>>;

/** Everything a company has, every record as its own route would show it now. */
function snapshotOf(company: Company, language: Language): Snapshot {
  const { tables, settings } = company;
  const series = Array.from(tables.numerical_series.values(), (one) => seriesView(company, one));
  const viewsOf = (name: TableName) => {
    const records: Iterable<RecordOf<TableName>> = tables[name].values();
    return Array.from(records, (one) => collectionOf(name).view(company, one, language));
  };
  return new Map<string, ReadonlyMap<number, JsonObject>>([
    ["company", new Map([[1, { name: settings.name }]])],
    ...lookupNames.map((name) => [name.replaceAll("-", "_"), byId(lookupList(name, language))] as const),
    ...tableNames.map((name) => [name, byId(viewsOf(name))] as const),
    ["numerical_series", byId(series)],
  ]);
}

function byId(records: readonly JsonObject[]): ReadonlyMap<number, JsonObject> {
  return new Map(records.map((one) => [Number(one["id"]), one]));
}
