import { byKey, metricText, serverMetrics } from "../../status/render/metrics.ts";
import { jsonPage, processPages, type Pages } from "../../status/render/pages.ts";
import type { FleetCompanies } from "../receiver/fleet-companies.ts";
import type { FleetNode } from "./fleet-node.ts";

interface ShownNode {
  readonly name: string;
  readonly role: string;
  /** Why it is not ready; null: it is. */
  readonly problem: string | null;
  readonly fleetMetrics: () => Promise<readonly string[]>;
  /** Null: it receives only, or has not started. */
  readonly node: Pick<FleetNode, "assignments" | "capacity"> | null;
  /** Null: it works only, or has not started. */
  readonly receiver: Pick<FleetCompanies, "count" | "problem" | "counts" | "missingSecrets"> | null;
  readonly connections: { readonly dropped: number };
}

/** The pages of a node. No company is named in the metrics: there may be a hundred thousand. */
export function createNodePages(version: string, shown: ShownNode): Pages {
  const readyPage = () => readiness(shown);
  return processPages(version, readyPage, async () => {
    const { role, receiver, connections } = shown;
    const own = serverMetrics(connections.dropped, receiver?.counts.strays ?? null, { version, role });
    return [...ofWorker(shown), ...ofReceiver(shown), ...(await shown.fleetMetrics()), ...own];
  });
}

/** Ready: Postgres answers, and deliveries can be stored where this node receives them. */
function readiness({ name, role, problem, node, receiver }: ShownNode) {
  const problems = [problem, receiver?.problem ?? null].filter((one) => one !== null);
  const ready = problems.length === 0;
  return jsonPage(ready ? 200 : 503, {
    ready,
    node: name,
    role,
    problems,
    ...(node && {
      held: node.assignments.size,
      capacity: node.capacity,
      draining: node.assignments.draining,
    }),
    ...(receiver && { companies: receiver.count, missing_secrets: receiver.missingSecrets() }),
  });
}

function ofWorker({ node }: ShownNode): string[] {
  if (!node) return [];
  const { assignments, capacity } = node;
  const { counts, requests } = assignments;
  const { claims, ends, snapshots } = counts;
  return [
    metricText("fleet_held", "companies that this node holds", assignments.size),
    metricText("fleet_capacity", "companies that this node can hold", capacity),
    metricText("fleet_draining", "1 while it releases everything", Number(assignments.draining)),
    metricText("fleet_claims_total", "claims of companies, by outcome", byKey("outcome", claims)),
    metricText("fleet_ends_total", "companies no longer held, by outcome", byKey("outcome", ends)),
    metricText("fleet_snapshots_total", "snapshots, by outcome", byKey("outcome", snapshots)),
    metricText("fleet_requests_total", "requests to the service, by status", byKey("status", requests)),
  ];
}

function ofReceiver({ receiver }: ShownNode): string[] {
  if (!receiver) return [];
  const { answers, refusals } = receiver.counts;
  const unverified = "companies whose deliveries this node cannot verify";
  return [
    metricText("deliveries_total", "deliveries, by result", byKey("result", answers, ["stored", "known"])),
    metricText("refused_deliveries_total", "refused deliveries, by reason", byKey("reason", refusals)),
    metricText("fleet_missing_secrets", unverified, receiver.missingSecrets().length),
  ];
}
