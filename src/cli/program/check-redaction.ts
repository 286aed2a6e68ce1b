import { messageOf, MirrorError } from "../../base/errors.ts";
import { nearest, someOf, unknownName } from "../../base/names.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { translationTo } from "../../export/plan/export-plan.ts";
import { documentDate } from "../../export/plan/period.ts";
import type { AdjustableLog } from "../../log/log.ts";
import { isAboutUnknown, isMatch, isRedactable, redactModeOf } from "../../store/snapshot/redaction.ts";
import type { RedactRule } from "../../store/snapshot/redaction.ts";
import {
  tablesOfConnector,
  tablesOfReport,
  type SnapshotTable,
} from "../../store/snapshot/snapshot-tables.ts";

/**
 * Checks `report.redact` against the connector's tables, and warns of columns that show the same data unredacted.
 * @throws MirrorError `config`, with the place of each key that redacts nothing
 */
export function checkRedaction(
  { config, placeOf }: Pick<LoadedConfig, "config" | "placeOf">,
  declaration: ConnectorDeclaration,
  log: Pick<AdjustableLog, "warn">,
): void {
  const { redact } = config.report;
  if (redact.length === 0) return;
  const tables = tablesOfConnector(declaration);
  const place = ({ columns }: RedactRule) => placeOf(["report", "redact", columns]);
  const named = redact.filter((rule) => !isAboutUnknown(rule));
  const found = named.map((rule) => ({ at: place(rule), ...judgeRule(rule, tables, declaration) }));
  const refused = found.filter(({ refusal }) => refusal !== undefined);
  if (refused.length > 0)
    throw new MirrorError("config", refused.map(({ at, refusal }) => `${at}: ${refusal}`).join("\n"), {
      hint: "`fintoro-mirror schema --tables` lists tables and columns; *.client_email means it in every table.",
    });
  for (const { at, doubt } of found) if (doubt !== undefined) log.warn(`${at}: ${doubt}`);
  const copies = unredactedCopies(tables, redact, declaration);
  if (copies.length > 0)
    log.warn(`report.redact: the same data is still shown in ${someOf(copies, 6)}`, {
      hint: `Redact them too, for example with "*.${copies[0]?.split(".")[1] ?? ""}": drop.`,
      columns: copies,
    });
}

/** Throws MirrorError `config`, with the place of each table of `exports` that no mirror has, and of each language without words. */
export function checkExports(
  { config, placeOf }: Pick<LoadedConfig, "config" | "placeOf">,
  declaration: ConnectorDeclaration,
): void {
  if (config.exports.length === 0) return;
  const known = namesOf(tablesOfReport(declaration));
  const lines = config.exports.flatMap(({ tables, language }, entry) => {
    const place = (...key: (string | number)[]) => placeOf(["exports", entry, ...key]);
    const unknown = (tables ?? []).flatMap((name, at) =>
      known.includes(name) ? [] : [`${place("tables", at)}: ${unknownName("table", name, known)}`],
    );
    try {
      translationTo(declaration, language);
      return unknown;
    } catch (error) {
      return [...unknown, `${place("language")}: ${messageOf(error)}`];
    }
  });
  if (lines.length === 0) return;
  throw new MirrorError("config", lines.join("\n"), {
    hint: "`fintoro-mirror schema --tables` lists all tables; without a language, columns keep their own names",
  });
}

const namesOf = (named: readonly { readonly name: string }[]) => named.map(({ name }) => name);

/** Why a rule cannot be obeyed; a column that is not known may still come with a mirror's unknown fields. */
function judgeRule(
  { columns }: RedactRule,
  tables: readonly SnapshotTable[],
  declaration: ConnectorDeclaration,
): { readonly refusal?: string; readonly doubt?: string } {
  const [tableName = "", columnName, ...more] = columns.split(".");
  if (columnName === undefined || more.length > 0)
    return { refusal: `"${columns}" must be TABLE.COLUMN, such as clients.email` };
  const matching = tables.flatMap((table) =>
    table.columns
      .filter(({ name }) => isMatch({ columns }, table.name, name))
      .map((column) => ({ table, column })),
  );
  const redacted = matching.filter(({ table, column }) => isRedactable(table, column));
  const day = redacted.find(({ table, column }) => column.name === documentDate(declaration, table));
  if (day)
    return {
      doubt: `${day.table.name}.${day.column.name} is the day that months go by: packages and exports of a month have no row of ${day.table.name}`,
    };
  const amount = redacted.find(({ column }) => column.scalar === "decimal");
  if (amount)
    return {
      doubt: `${amount.table.name}.${amount.column.name} is an amount: views that add it up show too little`,
    };
  if (redacted.length > 0) return {};
  const [first] = matching;
  if (first?.table.kind === "view")
    return { refusal: `"${columns}" is of a view, which shows what its tables show: name their columns` };
  if (first) return { refusal: `"${columns}" is a key, by which rows are found: it cannot be redacted` };
  if (columns.includes("*")) return { refusal: `"${columns}" fits no column of any table` };
  const table = tables.find(({ name }) => name === tableName);
  if (!table) return { refusal: unknownName("table", tableName, namesOf(tables)) };
  const columnNames = namesOf(table.columns);
  if (nearest(columnName, columnNames) !== undefined)
    return { refusal: unknownName("column", columnName, columnNames, ` of ${tableName}`) };
  return {
    doubt: `${tableName} has no column ${columnName} that this version knows; it is redacted if the service adds it`,
  };
}

/** Columns that hold the same data as a redacted one: `invoices.client_email` is `clients.email` as it was printed. */
function unredactedCopies(
  tables: readonly SnapshotTable[],
  rules: readonly RedactRule[],
  declaration: ConnectorDeclaration,
): string[] {
  const singular = new Map(declaration.resources.map((resource) => [resource.name, resource.singular]));
  const snapshots = new Set(singular.values());
  const columns = tables.flatMap((table) =>
    table.columns
      .filter((column) => isRedactable(table, column) && column.references === null)
      .map((column) => {
        const { name } = column;
        const isCopy = [...snapshots].some((one) => name.startsWith(`${one}_`));
        const meaning = isCopy ? name : `${singular.get(table.name) ?? table.name}_${name}`;
        return { name: `${table.name}.${name}`, meaning, mode: redactModeOf(rules, table.name, column) };
      }),
  );
  const redacted = new Set(columns.filter(({ mode }) => mode !== null).map(({ meaning }) => meaning));
  return columns
    .filter(({ mode, meaning }) => mode === null && redacted.has(meaning))
    .map(({ name }) => name);
}
