import type { z } from "zod";
import { nearest, unknownName } from "../base/names.ts";
import { mayHoldSecret } from "./secrets.ts";
import { pathText, valueAt, type Path } from "./yaml.ts";

export interface ConfigProblem {
  readonly path: Path;
  readonly at: "key" | "value";
  readonly message: string;
}

/** What `schema` found wrong, in the words of the file. The issues hold the input they are about. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], schema: z.ZodType): ConfigProblem[] {
  const problems = issues.flatMap((issue) => problemsOfIssue(issue, schema));
  const meant = new Set(problems.flatMap((problem) => problem.meant ?? []));
  return problems.filter((problem) => problem.needs === undefined || !meant.has(problem.needs));
}

interface FoundProblem extends ConfigProblem {
  /** The missing key that this problem is about, as a path text. */
  readonly needs?: string;
  /** The key that a typo most likely was meant to be: it is not reported as missing besides. */
  readonly meant?: string;
}

function problemsOfIssue(issue: z.core.$ZodIssue, schema: z.ZodType): FoundProblem[] {
  const { path, input } = issue;
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownKey(path, key, keysAt(schema, path), valueAt(input, [key])));
  const name = String(path.at(-1));
  const form = "use letters, digits, - and _ only, at most 64";
  if (issue.code === "invalid_key")
    return [{ path, at: "key", message: `the company name "${name}" becomes a file name: ${form}` }];
  if (input === undefined) return [missing(path)];
  const message = `${pathText(path) || "the config"} ${valueMessage(issue)}${shown(path, input)}`;
  return [{ path, at: "value", message }];
}

/** What a schema is made of, by its kind. */
type SchemaParts = Partial<Record<"innerType" | "in" | "valueType" | "element", z.ZodType>> & {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
};

/** Not by its JSON schema: to make that of the whole config takes longer than to check the file. */
function keysAt(schema: z.ZodType | undefined, path: Path): readonly string[] {
  const { innerType, in: given, shape, valueType, element } = (schema?.def ?? {}) as SchemaParts;
  const wrapped = innerType ?? given;
  if (wrapped) return keysAt(wrapped, path);
  const [key, ...below] = path;
  if (key === undefined) return Object.keys(shape ?? {});
  return keysAt(shape?.[String(key)] ?? valueType ?? element, below);
}

/** Of a union, the last member's words: they name all its alternatives. */
function valueMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union") return issue.message;
  const last = issue.errors.at(-1)?.at(-1);
  const named = issue.message.startsWith("must ") || last === undefined;
  return named ? issue.message : valueMessage(last);
}

function unknownKey(path: Path, key: string, known: readonly string[], value: unknown): FoundProblem {
  const place = path.length === 0 ? "" : ` in ${pathText(path)}`;
  const at = { path: [...path, key], at: "key" } as const;
  // Which keys `files` has is the connector's affair.
  if (pathText(path) === "files" && known.length === 0)
    return { ...at, message: `unknown key ${key}${place}; no record of this connector has files` };
  const meant = nearest(key, known);
  // `{ secret: one,two }` is a secret and a key.
  const besideSecret = path.length > 0 && known.some((one) => mayHoldSecret([...path, one]));
  const message =
    value === null && meant === undefined && besideSecret
      ? `an unknown key without a value${place}; a text with a comma needs quotes here`
      : unknownName("key", key, known, place);
  return { ...at, message, ...(meant !== undefined && { meant: pathText([...path, meant]) }) };
}

function missing(path: Path): FoundProblem {
  const parent = path.slice(0, -1);
  const owner = parent.length === 0 ? "the config" : pathText(parent);
  const message = `${owner} needs "${String(path.at(-1))}"`;
  return { path: parent, at: "key", message, needs: pathText(path) };
}

/** What stands there instead, unless it may hold a secret. */
function shown(path: Path, value: unknown): string {
  if (value === null) return " (it is empty)";
  if (Array.isArray(value)) return " (it is a list)";
  if (typeof value === "object") return " (it is a map)";
  const text = JSON.stringify(value) ?? "";
  return mayHoldSecret(path) || text.length > 60 ? "" : ` (it is ${text})`;
}

/** Problems of all company names: none, unless Postgres has them (`mayBeNone`), two for one file, one that JavaScript reserves. */
export function companyNameProblems(raw: unknown, mayBeNone: boolean): ConfigProblem[] {
  const companies = valueAt(raw, ["companies"]);
  if (typeof companies !== "object" || companies === null || Array.isArray(companies)) return [];
  const names = Object.keys(companies);
  if (names.length === 0 && !mayBeNone)
    return [{ path: ["companies"], at: "value", message: "companies must name at least one company" }];
  return names.flatMap((name, index) => {
    const twin = names.slice(0, index).find((other) => other.toLowerCase() === name.toLowerCase());
    if (name !== "__proto__" && twin === undefined) return [];
    const message =
      twin === undefined
        ? `the company name "${name}" cannot be used`
        : `the company names "${twin}" and "${name}" differ only in case: on some disks they are the same file`;
    return [{ path: ["companies", name], at: "key" as const, message }];
  });
}
