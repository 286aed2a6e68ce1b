import { shortText } from "../../../base/terminal-text.ts";
import { InboxView, type InboxRow } from "../../../state/inbox/inbox-view.ts";
import { printResult } from "../../console/output.ts";
import { readExisting, soleScope } from "../../mirror/company-scope.ts";
import { selectResources } from "../../mirror/selected-resources.ts";
import { usualInboxCount, type CommandRun } from "../../program/command-table.ts";
import { readSince } from "./since.ts";

/** Prints the newest stored events. */
export const inboxCommand: CommandRun<"webhooks inbox"> = async (
  context,
  { options, loaded: { config } },
) => {
  const scope = soleScope(context, config);
  const { since, resource, state, limit = usualInboxCount } = options;
  if (resource !== undefined) selectResources(scope.manifest, config.resources, [resource]);
  const from = since === undefined ? undefined : readSince(since, context.clock.nowMs());
  await readExisting(scope, async (db) => {
    const found = new InboxView(db).list({ most: limit + 1, since: from, state, resource });
    const rows = found.slice(0, limit).toReversed();
    if (found.length > limit)
      context.log.info(`there are more than these ${limit}: --limit, --since, --state and --resource choose`);
    const document = { company: scope.company.name, deliveries: rows.map(viewOf) };
    await printResult(context, document, rows.map(lineOf));
  });
  return "complete";
};

function viewOf(row: InboxRow) {
  return {
    event_id: row.eventId,
    type: row.type,
    resource: row.resource,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    occurred_at: row.occurredAt,
    received_at: row.receivedAt,
    state: row.state,
    outcome: row.outcome,
    ["settled_at"]: row.doneAt,
    request_id: row.requestId,
    problem: row.problem,
    work: row.work,
  };
}

function lineOf(row: InboxRow): string {
  const what = [shortText(row.type ?? "-"), row.resourceId ?? ""].join(" ").trimEnd();
  const request = row.requestId === null ? "" : `  ${row.requestId}`;
  return `${row.receivedAt}  ${what}  ${outcomeText(row)}  ${shortText(row.eventId)}${request}`;
}

function outcomeText({ state, outcome, problem, work }: InboxRow): string {
  if (state === "done") return outcome ?? "done";
  if (work?.state === "dead") return `dead letter (${work.error ?? "no reason kept"})`;
  if (work?.error) return `${state} (tried ${work.attempts} times: ${work.error})`;
  return problem === null ? state : `${state} (${problem})`;
}
