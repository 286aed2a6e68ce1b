import type { RedactMode, SnapshotColumn, SnapshotTable } from "./snapshot-tables.ts";
import { createHmac } from "node:crypto";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject, type JsonValue, stringifyLossless } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Db } from "../database.ts";
import { cellValue, type Cell } from "../tables/row-decoder.ts";
import { knownRow } from "../tables/table-plan.ts";
import type { ColumnScalar, KeyNode, RowPlan, TablePlan } from "../tables/table-plan.ts";

/** What the config says of one column, or of several by a pattern. */
export interface RedactRule {
  /** `TABLE.COLUMN`; `*` stands for any characters of either. `unknown`: of every field that the connector does not know. */
  readonly columns: string;
  readonly mode: RedactMode;
}

export function isAboutUnknown({ columns }: Pick<RedactRule, "columns">): boolean {
  return columns === "unknown";
}

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
  const how = redacted === "drop" ? "Redacted: always null" : "Redacted: a keyed hash";
  const doc = [column.doc, how].filter((one) => one !== null).join(". ");
  const same = { ...column, redacted, references: null, values: null, doc };
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

/** What a key of a record's JSON leads to. */
type KeyRule =
  | { readonly kind: "value"; readonly mode: RedactMode | null; readonly scalar: ColumnScalar }
  /** An object within the record, or a list of its parts. */
  | { readonly kind: "inner"; readonly keys: KeyRules }
  /** A record of another resource, or a list of them; `id` is of the column that refers to it. */
  | { readonly kind: "record"; readonly resource: string; readonly id: RedactMode | null };

type KeyRules = Map<string, KeyRule>;

/** What threads need to redact as this one does: plain data, which they can be sent. */
export interface Redaction {
  /** Of the hash. It stays in memory. */
  readonly key: string;
  /** Resources whose JSON has something to redact, also deep within it. */
  readonly records: ReadonlyMap<string, KeyRules>;
  /** Are keys without a rule dropped? Then every known key has one. */
  readonly dropsUnknown: boolean;
}

/** The redaction of a mirror; `planOf` also has the columns that its unknown fields have. */
export function redactionOf(
  planOf: (resource: Resource) => TablePlan,
  { resources }: ConnectorDeclaration,
  rules: readonly RedactRule[],
  key: string,
) {
  const all = new Map(resources.map((one) => [one.name, keysOf(planOf(one), one, rules)]));
  const dropsUnknown = rules.some(isAboutUnknown);
  if (dropsUnknown) return { key, records: all, dropsUnknown };
  const touched = new Set<string>();
  for (let before = -1; before < touched.size;) {
    before = touched.size;
    for (const [name, keys] of all) if (isTouched(keys, touched)) touched.add(name);
  }
  return { key, records: new Map([...all].filter(([name]) => touched.has(name))), dropsUnknown };
}

function isTouched(keys: KeyRules, touched: ReadonlySet<string>): boolean {
  return [...keys.values()].some((rule) => {
    if (rule.kind === "inner") return isTouched(rule.keys, touched);
    return rule.kind === "value" ? rule.mode !== null : rule.id !== null || touched.has(rule.resource);
  });
}

function keysOf(plan: TablePlan, resource: Resource, rules: readonly RedactRule[]): KeyRules {
  const keys: KeyRules = new Map();
  const addKeys = (into: KeyRules, table: string, { columns, root }: RowPlan, at: KeyNode = root) => {
    for (const [key, node] of at.below ?? []) {
      // A nested record is known by its id.
      const isRecord = node.below !== null && !node.open;
      const column = columns[(isRecord ? node.below.get("id") : node)?.column ?? -1];
      const mode = column ? redactModeOf(rules, table, column) : null;
      if (node.below && !isRecord) addKeys(innerOf(into, key), table, { columns, root }, node);
      else if (column && isRecord)
        into.set(key, { kind: "record", resource: column.references ?? "", id: mode });
      else if (column) into.set(key, { kind: "value", mode, scalar: column.scalar });
    }
  };
  addKeys(keys, plan.table, plan);
  if (resource.previewFields) addKeys(keys, plan.table, knownRow(resource.previewFields));
  for (const child of plan.children) addKeys(innerOf(keys, child.field), child.table, child);
  for (const owned of plan.owned)
    keys.set(owned.field, { kind: "record", resource: owned.resource, id: null });
  return keys;
}

function innerOf(keys: KeyRules, name: string): KeyRules {
  const there = keys.get(name);
  if (there?.kind === "inner") return there.keys;
  const inner: KeyRules = new Map();
  keys.set(name, { kind: "inner", keys: inner });
  return inner;
}

export type RedactJson = (resource: string, json: string | null) => string | null;

/** Redacts a value, and a record's JSON: the same value has the same hash in both, in every table. */
export function createRedaction({ key, records, dropsUnknown }: Redaction) {
  const hash = (value: Cell) => {
    if (value === null) return null;
    const digest = createHmac("sha256", key).update(String(value)).digest("hex");
    // It begins with no digit: a sum over hashed amounts is too small then, not made up of what their digits say.
    return `f${digest.slice(1, hashLength)}`;
  };
  const redact = (value: JsonValue, keys: KeyRules): JsonValue => {
    if (Array.isArray(value)) return value.map((part) => redact(part, keys));
    if (!isObject(value)) return value;
    for (const name of Object.keys(value)) {
      const rule = keys.get(name);
      if (rule) value[name] = redactValue(value[name] ?? null, rule);
      else if (dropsUnknown) value[name] = null;
    }
    return value;
  };
  const redactValue = (value: JsonValue, rule: KeyRule): JsonValue => {
    if (rule.kind === "inner") return redact(value, rule.keys);
    if (rule.kind === "value") {
      if (rule.mode === null) return value;
      return rule.mode === "drop" ? null : hash(cellOf(value, rule.scalar));
    }
    if (rule.id !== null && isObject(value))
      return rule.id === "drop" ? null : { id: hash(cellValue("integer", value["id"]) ?? null) };
    return redact(value, records.get(rule.resource) ?? new Map());
  };
  const redactJson: RedactJson = (resource, json) => {
    const keys = records.get(resource) ?? (dropsUnknown ? new Map<string, KeyRule>() : null);
    return keys && json !== null ? stringifyLossless(redact(parseLossless(json), keys)) : json;
  };
  return { hash, redactJson };
}

/** Gives a connection the SQL functions `redacted_hash(value)` and `redacted_json(resource, json)`. */
export function installRedaction(db: Db, redaction: Redaction): void {
  const options = { deterministic: true, safeIntegers: true };
  const { hash, redactJson } = createRedaction(redaction);
  db.function("redacted_hash", options, (value) => hash(value as Cell));
  db.function("redacted_json", options, (resource, json) =>
    redactJson(String(resource), json as string | null),
  );
}

/** Hexadecimal digits, all but the first of the hash: 124 bits, so that two values never have the same. */
const hashLength = 32;

/** An odd value, which its column cannot hold, is hashed as it is written. */
function cellOf(value: JsonValue, scalar: ColumnScalar): Cell {
  const cell = cellValue(scalar, value);
  return cell === undefined ? stringifyLossless(value) : cell;
}
