import type { Clock } from "../../base/clock.ts";
import { createKeptPages } from "../../server/kept-pages.ts";
import { byKey, metricText } from "../../status/render/metrics.ts";
import { readWaitingJobs } from "../jobs/job-engine.ts";
import type { Postgres } from "../postgres/connection.ts";
import { readFleetTotals } from "../postgres/tables/fleet-view.ts";

/** However often a node's metrics are asked for, Postgres is asked again after this. */
const freshMs = 10_000;
const keptFor = { factor: 0, shortestMs: freshMs, longestMs: freshMs };

/**
 * Metrics of the whole fleet, the same on every node: sums over all companies, whose names are in none of them. An alert
 * takes the largest of all nodes.
 *
 * @returns reads them: a metric per text, none while Postgres is away
 */
export function createFleetMetrics(postgres: Postgres, clock: Clock): () => Promise<readonly string[]> {
  const kept = createKeptPages<readonly string[]>(clock, keptFor);
  const read = async () => {
    const [totals, jobsWaiting] = await Promise.all([readFleetTotals(postgres), readWaitingJobs(postgres)]);
    const { companies, held, ended, unattended } = totals;
    const jobs = (key: "count" | "oldestMs") =>
      byKey("kind", Object.fromEntries(jobsWaiting.map((one) => [one.kind, one[key]])));
    const all = "companies of the fleet: held by a node, idle, or left behind by a node that was lost";
    const waiting = "companies with deliveries that are not in their snapshot, by whether a node holds them";
    const oldest = "how long the oldest such delivery waits; 0: none does";
    const idle = companies - held - ended;
    // They wait for their node's next snapshot.
    const attended = totals.waiting - unattended;
    return [
      metricText("fleet_companies", all, byKey("state", { held, ended, idle })),
      metricText("fleet_inbox_companies", waiting, byKey("state", { held: attended, unattended })),
      metricText("fleet_inbox_oldest_seconds", oldest, totals.oldestWaitingMs),
      metricText("fleet_jobs_waiting", "jobs of the fleet that no node has taken, by kind", jobs("count")),
      metricText("fleet_job_age_seconds", "how long the oldest of them waits, by kind", jobs("oldestMs")),
    ];
  };
  return () => kept("metrics", () => read().catch(() => []));
}
