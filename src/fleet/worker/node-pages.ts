import { byKey, createProcessMetrics, metricText } from "../../status/render/metric-text.ts";
import { jsonPage, page, type Pages } from "../../status/render/pages.ts";
import type { FleetCompanies } from "../receiver/fleet-companies.ts";
import type { FleetNode } from "./fleet-node.ts";

/** What the pages of a node show. */
export interface NodeView {
  readonly node: string;
  readonly role: string;
  readonly version: string;
  /** Why it is not ready; null: it is. */
  readonly problem: () => string | null;
  /** Metrics of the whole fleet. */
  readonly fleetMetrics: () => Promise<readonly string[]>;
  /** Null: it receives only, or has not started. */
  readonly worker: () => Pick<FleetNode, "assignments" | "capacity"> | null;
  /** Null: it works only, or has not started. */
  readonly receiver: () => Pick<FleetCompanies, "count" | "problem" | "counts" | "missingSecrets"> | null;
  /** Since the start. */
  readonly droppedConnections: () => number;
}

/** The pages of a node. No company is named in the metrics: there may be a hundred thousand. */
export function createNodePages(view: NodeView): Pages {
  const own = createProcessMetrics();
  return {
    "/healthz": () => jsonPage(200, { status: "ok", version: view.version }),
    "/readyz": () => readiness(view),
    "/metrics": async () => page(200, own.type, `${await metrics(view)}\n${await own.text()}`),
  };
}

/** Ready: Postgres answers, and deliveries can be stored where this node receives them. */
function readiness({ node, role, ...view }: NodeView) {
  const [worker, receiver] = [view.worker(), view.receiver()];
  const problems = [view.problem(), receiver?.problem ?? null].filter((problem) => problem !== null);
  const ready = problems.length === 0;
  return jsonPage(ready ? 200 : 503, {
    ready,
    node,
    role,
    problems,
    ...(worker && {
      held: worker.assignments.size,
      capacity: worker.capacity,
      draining: worker.assignments.draining,
    }),
    ...(receiver && { companies: receiver.count, missing_secrets: receiver.missingSecrets() }),
  });
}

async function metrics(view: NodeView): Promise<string> {
  const texts = [...ofWorker(view), ...ofReceiver(view), ...(await view.fleetMetrics())];
  const { version, role } = view;
  texts.push(
    metricText("build_info", "1, with the version of this program", [
      { labels: { version, role }, value: 1 },
    ]),
  );
  return texts.join("\n");
}

function ofWorker(view: NodeView): string[] {
  const worker = view.worker();
  if (!worker) return [];
  const { assignments, capacity } = worker;
  const { counts } = assignments;
  return [
    metricText("fleet_held", "companies that this node holds", one(assignments.size)),
    metricText("fleet_capacity", "companies that this node can hold", one(capacity)),
    metricText("fleet_draining", "1 while it releases everything", one(Number(assignments.draining))),
    metricText("fleet_claims_total", "claims of companies, by outcome", byKey("outcome", counts.claims)),
    metricText("fleet_ends_total", "companies no longer held, by outcome", byKey("outcome", counts.ends)),
    metricText("fleet_snapshots_total", "snapshots, by outcome", byKey("outcome", counts.snapshots)),
    metricText(
      "fleet_requests_total",
      "requests to the service, by status",
      byKey("status", counts.requests),
    ),
  ];
}

function ofReceiver({ droppedConnections, ...view }: NodeView): string[] {
  const receiver = view.receiver();
  const dropped = metricText(
    "dropped_connections_total",
    "connections that were closed since too many were open",
    one(droppedConnections()),
  );
  if (!receiver) return [dropped];
  const { answers, refusals, strays } = receiver.counts;
  return [
    dropped,
    metricText("deliveries_total", "deliveries, by result", byKey("result", answers, ["stored", "known"])),
    metricText("refused_deliveries_total", "refused deliveries, by reason", byKey("reason", refusals)),
    metricText(
      "stray_requests_total",
      "requests for no company and no page",
      byKey("status", strays, ["404"]),
    ),
    metricText(
      "fleet_missing_secrets",
      "companies whose deliveries this node cannot verify",
      one(receiver.missingSecrets().length),
    ),
  ];
}

function one(value: number) {
  return [{ labels: {}, value }];
}
