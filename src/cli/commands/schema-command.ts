import { configJsonSchema } from "../../config/json-schema.ts";
import { command } from "../program/command.ts";
import { flag } from "../program/command-options.ts";
import { renderTableDocs, tableDocs } from "../mirror/table-docs.ts";

export const schemaCommand = command({
  name: "schema",
  summary: "print the config's JSON Schema, or describe every table and column",
  options: { tables: flag("--tables", "describe the tables of the mirror and of the report") },
  async run({ connectors, output, globals }, { options }) {
    const { manifest } = connectors[0];
    if (!options.tables)
      await output.line(JSON.stringify(configJsonSchema(manifest), null, globals.json ? 0 : 2));
    else if (globals.json) await output.json({ tables: tableDocs(manifest) });
    else await output.line(renderTableDocs(tableDocs(manifest)));
    return "complete";
  },
});
