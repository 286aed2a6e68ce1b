import type { z } from "zod";
import { nearest } from "../base/names.ts";
import type { Path } from "./yaml.ts";

/** Something wrong in the file: where to point, and one sentence. */
export interface Problem {
  readonly path: Path;
  readonly at: "key" | "value";
  readonly message: string;
}

/** `companies.acme.webhook.secrets[0]` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

/** What zod found, in the words of the file. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], raw: unknown, keysAt: KeysAt): Problem[] {
  const problems = issues.flatMap((issue) => problemsOfIssue(issue, raw, keysAt));
  const typos = new Set(problems.flatMap((problem) => problem.covers ?? []));
  return problems.filter((problem) => problem.needs === undefined || !typos.has(problem.needs));
}

/** The keys known in the map at a path. */
export type KeysAt = (path: Path) => readonly string[];

interface FoundProblem extends Problem {
  /** The missing key this problem is about, as a path text. */
  readonly needs?: string;
  /** The key that a typo most likely was meant to be: not worth a second complaint. */
  readonly covers?: string;
}

function problemsOfIssue(issue: z.core.$ZodIssue, raw: unknown, keysAt: KeysAt): FoundProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownKey(issue.path, key, keysAt(issue.path)));
  }
  if (issue.code === "invalid_key")
    return [{ path: issue.path, at: "key", message: badCompanyName(issue.path) }];
  const value = valueAt(raw, issue.path);
  if (value === undefined) return [missing(issue.path)];
  const message = `${pathText(issue.path) || "the config"} ${leafMessage(issue)}${shown(issue.path, value)}`;
  return [{ path: issue.path, at: "value", message }];
}

/** Of a union, the last member's words: they name all its alternatives. */
function leafMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union") return issue.message;
  const last = issue.errors.at(-1)?.at(-1);
  const named = issue.message.startsWith("must ") || last === undefined;
  return named ? issue.message : leafMessage(last);
}

function unknownKey(path: Path, key: string, known: readonly string[]): FoundProblem {
  const meant = nearest(key, known);
  const place = path.length === 0 ? "" : ` in ${pathText(path)}`;
  const suggestion = meant === undefined ? `; known here: ${known.join(", ")}` : `; did you mean "${meant}"?`;
  return {
    path: [...path, key],
    at: "key",
    message: `unknown key "${key}"${place}${suggestion}`,
    ...(meant === undefined ? {} : { covers: pathText([...path, meant]) }),
  };
}

function missing(path: Path): FoundProblem {
  const parent = path.slice(0, -1);
  const owner = parent.length === 0 ? "the config" : pathText(parent);
  return {
    path: parent,
    at: "key",
    message: `${owner} needs "${String(path.at(-1))}"`,
    needs: pathText(path),
  };
}

function badCompanyName(path: Path): string {
  return `the company name "${String(path.at(-1))}" becomes a file name: use letters, digits, - and _ only, at most 64`;
}

/** What stands there instead, unless it may hold a secret. */
function shown(path: Path, value: unknown): string {
  if (value === null) return " (it is empty)";
  if (Array.isArray(value)) return " (it is a list)";
  if (typeof value === "object") return " (it is a map)";
  const text = JSON.stringify(value) ?? "";
  if (path[0] === "companies" || path[0] === "base_url" || text.length > 60) return "";
  return ` (it is ${text})`;
}

function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    return (value as Record<PropertyKey, unknown>)[key];
  }, raw);
}
