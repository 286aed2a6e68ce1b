import type { RedactMode, SnapshotColumn, SnapshotTable } from "./snapshot-tables.ts";

/** What the config says of one column, or of several by a pattern. */
export interface RedactRule {
  /** `TABLE.COLUMN`; `*` stands for any characters of either. `unknown`: of every field that the connector does not know. */
  readonly columns: string;
  readonly mode: RedactMode;
}

/** Is the rule about all fields that the connector does not know? */
export function isAboutUnknown({ columns }: Pick<RedactRule, "columns">): boolean {
  return columns === "unknown";
}

/** Whether a rule's pattern has this column. */
export function isMatch({ columns }: Pick<RedactRule, "columns">, table: string, column: string): boolean {
  const name = `${table}.${column}`;
  if (!columns.includes("*")) return columns === name;
  const pattern = columns
    .split("*")
    .map((part) => part.replaceAll(".", "\\."))
    .join("[^.]*");
  return new RegExp(`^${pattern}$`).test(name);
}

/**
 * What becomes of a column; null: nothing. Its own name counts before patterns, `drop` before `hash`, and what is said
 * of all unknown fields last.
 */
export function redactModeOf(
  rules: readonly RedactRule[],
  table: string,
  { name, scalar }: Pick<SnapshotColumn, "name" | "scalar">,
): RedactMode | null {
  const found = rules.filter((rule) => isMatch(rule, table, name));
  const exact = found.find(({ columns }) => !columns.includes("*"));
  const ofUnknown = scalar === "any" ? rules.find(isAboutUnknown) : undefined;
  return (exact ?? found.find(({ mode }) => mode === "drop") ?? found[0] ?? ofUnknown)?.mode ?? null;
}

/** Whether a column of a snapshot can be redacted: its key cannot, because rows are found by it. */
export function isRedactable({ kind, primaryKey }: SnapshotTable, { name }: SnapshotColumn): boolean {
  return (kind === "table" || kind === "child") && !primaryKey.includes(name);
}

/** The tables as they are shown under these rules. */
export function redactTables(
  tables: readonly SnapshotTable[],
  rules: readonly RedactRule[],
): SnapshotTable[] {
  if (rules.length === 0) return [...tables];
  return tables.map((table) => {
    const columns = table.columns.map((column) => {
      const mode = isRedactable(table, column) ? redactModeOf(rules, table.name, column) : null;
      return mode === null ? column : redactColumn(column, mode);
    });
    return { ...table, columns };
  });
}

/** A hash is text, and leads to no other table. */
function redactColumn(column: SnapshotColumn, redacted: RedactMode): SnapshotColumn {
  const doc = [column.doc, redacted === "drop" ? "Redacted: always null" : "Redacted: a keyed hash"];
  const same = {
    ...column,
    redacted,
    references: null,
    values: null,
    doc: doc.filter((one) => one !== null).join(". "),
  };
  return redacted === "drop" ? same : { ...same, type: "TEXT", scalar: "text" };
}

/** The redacted columns of a table, as `email: drop`. */
export function redactedColumns({ columns }: Pick<SnapshotTable, "columns">): string[] {
  return columns.flatMap(({ name, redacted }) => (redacted ? [`${name}: ${redacted}`] : []));
}

/** Of all tables, as `clients.email: drop`. */
export function redactionsOf(tables: readonly SnapshotTable[]): string[] {
  return tables.flatMap((table) => redactedColumns(table).map((column) => `${table.name}.${column}`));
}
