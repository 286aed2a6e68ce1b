import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { fakturoid } from "../../../connectors/fakturoid/declaration.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import { openAccount } from "../company/open-account.ts";
import { openCompany, sync } from "../company/open-company.ts";
import { expectedRow, truthOf, type Cells, type Dict, type Truth } from "./truth.ts";

/** A connector, its stand-in and a mirror of it, as the conformance suite takes every one. */
interface Conforming {
  readonly declaration: ConnectorDeclaration;
  readonly open: () => Promise<OpenedService>;
}

interface OpenedService {
  readonly file: string;
  sync(): Promise<RunSummary>;
  /** What the service holds, from the inside of the stand-in, without the engine. */
  truth(): Truth;
  /** The cells that a record must have become, in plain words of this test. */
  cellsOf(table: string, record: Dict): Cells;
  close(): Promise<void>;
}

const fintoroService: Conforming = {
  declaration,
  open: async () => {
    const company = await openCompany({ records: 60 });
    return {
      file: company.file,
      sync: () => sync(company),
      truth: () => truthOf(company.sandbox),
      cellsOf: (table, record) => expectedRow(table, record).cells,
      close: () => company.close(),
    };
  },
};

const fakturoidService: Conforming = {
  declaration: fakturoid,
  open: async () => {
    const account = await openAccount({ monthly: null });
    const { books } = account.standIn;
    return {
      file: account.files.mirror,
      sync: () => account.sync(),
      truth: () => {
        const tables = [...books.tables()].map(
          ([table, records]) => [table, byId(records as unknown as Dict[])] as const,
        );
        return new Map([["account", byId([books.account as Dict])], ...tables]);
      },
      cellsOf: plainCells,
      close: () => account.close(),
    };
  },
};

export const conforming: readonly Conforming[] = [fintoroService, fakturoidService];

/** A record without an id is the only one of its table. */
const idOf = ({ id }: Dict) => String(typeof id === "number" ? id : 1);

function byId(records: readonly Dict[]) {
  return new Map(records.map((json) => [idOf(json), { json, text: JSON.stringify(json) }]));
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
