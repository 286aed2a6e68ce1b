import type { RedactMode, SnapshotColumn, SnapshotTable } from "./snapshot-tables.ts";

/** What the config says of one column, or of several by a pattern. */
export interface RedactRule {
  /** `TABLE.COLUMN`; `*` stands for any characters of either. */
  readonly columns: string;
  readonly mode: RedactMode;
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

/** What becomes of a column; null: nothing. Its own name counts before patterns, and `drop` before `hash`. */
export function redactModeOf(rules: readonly RedactRule[], table: string, column: string): RedactMode | null {
  const found = rules.filter((rule) => isMatch(rule, table, column));
  const exact = found.find(({ columns }) => !columns.includes("*"));
  return (exact ?? found.find(({ mode }) => mode === "drop") ?? found[0])?.mode ?? null;
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
      const mode = isRedactable(table, column) ? redactModeOf(rules, table.name, column.name) : null;
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
