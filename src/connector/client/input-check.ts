import { z } from "zod";
import { MirrorError } from "../../base/errors.ts";
import { nearest } from "../../base/names.ts";

type Issue = z.core.$ZodIssue;

/** Checks an input before a request is spent on it. Throws MirrorError `usage` that names the field. */
export function checkInput(
  call: string,
  type: z.ZodObject,
  value: unknown,
): Readonly<Record<string, unknown>> {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  throw new MirrorError("usage", `${call}: ${first ? describe(first) : "the input is not valid"}`, {
    hint: first ? hintFor(first, type) : undefined,
  });
}

function describe(issue: Issue): string {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys")
    return `unknown field ${issue.keys.map((key) => z.core.toDotPath([...path, key])).join(", ")}`;
  return path.length > 0 ? `${z.core.toDotPath(path)}: ${message}` : message;
}

function hintFor(issue: Issue, type: z.ZodObject): string | undefined {
  if (issue.code !== "unrecognized_keys" || issue.path.length > 0) return undefined;
  const meant = nearest(issue.keys[0] ?? "", Object.keys(type.shape));
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}
