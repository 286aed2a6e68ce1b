import { formatDuration } from "../../base/units.ts";
import type { BudgetView } from "../../rate-limit/permit.ts";
import type { Health, ResourceHealth } from "../mirror-health.ts";
import { eventLines } from "./event-text.ts";
import type { CompanyStatus } from "../company-status.ts";

/** The status of one company as lines for people. Pure. */
export function statusLines(company: string, status: CompanyStatus, nowMs: number): string[] {
  const { health, writer, budget } = status;
  if (!health) return [`${company}: no mirror yet. Run \`fintoro-mirror sync\`.`];
  return [
    `${company}: ${headline(status, nowMs)}`,
    ...(writer ? [`  being written by ${writer}`] : []),
    ...health.resources.map((resource) => resourceLine(resource, nowMs)),
    ...queueLines(health, writer),
    ...(budget ? [budgetLine(budget)] : []),
    ...troubleLines(health),
    ...(status.events ? eventLines(status.events, nowMs) : []),
    ...runLines(health, status.running, nowMs),
    ...status.freshness.stale.map(({ name, age }) => `  TOO OLD ${name}: ${age}`),
  ];
}

function headline({ freshness, health }: CompanyStatus, nowMs: number): string {
  const live = health?.resources.reduce((sum, resource) => sum + resource.live, 0) ?? 0;
  const fresh =
    freshness.oldest === null
      ? "not everything was read whole yet"
      : `read whole ${ago(freshness.oldest, nowMs)}`;
  return `${live} records, ${fresh}`;
}

function resourceLine(
  { name, live, deleted, sweptAt, stalestParent }: ResourceHealth,
  nowMs: number,
): string {
  const tombstones = deleted > 0 ? `, ${deleted} deleted` : "";
  const stalest = stalestParent
    ? `; stalest list: ${stalestParent.parent} ${stalestParent.id}, ${ago(stalestParent.listedAt, nowMs)}`
    : "";
  return `  ${name.padEnd(28)} ${String(live).padStart(8)} live${tombstones}, ${ago(sweptAt, nowMs)}${stalest}`;
}

function queueLines({ queue }: Health, writer: string | null): string[] {
  const ready = queue.filter(({ state }) => state === "ready").reduce((sum, { count }) => sum + count, 0);
  if (ready === 0) return [];
  const waits = ready === 1 ? "1 request waits" : `${ready} requests wait`;
  return [`  ${waits} for ${writer ? "a turn" : "the next run"}`];
}

function budgetLine({ limit, remaining, waitMs }: BudgetView): string {
  if (limit === null) return "  budget: not known yet";
  const wait = waitMs > 0 ? `, next permit in ${formatDuration(waitMs)}` : "";
  return `  budget: ${remaining ?? "?"} of ${limit} requests left in this window${wait}`;
}

function troubleLines(health: Health): string[] {
  const troubles = health.resources.flatMap(({ name, troubles: all }) =>
    all
      .filter(({ kind }) => kind !== "quarantined" && kind !== "dead")
      .map(({ message, hint }) => `${name}: ${message}${hint ? ` (${hint})` : ""}`),
  );
  const deadLetters = health.deadLetters.map(
    ({ resource, target, error, state }) => `${resource} ${target} ${state}: ${error}`,
  );
  const odd = health.quarantine.map(
    ({ resource, recordId, reason }) => `${resource} ${recordId ?? "without id"} in quarantine: ${reason}`,
  );
  const columns = [
    ...health.newColumns.map(
      (column) => `new column ${column}: the service sends a field that the connector does not know`,
    ),
    ...health.missingFields.map((field) => `${field} is missing from answers, although it is required`),
    ...health.unkeptFields.map((field) => `${field} is in lists only and is not kept`),
  ];
  return [...troubles, ...deadLetters, ...odd]
    .map((line) => `  ! ${line}`)
    .concat(columns.map((line) => `  ${line}`));
}

function runLines({ runs }: Health, running: CompanyStatus["running"], nowMs: number): string[] {
  return runs.slice(0, 3).map(({ id, mode, startedAt, finishedAt, outcome }, index) => {
    const mayRun = running === "unknown" && index === 0;
    const open = running === id ? "running" : mayRun ? "running, or cut off" : "cut off";
    const took = finishedAt ? ` in ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}` : "";
    return `  run ${id} (${mode}) ${ago(startedAt, nowMs)}: ${outcome ?? open}${took}`;
  });
}

function ago(iso: string | null, nowMs: number): string {
  return iso === null ? "never" : `${formatDuration(nowMs - Date.parse(iso))} ago`;
}
