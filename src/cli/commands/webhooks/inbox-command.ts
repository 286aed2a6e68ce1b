import { soleCompany } from "../../../config/companies.ts";
import { InboxView, type InboxRow } from "../../../state/inbox/inbox-view.ts";
import { printResult } from "../../console/output.ts";
import { usualInboxCount, type CommandRun } from "../../program/command-table.ts";
import { openExisting } from "../../mirror/open-mirror.ts";
import { selectResources } from "../../mirror/selected-resources.ts";
import { readSince } from "./since.ts";

export const webhooksInboxCommand: CommandRun<"webhooksInbox"> = async (
  context,
  { options, loaded: { config } },
) => {
  const company = soleCompany(config, context.globals.company);
  const { since, resource, limit = usualInboxCount } = options;
  if (resource !== undefined) selectResources(context.connectors[0].manifest, config.resources, [resource]);
  const filter = {
    most: limit + 1,
    ...(since !== undefined && { since: readSince(since, context.clock.nowMs()) }),
    ...(options.state !== undefined && { state: options.state }),
    ...(resource !== undefined && { resource }),
  };
  const db = openExisting(config, company);
  try {
    const found = new InboxView(db).list(filter);
    const rows = found.slice(0, limit).toReversed();
    if (found.length > limit)
      context.log.info(`there are more than these ${limit}: --limit, --since, --state and --resource choose`);
    await printResult(context, { company: company.name, deliveries: rows.map(viewOf) }, rows.map(lineOf));
  } finally {
    db.close();
  }
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
  const what = [row.type ?? "-", row.resourceId === null ? "" : String(row.resourceId)].join(" ").trimEnd();
  const request = row.requestId === null ? "" : `  ${row.requestId}`;
  return `${row.receivedAt}  ${what}  ${outcomeText(row)}  ${row.eventId}${request}`;
}

function outcomeText({ state, outcome, problem, work }: InboxRow): string {
  if (state === "done") return outcome ?? "done";
  if (work?.state === "dead") return `dead letter (${work.error ?? "no reason kept"})`;
  if (work?.error) return `${state} (tried ${work.attempts} times: ${work.error})`;
  return problem === null ? state : `${state} (${problem})`;
}
