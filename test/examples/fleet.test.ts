import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";
import { loadConfig } from "../../src/config/load.ts";
import { at, documentsOf, example, type Tree } from "../support/docs/examples.ts";

const documents = documentsOf("kubernetes/fleet.yaml");
const [secret, config] = documents;

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
const containerOf = (deployment: Tree) => at(deployment, "spec", "template", "spec", "containers", 0);

describe("a fleet in Kubernetes", () => {
  test("has a config that loads, with companies that fleet add takes: secrets by absolute files, data of the pod", () => {
    const { config: loaded } = loadConfig({
      path: "/config/config.yaml",
      env: {},
      cwd: "/",
      connectors: [manifest],
      readFile: (file) => {
        if (file === "/config/config.yaml") return String(at(config, "data", "config.yaml"));
        return file.endsWith("database-url")
          ? String(at(secret, "stringData", "database-url"))
          : `secret-of-${file}`;
      },
    });
    expect(loaded.fleet).toMatchObject({ snapshots: "s3://fintoro-mirror/snapshots", capacity: 50 });
    expect(loaded.dataDir).toBe("/data");
    const named = [...String(at(config, "data", "config.yaml")).matchAll(/\$\{file:\/secrets\/([^}]+)\}/g)];
    for (const [, name] of named) expect(Object.keys(at(secret, "stringData") as object)).toContain(name);
  });

  test.each(deployments)(
    "%s runs a command line that the program takes, and listens where its port is",
    (_, tree) => {
      const container = containerOf(tree);
      const args = at(container, "args") as string[];
      const request = readCommandLine(args, commands, "1.2.3");
      expect(typeof request !== "string" ? request.command.name : request).toBe("worker");
      expect(args.join(" ")).toContain(
        `--listen 0.0.0.0:${String(at(container, "ports", 0, "containerPort"))}`,
      );
      expect(at(container, "livenessProbe", "httpGet", "path")).toBe("/healthz");
      // Who sends deliveries to a node asks whether it can store them; a node that only works gets none.
      const ready = args.includes("receive") ? "/readyz" : "/healthz";
      expect(at(container, "readinessProbe", "httpGet", "path")).toBe(ready);
    },
  );

  test.each(deployments)("%s has a user of its own, and what it mounts", (_, tree) => {
    const pod = at(tree, "spec", "template", "spec");
    expect(at(pod, "securityContext")).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(at(containerOf(tree), "securityContext")).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
    });
    const volumes = (at(pod, "volumes") as { name: string }[]).map(({ name }) => name);
    const mounts = (at(containerOf(tree), "volumeMounts") as { name: string }[]).map(({ name }) => name);
    expect(mounts).toEqual(volumes);
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

  test("names the command that shares its companies", () => {
    const [, args = ""] = /-- fintoro-mirror ([^#\n]+?) +#/.exec(example("kubernetes/fleet.yaml")) ?? [];
    const request = readCommandLine(args.trim().split(" "), commands, "1.2.3");
    expect(typeof request !== "string" ? request.command.name : request).toBe("fleet add");
  });
});
