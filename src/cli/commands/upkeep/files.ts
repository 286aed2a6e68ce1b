import { formatCount, formatSize } from "../../../base/units.ts";
import { fileKinds } from "../../../state/files/pending-files.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany } from "../../runs/each-company.ts";
import { fetchCompanyFiles, fileProblems } from "../../runs/files-company.ts";

const mostNamed = 20;

/** Fetches the files of each company that are missing or changed. */
export const filesCommand: CommandRun<"files"> = (context, { options, loaded: { config } }) => {
  const { month, maxRequests: mostRequests, maxDuration } = options;
  const closed = maxDuration === undefined ? undefined : AbortSignal.timeout(maxDuration);
  return forEachCompany(context, config, async (scope) => {
    const question = { retryBeforeMs: context.clock.nowMs(), month };
    const asked = fileKinds(config);
    // Where the config asks for none, a person who calls the command wants all.
    const kinds = asked.length > 0 ? asked : (["pdf", "attachment"] as const);
    const request = { kinds, question, mostRequests, closed };
    const result = await fetchCompanyFiles(scope, request);
    const { written, bytes, problems, pending, folder } = result;
    const left = pending > 0 ? `; ${formatCount(pending)} still to be fetched` : "";
    const bad = problems > 0 ? `; ${formatCount(problems)} without a file` : "";
    const named = await fileProblems(scope, mostNamed);
    const what = `${formatCount(written)} files written to ${folder} (${formatSize(bytes)})${bad}${left}`;
    return {
      document: { ...result, problems: named },
      lines: [
        `${scope.company.name}: ${what}`,
        ...named.map(({ document, document_id: id, problem }) => `  ${document} ${id}: ${problem}`),
      ],
      outcome: result.outcome,
    };
  });
};
