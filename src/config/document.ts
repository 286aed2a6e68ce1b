import { MirrorError } from "../base/errors.ts";
import { readYaml } from "./yaml.ts";

/** A YAML or JSON document that a user points at, as plain data. `name` is what messages call it. */
export function readDocument(text: string, name: string): unknown {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // braces begin YAML, too; it also knows the place of what is wrong
    }
  }
  const { value, problems } = readYaml(text);
  if (problems.length > 0) {
    const lines = problems.map(
      ({ position, message }) => `${name}:${position.line}:${position.column}: ${message}`,
    );
    throw new MirrorError("usage", lines.join("\n"), { hint: "it must be one YAML or JSON document" });
  }
  if (value === undefined) throw new MirrorError("usage", `${name}:1:1: the file is empty`);
  return value;
}
