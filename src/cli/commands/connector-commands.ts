import { readFileSync } from "node:fs";
import path from "node:path";
import { MirrorError, readNamed } from "../../base/errors.ts";
import { readDocument } from "../../config/yaml.ts";
import { compareWithReference } from "../../connector/drift/drift.ts";
import type { CommandRun } from "../program/command-table.ts";
import { configJsonSchema } from "../../config/config-schema.ts";
import { renderTableDocs, tableDocs } from "../mirror/table-docs.ts";

export const connectorCheckCommand: CommandRun<"connector check"> = async (context, { options }) => {
  if (options.openapi === undefined)
    throw new MirrorError("usage", "--openapi FILE is needed: the reference to compare with");
  const file = path.resolve(context.cwd, options.openapi);
  const hint = "Name the service's OpenAPI document, in YAML or JSON.";
  const text = readNamed(() => readFileSync(file, "utf8"), "usage", `--openapi ${options.openapi}`, hint);
  const document = readDocument(text, options.openapi);
  const drifts = compareWithReference(context.connector.declaration, document);
  const breaking = drifts.filter((drift) => drift.severity === "breaking").length;
  const lines = drifts.map(({ severity, where, what }) => `${severity.padEnd(8)}  ${where}: ${what}`);
  await context.print({ breaking, drifts }, lines.length === 0 ? ["no difference"] : lines);
  return breaking > 0 ? "difference" : "complete";
};

export const schemaCommand: CommandRun<"schema"> = async ({ connector, output, globals }, { options }) => {
  const { declaration } = connector;
  if (!options.tables)
    await output.jsonText(JSON.stringify(configJsonSchema(declaration), null, globals.json ? 0 : 2));
  else if (globals.json) await output.json({ tables: tableDocs(declaration) });
  else await output.line(renderTableDocs(tableDocs(declaration)));
  return "complete";
};
