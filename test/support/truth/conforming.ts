import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { fakturoid } from "../../../connectors/fakturoid/fakturoid.ts";
import type { Manifest } from "../../../src/connector/connector-manifest.ts";
import type { CompanyReport } from "../../../src/sync/context/run-report.ts";
import { openAccount } from "../company/open-account.ts";
import { openCompany, sync } from "../company/open-company.ts";
import { expectedRow, readTruth, truthOf, type Cells, type Dict, type Truth } from "./truth.ts";

/** A connector, its stand-in and a mirror of it, as the conformance suite takes every one. */
export interface Conforming {
  readonly manifest: Manifest;
  open(): Promise<OpenedService>;
}

/** What the suite asks of them. */
export interface OpenedService {
  /** The mirror's file. */
  readonly file: string;
  /** One run. */
  sync(): Promise<CompanyReport>;
  /** What the service holds, asked of it without the engine. */
  truth(): Promise<Truth>;
  /** The same from the inside of the stand-in. */
  inside(): Truth;
  /** The cells that a record must have become, in plain words of this test. */
  cellsOf(table: string, record: Dict): Cells;
  /** GET of a path; its JSON. */
  ask(path: string): Promise<unknown>;
  close(): Promise<void>;
}

const fintoroService: Conforming = {
  manifest,
  open: async () => {
    const company = await openCompany({ records: "small" });
    const { url, token } = company.sandbox;
    return {
      file: company.file,
      sync: () => sync(company),
      truth: () => readTruth(company.sandbox),
      inside: () => truthOf(company.sandbox),
      cellsOf: (table, record) => expectedRow(table, record).cells,
      ask: async (path) =>
        (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json(),
      close: () => company.close(),
    };
  },
};

const listedAs: Readonly<Record<string, string>> = { number_formats: "number_formats/invoices" };

const fakturoidService: Conforming = {
  manifest: fakturoid,
  open: async () => {
    const account = await openAccount({ monthly: null });
    const { standIn } = account;
    const { account: slug, client_id: id, client_secret: secret } = standIn.access;
    const agent = { "user-agent": "truth (test@example.com)" };
    const login = { ...agent, authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
    const ask = async (path: string): Promise<unknown> => {
      const granted = await fetch(`${standIn.url}/oauth/token`, { method: "POST", headers: login });
      const { access_token: token } = (await granted.json()) as { access_token: string };
      const headers = { ...agent, authorization: `Bearer ${token}` };
      return (await fetch(`${standIn.url}/accounts/${slug}${path}`, { headers })).json();
    };
    const listed = async (table: string): Promise<Dict[]> => {
      const all: Dict[] = [];
      for (let page = 1; ; page++) {
        const some = (await ask(`/${listedAs[table] ?? table}.json?page=${page}`)) as Dict[];
        all.push(...some);
        if (some.length < 40) return all;
      }
    };
    return {
      file: account.files.mirror,
      sync: () => account.sync(),
      truth: async () => {
        const truth = new Map([["account", byId([(await ask("/account.json")) as Dict])]]);
        for (const table of standIn.books.tables().keys()) truth.set(table, byId(await listed(table)));
        return truth;
      },
      inside: () => {
        const tables = [...standIn.books.tables()].map(
          ([table, records]) => [table, byId(records as unknown as Dict[])] as const,
        );
        return new Map([["account", byId([standIn.books.account as Dict])], ...tables]);
      },
      cellsOf: plainCells,
      ask,
      close: () => account.close(),
    };
  },
};

/** Every connector of the program. */
export const conforming: readonly Conforming[] = [fintoroService, fakturoidService];

/** A record without an id is the only one of its table. */
function byId(records: readonly Dict[]) {
  return new Map(
    records.map((json) => [
      String(typeof json["id"] === "number" ? json["id"] : 1),
      { json, text: JSON.stringify(json) },
    ]),
  );
}

/** Amounts that come as texts. */
const isAmount = /(?:^|_)(?:price|total|subtotal|amount|base|vat|quantity|exchange_rate)(?:$|_with|_without)/;
/** Arrays that are tables of their own. */
const isChild = /^(?:lines|payments|attachments|paid_advances|vat_rates_summary)$/;

function plainCells(table: string, record: Dict): Cells {
  const cells: Cells = table === "account" ? { id: 1 } : {};
  for (const [key, value] of Object.entries(record)) {
    if (isChild.test(key)) continue;
    if (key === "legacy_bank_details")
      for (const [inner, cell] of Object.entries(value as Cells)) cells[`${key}_${inner}`] = cell;
    else if (typeof value === "boolean") cells[key] = Number(value);
    else if (typeof value === "string" && isAmount.test(key)) cells[key] = Number(value);
    else cells[key] = value === null || typeof value !== "object" ? value : JSON.stringify(value);
  }
  return cells;
}

/** Their names. */
export function manifestNames(): string[] {
  return conforming.map((one) => one.manifest.name);
}
