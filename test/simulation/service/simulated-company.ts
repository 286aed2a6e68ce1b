import { localDay } from "../../../connectors/fintoro/sandbox/base/calendar.ts";
import { companySnapshot } from "../../../connectors/fintoro/sandbox/made-up/seed.ts";
import { openCompany, type Company, RowTable } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { shownOf, type CompanyVersion, type Writing } from "./record-texts.ts";
import { tableNames, type ServiceOptions, type TableName } from "./service-types.ts";
import { VersionLog } from "./version-log.ts";

/** Tables that show something of another table's records, or whose records fall with them. */
const dependents: Readonly<Partial<Record<TableName, readonly TableName[]>>> = {
  units: ["price_list_items"],
  clients: ["business_cases", "contact_activity_logs"],
  business_cases: ["contact_activity_logs"],
  document_payments: ["invoices"],
  invoices: ["document_payments", "contact_activity_logs"],
};

/** A company of the stand-in with its whole history: people change it, and `publish` makes versions of what they changed. */
export class SimulatedCompany {
  readonly company: Company;
  readonly units = new Map<number, string>();
  writing: Writing;
  readonly log = new VersionLog();
  /** What lists show besides, and cannot become rows. */
  readonly malformed = new VersionLog();
  private readonly options: Required<ServiceOptions>;
  private readonly versions: (CompanyVersion & { readonly fromMs: number })[] = [];
  private readonly touched = new Set<TableName>();
  /** From when the last change shows. */
  private lastVisibleMs = -Infinity;
  private mode: "start" | "lagging" | "prompt" = "start";

  constructor(options: Required<ServiceOptions>) {
    const { clock, random, name, key, amountsAsText, reordersKeys } = options;
    this.options = options;
    const snapshot = { ...companySnapshot(0), name, subjectId: `b-${key}` };
    this.writing = { amountsAsText, reordersKeys, hasUnknownField: false };
    this.company = openCompany({
      index: 0,
      snapshot,
      nowMs: () => clock.nowMs(),
      random,
      today: localDay(clock.nowMs()),
      allowLoopbackWebhooks: false,
      stocksInLists: false,
    });
  }

  /** As reads of a moment show it. */
  at(atMs: number): CompanyVersion {
    const version = this.versions.findLast(({ fromMs }) => fromMs <= atMs);
    if (!version) throw new Error("broken promise: nobody reads a company before it begins");
    return version;
  }

  /** The records of these tables were changed: a version of each that shows something else now is made. */
  publish(...tables: readonly TableName[]): void {
    this.touch(tables);
    if (this.mode === "start") return;
    const { clock, random, lagMs } = this.options;
    const delayMs = this.mode === "lagging" ? random.next() * lagMs : 0;
    this.lastVisibleMs = Math.max(this.lastVisibleMs, clock.monotonicMs() + delayMs);
    this.publishTouched(this.lastVisibleMs);
  }

  /** Shows a record that cannot become a row; null: no more. */
  writeMalformed(table: TableName, id: number, text: string | null): void {
    const fromMs = Math.max(this.lastVisibleMs, this.options.clock.monotonicMs());
    this.malformed.write(table, id, text === null ? null : { detail: text, listed: text }, fromMs);
  }

  /** What was changed until now was there at the start. */
  begin(): void {
    this.touch(tableNames);
    this.publishTouched(-Infinity);
    this.mode = this.options.lag === "commit" ? "lagging" : "prompt";
  }

  stopLag(): void {
    this.mode = "prompt";
  }

  private touch(tables: readonly TableName[]): void {
    for (const table of tables) {
      if (this.touched.has(table)) continue;
      this.touched.add(table);
      this.touch(dependents[table] ?? []);
    }
  }

  private publishTouched(fromMs: number): void {
    const { company, units, writing, log } = this;
    const version = { fromMs, company: copyOf(company), units: new Map(units), writing };
    this.versions.push(version);
    for (const table of this.touched)
      for (const id of new Set([...log.ids(table), ...this.idsNow(table)]))
        log.write(table, id, shownOf(version, table, id), fromMs);
    this.touched.clear();
  }

  private idsNow(table: TableName): Iterable<number> {
    if (table === "company") return [1];
    if (table === "units") return this.units.keys();
    return Array.from(this.company.tables[table].values(), ({ id }) => id);
  }
}

/** Records never change, so that tables of the same ones are a copy. */
function copyOf(company: Company): Company {
  const tables = Object.entries(company.tables).map(([name, table]) => {
    const copy = new RowTable(table.firstId);
    for (const row of table.values()) copy.replace(row);
    return [name, copy] as const;
  });
  const stock = structuredClone(company.stock);
  return { ...company, stock, tables: Object.fromEntries(tables) as Company["tables"] };
}
