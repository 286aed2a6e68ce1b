import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { selectResources } from "../../../config/companies.ts";
import { combinedName, mirrorFiles } from "../../../store/mirror-files.ts";
import { QueryRunner } from "../../../mcp/query-runner.ts";
import type { ShownColumns } from "../../../mcp/report-query.ts";
import { createReportServer } from "../../../mcp/report-tools.ts";
import { soleScope } from "../../mirror/company-scope.ts";
import type { CommandRun } from "../../program/command-table.ts";

export const mcpCommand: CommandRun<"mcp"> = async (context, { options, config }) => {
  const { signal, version, log, connector } = context;
  // The questions are of one company: over several they would add up records that share an id.
  const questions = options.combined ? [] : (connector.declaration.questions ?? []);
  const declaration = { ...connector.declaration, questions };
  const report = options.combined
    ? mirrorFiles(config, combinedName).combinedReport
    : soleScope(context, config).files.report;
  using runner = new QueryRunner();
  const mirrored = selectResources(declaration, config.resources).map(({ name }) => name);
  const answer = (sql: string, shown: ShownColumns) => runner.answer({ report, shown, mirrored, sql });
  // Refuses where there is no report, or a damaged one, before an assistant relies on it.
  await answer("SELECT 1", {});
  const create = () => createReportServer(declaration, version, mirrored, config.mcp.content, answer);
  const server = serveStdio(create, {
    onerror: ({ message: error }) => log.warn("a message of the assistant was not understood", { error }),
  });
  // It pauses the input where it gives up the connection: after a message of more than 10 MB nothing more is read.
  await Promise.race([...["end", "pause"].map((end) => once(process.stdin, end)), once(signal, "abort")]);
  await server.close();
  return process.stdin.readableEnded || signal.aborted ? "complete" : "failed";
};
