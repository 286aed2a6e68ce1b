import { alignedColumn } from "../../base/terminal-text.ts";
import { counted, formatAge, formatCount, formatDuration, formatSize } from "../../base/units.ts";
import { fileLines } from "../../status/render/status-text.ts";
import type { FleetCompanyStatus } from "./judge-company.ts";
import type { NodeRow } from "../postgres/tables/heartbeats.ts";
import type { Radar, RadarCompany } from "../postgres/tables/radar-view.ts";
import type { FleetStatus } from "./read-fleet-status.ts";

/** Companies that are shown without a problem; all where there are no more. */
const mostQuiet = 50;
/** A node beats at least every 10 s: one that is silent for longer may hold nothing any more of what it shows. */
const silentMs = 20_000;
const mostTroubled = 200;

/** How the fleet stands, for people: what is wrong first, companies that are well only while they are few. Pure. */
export function formatFleetStatus(status: FleetStatus): string[] {
  const nowMs = Date.parse(status.at);
  const companies = Object.entries(status.companies);
  return [
    headline(companies),
    ...status.problems.map(({ message }) => `! ${message}`),
    ...status.nodes.map((node) => nodeLine(node, nowMs)),
    receivingLine(status, nowMs),
    ...jobsLine(status),
    postgresLine(status),
    ...removedLine(status, nowMs),
    ...companyLines(companies, nowMs),
  ];
}

type NamedCompany = readonly [name: string, company: FleetCompanyStatus];

function headline(companies: readonly NamedCompany[]): string {
  const held = companies.filter(([, one]) => one.held).length;
  const requests = companies.reduce((sum, [, one]) => sum + one.day_requests, 0);
  const bytes = companies.reduce((sum, [, one]) => sum + (one.snapshot_bytes ?? 0), 0);
  const counts = `${counted(companies.length, "company", "companies")}, ${formatCount(held)} held`;
  return `${counts}; snapshots of ${formatSize(bytes)}; the last day took ${counted(requests, "request", "requests")}`;
}

function nodeLine(node: NodeRow, nowMs: number): string {
  const { node: name, version, role, held, capacity, draining, lost } = node;
  const places = role === "receive" ? "receives" : `${held} of ${capacity} companies`;
  const isSilent = nowMs - Date.parse(node.seen_at) > silentMs;
  const state = isSilent
    ? `no heartbeat for ${formatAge(node.seen_at, nowMs)}`
    : `up ${formatAge(node.started_at, nowMs)}`;
  return `${lost ? "! " : "  "}${name}: ${places}${draining ? ", draining" : ""}, ${state}, version ${version}`;
}

function receivingLine({ receiving, companies, nodes }: FleetStatus, nowMs: number): string {
  const waiting = Object.values(companies).filter(({ waiting_since: since }) => since !== null);
  const count = waiting.reduce((sum, one) => sum + one.waiting_deliveries, 0);
  const oldest = waiting.map(({ waiting_since: since }) => since ?? "").toSorted()[0];
  const behind = `in ${counted(waiting.length, "company", "companies")}, the oldest for ${formatAge(oldest ?? "", nowMs)}`;
  const left = oldest === undefined ? "none waits" : `${formatCount(count)} not in a snapshot ${behind}`;
  const since = receiving
    ? `received for ${formatAge(receiving.since, Date.parse(receiving.seen_at))}`
    : "none received in the last day";
  const isReceiving = nodes.some(({ role, lost }) => role !== "work" && !lost);
  return `  deliveries: ${isReceiving ? "" : "no receiver runs, "}${since}; ${left}`;
}

function jobsLine({ jobs }: FleetStatus): string[] {
  const waiting = Object.entries(jobs).filter(([, { waiting: count }]) => count > 0);
  if (waiting.length === 0) return [];
  const each = waiting.map(
    ([kind, one]) => `${formatCount(one.waiting)} ${kind} (the oldest for ${formatDuration(one.oldest_ms)})`,
  );
  return [`  jobs that no worker has taken: ${each.join(", ")}`];
}

