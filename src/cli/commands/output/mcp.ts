import { existsSync } from "node:fs";
import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { MirrorError } from "../../../base/errors.ts";
import { combinedName, mirrorFiles } from "../../../config/mirror-files.ts";
import { QueryRunner } from "../../../mcp/query-runner.ts";
import { createReportServer } from "../../../mcp/report-tools.ts";
import { soleScope } from "../../mirror/company-scope.ts";
import type { CommandRun } from "../../program/command-table.ts";

/** Answers an assistant over stdin and stdout until it hangs up. */
export const mcpCommand: CommandRun<"mcp"> = async (context, { options, loaded: { config } }) => {
  const { signal, version, connectors, log } = context;
  const { manifest } = connectors[0];
  const report = options.combined
    ? mirrorFiles(config, combinedName).combinedReport
    : soleScope(context, config).files.report;
  if (!existsSync(report))
    throw new MirrorError("database", `there is no report to answer from: ${report}`, {
      hint: `Run \`fintoro-mirror publish${options.combined ? " --combined" : ""}\` first.`,
    });
  const runner = new QueryRunner();
  const books = { manifest, report, runner, version, hasContent: config.mcp.content };
  const server = serveStdio(() => createReportServer(books), {
    onerror: (error) => log.warn("a message of the assistant was not understood", { error: error.message }),
  });
  try {
    await Promise.race([once(process.stdin, "end"), once(signal, "abort")]);
  } finally {
    await server.close();
    runner.close();
  }
  return "complete";
};
