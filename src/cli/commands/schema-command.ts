import { configJsonSchema } from "../../config/config-schema.ts";
import type { CommandRun } from "../program/command-table.ts";
import { renderTableDocs, tableDocs } from "../mirror/table-docs.ts";

export const schemaCommand: CommandRun<"schema"> = async ({ connectors, output, globals }, { options }) => {
  const { manifest } = connectors[0];
  if (!options.tables)
    await output.jsonText(JSON.stringify(configJsonSchema(manifest), null, globals.json ? 0 : 2));
  else if (globals.json) await output.json({ tables: tableDocs(manifest) });
  else await output.line(renderTableDocs(tableDocs(manifest)));
  return "complete";
};
