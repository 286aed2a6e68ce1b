import type { Clock } from "../../base/clock.ts";
import { byKey, metricText } from "../../status/render/metric-text.ts";
import { readWaitingJobs, type WaitingJobs } from "../jobs/job-engine.ts";
import type { Postgres } from "../postgres/connection.ts";
import { readFleetTotals, type FleetTotals } from "../postgres/tables/fleet-view.ts";

/** However often a node's metrics are asked for, Postgres is asked again after this. */
const freshMs = 10_000;

/**
 * Metrics of the whole fleet, the same on every node: sums over all companies, whose names are in none of them. An alert
 * takes the largest of all nodes.
 *
 * @returns reads them: a metric per text, none while Postgres is away
 */
export function createFleetMetrics(postgres: Postgres, clock: Clock): () => Promise<readonly string[]> {
  let texts: Promise<readonly string[]> = Promise.resolve([]);
  let readMs = Number.NEGATIVE_INFINITY;
  const read = async () => {
    const [totals, waiting] = await Promise.all([readFleetTotals(postgres), readWaitingJobs(postgres)]);
    return [...ofCompanies(totals), ...ofJobs(waiting)];
  };
  return () => {
    if (clock.monotonicMs() - readMs < freshMs) return texts;
    readMs = clock.monotonicMs();
    texts = read().catch(() => []);
    return texts;
  };
}

function ofCompanies({
  companies,
  held,
  ended,
  waiting,
  unattended,
  oldestWaitingMs,
}: FleetTotals): string[] {
  const states = { held, ended, idle: companies - held - ended };
  return [
    metricText(
      "fleet_companies",
      "companies of the fleet: held by a node, idle, or left behind by a node that was lost",
      byKey("state", states),
    ),
    metricText(
      "fleet_inbox_companies",
      "companies with deliveries that are not in their snapshot, by whether a node holds them",
      byKey("state", { held: waiting - unattended, unattended }),
    ),
    metricText("fleet_inbox_oldest_seconds", "how long the oldest such delivery waits; 0: none does", [
      { labels: {}, value: oldestWaitingMs },
    ]),
  ];
}

function ofJobs(waiting: readonly WaitingJobs[]): string[] {
  const counts = Object.fromEntries(waiting.map(({ kind, count }) => [kind, count]));
  const ages = Object.fromEntries(waiting.map(({ kind, oldestMs }) => [kind, oldestMs]));
  return [
    metricText(
      "fleet_jobs_waiting",
      "jobs of the fleet that no node has taken, by kind",
      byKey("kind", counts),
    ),
    metricText("fleet_job_age_seconds", "how long the oldest of them waits, by kind", byKey("kind", ages)),
  ];
}