function postgresLine({ postgres }: FleetStatus): string {
  const { version, connections, max_connections: most, oldest_transaction_ms: oldest } = postgres;
  const sizes = [
    `inbox ${formatSize(postgres.inbox_bytes)}`,
    `change log ${formatSize(postgres.changes_bytes)}`,
    `jobs ${formatSize(postgres.jobs_bytes)}`,
  ];
  const open = oldest > 60_000 ? `; a transaction is open for ${formatDuration(oldest)}` : "";
  const size = `${formatSize(postgres.database_bytes)} (${sizes.join(", ")})`;
  return `  Postgres ${version}: ${size}, ${connections} of ${most} connections${open}`;
}

function removedLine({ removed }: FleetStatus, nowMs: number): string[] {
  if (removed === null) return [];
  const next = formatDuration(Date.parse(removed.next_forgotten_at) - nowMs);
  const count = counted(removed.companies, "removed company", "removed companies");
  return [`  ${count} can still come back; Postgres forgets the first in ${next}`];
}

function companyLines(companies: readonly NamedCompany[], nowMs: number): string[] {
  const troubled = companies.filter(([, { problems }]) => problems.length > 0);
  const quiet = companies.filter(([, { problems }]) => problems.length === 0);
  const shown = quiet.slice(0, Math.max(0, mostQuiet - troubled.length));
  const more = troubled.length - mostTroubled;
  const left = [
    ...(more > 0 ? [`${formatCount(more)} with a problem`] : []),
    ...(quiet.length > shown.length ? [`${formatCount(quiet.length - shown.length)} without one`] : []),
  ];
  return [
    ...troubled.slice(0, mostTroubled).map(([name, one]) => {
      const problems = one.problems.map(({ message }) => message).join("; ");
      return `! ${name}: ${problems} (${whereabouts(one, nowMs)})`;
    }),
    ...shown.map(([name, one]) => `  ${name}: ${whereabouts(one, nowMs)}`),
    ...(left.length > 0 ? [`  ${left.join(" and ")} not shown: --json has all`] : []),
  ];
}

function whereabouts(company: FleetCompanyStatus, nowMs: number): string {
  const { node, epoch, held, rival, whole_at: wholeAt, snapshot_at: snapshotAt } = company;
  const idle = rival === null ? "idle" : `idle while ${rival} is held, which has a token of the same company`;
  const owner = held ? `at ${node}, epoch ${epoch}` : idle;
  const read = wholeAt === null ? "not read whole yet" : `read ${formatAge(wholeAt, nowMs)} ago`;
  const ahead = company.reads_waiting;
  const reads = ahead === 0 ? "" : `, ${counted(ahead, "read", "reads")} to go`;
  const snapshot = snapshotAt === null ? "no snapshot" : `snapshot ${formatAge(snapshotAt, nowMs)} ago`;
  const waiting = company.waiting_deliveries;
  const deliveries = waiting === 0 ? "" : `, ${counted(waiting, "delivery", "deliveries")} not in it`;
  const files = fileLines(company).map((line) => `;${line.slice(1)}`);
  return [`${owner}; ${read}; ${snapshot}${deliveries}${reads}`, ...files].join("");
}

/** What is shown of a company besides its name. */
export const radarHeads = ["token", "webhook", "handed over", "proof", "what the report says"] as const;

export function radarCells({ mirror, answers }: RadarCompany): string[] {
  if (mirror === null) return ["not read yet", "", "", "", ""];
  const { token, webhook, handed_over: month, read_since: since, verified_at: verified } = mirror;
  const handedOver =
    month === null
      ? "none"
      : `${month.month}, ${counted(month.changed, "document")} changed since${month.pruned ? ", as far as known" : ""}`;
  const read = since === null ? "not read whole" : `read since ${since.slice(0, 10)}`;
  const proof = verified === null ? read : `verified ${verified.slice(0, 10)}`;
  const says = answers === null ? "no report yet" : Object.values(answers).join("; ");
  return [token, webhook, handedOver, proof, says];
}

/** A line for each company; those that need someone are marked. Pure. */
export function radarLines(companies: Radar): string[] {
  const rows = [
    ["  company", ...radarHeads],
    ...[...companies].map(([name, one]) => [
      `${one.mirror?.needs_someone === true ? "!" : " "} ${name}`,
      ...radarCells(one),
    ]),
  ];
  const columns = (rows[0] ?? []).map((_, at) => alignedColumn(rows.map((row) => row[at] ?? "")));
  return rows.map((_, at) =>
    columns
      .map((column) => column[at])
      .join("  ")
      .trimEnd(),
  );
}
