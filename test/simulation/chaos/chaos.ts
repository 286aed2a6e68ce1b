import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import type { PostgresServer } from "../../support/postgres/server.ts";
import { startChanges } from "./change-load.ts";
import { openChaosFleet, type ChaosFleet, type FleetOptions } from "./chaos-fleet.ts";
import { disturbanceText, type Disturbance, type PostgresDisturbance } from "./chaos-plan.ts";
import { judgeRequests } from "./judge-requests.ts";
import { judgeRest } from "./judge-rest.ts";
import {
  judgeTakeovers,
  takeoversOf,
  takeoversText,
  type Takeover,
  type TimeSpan,
} from "./judge-takeovers.ts";
import { judgeWrites } from "./judge-writes.ts";
import { ownershipSpans, spansByCompany } from "./ownership-spans.ts";
import { waitForRest } from "./rest.ts";
import { installWriteOracle, readWrites } from "./write-oracle.ts";

/** What is done to which fleet. */
export interface ChaosPlan extends Omit<FleetOptions, "postgresUrl" | "mostMs"> {
  readonly disturbances: readonly Disturbance[];
  /** Of the chaos. Until the fleet is at rest it takes longer. */
  readonly durationMs: number;
  /** About so often each company changes. */
  readonly changeEveryMs: number;
  readonly longestRestMs: number;
  readonly onLine?: (line: string) => void;
}

/** What was seen, and what must not be. */
export interface ChaosResult {
  readonly lines: readonly string[];
  readonly takeovers: readonly Takeover[];
  readonly broken: readonly string[];
}

/** A fleet under chaos. */
interface Chaos {
  readonly plan: ChaosPlan;
  readonly fleet: ChaosFleet;
  readonly postgres: Postgres;
  readonly server: PostgresServer;
  /** When Postgres was restarted. */
  readonly away: TimeSpan[];
}

/**
 * Lets a fleet work while its nodes are killed, stopped and restarted and Postgres is restarted, until all is at rest;
 * then judges what was written to Postgres, sent to the service, answered to deliveries and published.
 */
export async function chaos(plan: ChaosPlan, server: PostgresServer): Promise<ChaosResult> {
  const mostMs = 2 * (plan.durationMs + plan.longestRestMs);
  const url = await server.createDatabase();
  const fleet = await openChaosFleet({ ...plan, postgresUrl: url, mostMs });
  const postgres = await openPostgres({ url, node: "oracle", log: silentLog, maxConnections: 2 });
  const one: Chaos = { plan, fleet, postgres, server, away: [] };
  const forgiving = setInterval(() => void forgiveLosses(postgres), forgiveEveryMs);
  try {
    await installWriteOracle(postgres);
    for (const node of fleet.nodes) node.start();
    await untilClaimed(one, mostMs / 4);
    const load = startChanges(fleet.sandbox, { seed: plan.seed, everyMs: plan.changeEveryMs });
    await Promise.all([pause(plan.durationMs), ...plan.disturbances.map((each) => disturb(one, each))]);
    await load.stop();
    const endMs = Date.now();
    const restProblems = await waitForRest({ fleet, postgres, ...plan });
    const result = await judge(one, { endMs, restProblems, changes: load.changes() });
    return result.broken.length === 0 ? result : { ...result, lines: [...result.lines, keepLogs(fleet)] };
  } finally {
    clearInterval(forgiving);
    await postgres.close();
    await fleet.close();
  }
}

/** Sooner than a node can be lost three times. */
const forgiveEveryMs = 5_000;

/** Nodes die here of nothing that a company does, and more often than in any fleet: no company is to be set aside for it. */
async function forgiveLosses(postgres: Postgres): Promise<void> {
  const sql = "UPDATE fintoro_mirror.owners SET losses = 0, claimable_at = NULL WHERE losses > 0";
  await postgres.query(sql).catch(() => undefined);
}

/** The chaos begins when each company was owned once. */
async function untilClaimed({ fleet, postgres }: Chaos, longestMs: number): Promise<void> {
  for (const endMs = performance.now() + longestMs; performance.now() < endMs; await pause(200)) {
    const sql = "SELECT count(*)::int AS claimed FROM fintoro_mirror.owners";
    const [row] = await postgres.query<{ claimed: number }>(sql);
    if (row?.claimed === fleet.names.length) return;
  }
  throw new Error(`not all companies were claimed: ${fleet.nodes[0]?.log().slice(-2_000)}`);
}

/** Says where they are. */
function keepLogs({ nodes }: ChaosFleet): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-chaos-logs-"));
  for (const node of nodes) writeFileSync(path.join(folder, `${node.options.name}.log`), node.log());
  return `the logs of the nodes are in ${folder}`;
}

async function disturb(one: Chaos, disturbance: Disturbance): Promise<void> {
  const { plan, fleet } = one;
  await pause(disturbance.atMs);
  plan.onLine?.(disturbanceText(disturbance));
  if (disturbance.what === "postgres") return restartPostgres(one, disturbance);
  const node = fleet.nodes[disturbance.node];
  if (!node) throw new Error(`broken promise: there is a node ${disturbance.node}`);
  if (disturbance.what === "stop") return node.stop(disturbance.lastsMs);
  await (disturbance.what === "kill" ? node.kill() : node.terminate());
  await pause(disturbance.lastsMs);
  node.start();
}

async function restartPostgres({ server, away }: Chaos, { mode }: PostgresDisturbance): Promise<void> {
  const fromMs = Date.now();
  await (mode === "fast" ? server.stop() : server.crash());
  await server.start();
  away.push({ fromMs, untilMs: Date.now() });
}

interface ChaosEnd {
  readonly endMs: number;
  readonly restProblems: readonly string[];
  readonly changes: number;
}

async function judge(one: Chaos, { endMs, restProblems, changes }: ChaosEnd): Promise<ChaosResult> {
  const { fleet, postgres, away } = one;
  const { nodes, watch } = fleet;
  const writes = await readWrites(postgres);
  const all = ownershipSpans(writes);
  const spans = spansByCompany(all);
  const stops = nodes.flatMap((node) => node.stops);
  const requests = judgeRequests(watch.requests, spans, stops);
  const takeovers = takeoversOf({ spans, kills: nodes.flatMap((node) => node.kills), away, endMs });
  const rest = await judgeRest(fleet, postgres);
  return {
    lines: [
      `${changes} changes, ${watch.requests.length} requests, ${rest.answered} deliveries answered with 204`,
      `${writes.length} writes in ${all.length} ownerships; ${requests.tolerated} requests in flight at a stop`,
      takeoversText(takeovers),
    ],
    takeovers,
    broken: [
      ...nodes.flatMap((node) => node.problems),
      ...judgeWrites(writes),
      ...requests.broken,
      ...judgeTakeovers(takeovers),
      ...restProblems,
      ...rest.broken,
      ...fleet.sandbox.control.failures().map((bug) => `the sandbox: ${String(bug)}`),
    ],
  };
}
