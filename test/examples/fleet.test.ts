import { describe, expect, test } from "vitest";
import { at, documentsOf, type Tree } from "../support/docs/examples.ts";

const documents = documentsOf("kubernetes/fleet.yaml");

/** The document of this kind and name. */
function one(kind: string, name: string): Tree {
  const found = documents.filter(
    (each) => at(each, "kind") === kind && at(each, "metadata", "name") === name,
  );
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0] ?? {};
}

/** A worker publishes and releases for at most this long; a receiver lets answers leave. */
const [workerStopS, receiverStopS] = [30, 10];

const deployments = ["fintoro-worker", "fintoro-receiver"].map(
  (name) => [name, one("Deployment", name)] as const,
);

describe("a fleet in Kubernetes", () => {
  test.each(deployments)("%s listens where its port is, and is asked there", (_, tree) => {
    const container = at(tree, "spec", "template", "spec", "containers", 0);
    const args = at(container, "args") as string[];
    const port = String(at(container, "ports", 0, "containerPort"));
    expect(args.join(" ")).toContain(`--listen 0.0.0.0:${port}`);
    expect(at(container, "livenessProbe", "httpGet", "path")).toBe("/healthz");
    // Who sends deliveries to a node asks whether it can store them; a node that only works gets none.
    const ready = args.includes("receive") ? "/readyz" : "/healthz";
    expect(at(container, "readinessProbe", "httpGet", "path")).toBe(ready);
  });

  test("gives a worker more time than it takes to publish and release, and the receivers theirs to drain", () => {
    const [worker, receiver] = deployments.map(([, tree]) =>
      Number(at(tree, "spec", "template", "spec", "terminationGracePeriodSeconds")),
    );
    expect(worker).toBeGreaterThan(workerStopS);
    expect(receiver).toBeGreaterThan(receiverStopS);
  });

  test("keeps a receiver and all workers but one while machines are emptied", () => {
    for (const [name, tree] of deployments)
      expect(at(one("PodDisruptionBudget", name), "spec", "selector")).toEqual(at(tree, "spec", "selector"));
    const replicas = Number(at(one("Deployment", "fintoro-receiver"), "spec", "replicas"));
    expect(Number(at(one("PodDisruptionBudget", "fintoro-receiver"), "spec", "minAvailable"))).toBeLessThan(
      replicas,
    );
  });

  test("brings deliveries to receivers, and nothing else in", () => {
    const service = one("Service", "fintoro-receiver");
    const receivers = one("Deployment", "fintoro-receiver");
    expect(at(service, "spec", "selector")).toEqual(at(receivers, "spec", "template", "metadata", "labels"));
    const paths = at(one("Ingress", "fintoro-receiver"), "spec", "rules", 0, "http", "paths") as unknown[];
    expect(paths.map((each) => at(each, "path"))).toEqual(["/webhooks/"]);
  });

  test("scales workers by the age of the queue, under a name that Prometheus' adapter gives", () => {
    const scaler = one("HorizontalPodAutoscaler", "fintoro-worker");
    expect(at(scaler, "spec", "scaleTargetRef", "name")).toBe("fintoro-worker");
    expect(at(one("Deployment", "fintoro-worker"), "spec")).not.toHaveProperty("replicas");
    const metric = at(scaler, "spec", "metrics", 0, "external", "metric", "name");
    const rule = at(documentsOf("kubernetes/fleet-metrics.yaml")[0], "rules", "external", 0);
    expect(at(rule, "name", "as")).toBe(metric);
    expect(at(rule, "seriesQuery")).toBe(metric);
    expect(metric).toBe("fintoro_mirror_fleet_job_age_seconds");
  });
});
