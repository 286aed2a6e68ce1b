import { readFile } from "node:fs/promises";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { readDocument } from "../../config/yaml.ts";
import { compareWithReference } from "../../connector/drift/drift.ts";
import type { CommandRun } from "../program/command-table.ts";

export const connectorCheckCommand: CommandRun<"connectorCheck"> = async (
  { connectors, output, globals, cwd },
  { options },
) => {
  if (options.openapi === undefined)
    throw new MirrorError("usage", "--openapi FILE is needed: the reference to compare with");
  const file = path.resolve(cwd, options.openapi);
  const document = readDocument(await readFile(file, "utf8"), options.openapi);
  const drifts = compareWithReference(connectors[0].manifest, document);
  const breaking = drifts.filter((drift) => drift.severity === "breaking").length;
  if (globals.json) await output.json({ breaking, drifts });
  else if (drifts.length === 0) await output.line("no difference");
  else
    for (const { severity, where, what } of drifts)
      await output.line(`${severity.padEnd(8)}  ${where}: ${what}`);
  return breaking > 0 ? "difference" : "complete";
};
