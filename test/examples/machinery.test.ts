import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";
import { root, temporaryFolder } from "../support/program/cli.ts";
import { fakeTool } from "../support/program/fake-tool.ts";
import { at, documentsOf, example, examples, pods, unitOf, type Tree } from "../support/docs/examples.ts";

/** `serve` drains for at most this long. */
const drainS = 25;
const main = "/opt/fintoro-mirror/bin/fintoro-mirror.js";
/** Of systemd; not every machine has it. */
const verifier = "systemd-analyze";
const services = [...examples.keys()].filter((file) => file.endsWith(".service"));

function withProgramsOfThisMachine(unit: string): string {
  const programs = /\/usr\/bin\/(node|ssh)\b/g;
  return unit.replaceAll(programs, process.execPath);
}

describe("the units", () => {
  const own = ["systemd/fintoro-mirror.service", "systemd/fintoro-mirror-sync.service"];

  test("let the daemon drain, reload without an end, and stay down where the config is wrong", () => {
    const { Service } = unitOf("systemd/fintoro-mirror.service");
    expect(Number.parseInt(Service?.["TimeoutStopSec"]?.[0] ?? "", 10)).toBeGreaterThan(drainS);
    expect(Service).toMatchObject({
      ExecReload: ["/bin/kill -HUP $MAINPID"],
      RestartPreventExitStatus: ["2"],
      // What the daemon started, it ends: SIGTERM to all at once would make a failure of a report under way.
      KillMode: ["mixed"],
      Type: ["notify"],
      NotifyAccess: ["all"],
      WatchdogSec: ["120"],
    });
  });

  test.each(own)("write nowhere but to the data folder of the config: %s", (file) => {
    const { Service } = unitOf(file);
    const [, folder = ""] = /^data_dir: \/var\/lib\/(\S+)$/m.exec(example("config.yaml")) ?? [];
    expect(Service).toMatchObject({ ProtectSystem: ["strict"], StateDirectory: [folder] });
    // the engine compiles as it runs
    expect(Service).not.toHaveProperty("MemoryDenyWriteExecute");
  });

  test("run on the machine's own Node, which is checked first, without an inspector and without cores", () => {
    for (const file of own)
      expect(unitOf(file)["Service"], file).toMatchObject({
        ExecStartPre: [`/usr/bin/node ${main} --version`],
        ExecStart: [expect.stringContaining(`/usr/bin/node --disable-sigusr1 ${main} `)],
        LimitCORE: ["0"],
        UMask: ["0077"],
      });
    for (const [line] of example("crontab").matchAll(/^\d.*$/gm))
      expect(line).toContain("  $NODE $MIRROR --version > /dev/null && $NODE --disable-sigusr1 $MIRROR ");
    expect(example("crontab")).toContain("\nNODE=/usr/bin/node\n");
    for (const [file, text] of examples) expect(text, file).not.toContain("node_modules/.bin");
  });

  test("are valid units, and may do little by systemd's own scale, where it is installed", () => {
    const folder = temporaryFolder();
    for (const file of [...services, "systemd/fintoro-mirror-sync.timer"])
      writeFileSync(path.join(folder, path.basename(file)), withProgramsOfThisMachine(example(file)));
    const units = readdirSync(folder);
    expect(units).toHaveLength(4);
    for (const file of services) expect(Object.keys(unitOf(file)).slice(0, 2)).toEqual(["Unit", "Service"]);
    const verdict = spawnSync(verifier, ["verify", "--man=no", ...units], { cwd: folder, encoding: "utf8" });
    if (verdict.error !== undefined) return;
    expect(verdict.stderr.split("\n").filter((line) => /fintoro|ssh-tunnel/.test(line))).toEqual([]);
    for (const name of ["fintoro-mirror", "fintoro-mirror-sync"]) {
      // Of 10, in tenths: above 2 is a failure.
      const args = ["security", "--offline=true", "--threshold=20", "--no-pager", `./${name}.service`];
      const rating = spawnSync(verifier, args, { cwd: folder, encoding: "utf8" });
      expect(rating.status, rating.stdout.slice(-200)).toBe(0);
    }
  });
});

test.each([...examples.keys()].filter((file) => file.endsWith(".yaml")))("YAML %s parses", (file) => {
  expect(documentsOf(file).length).toBeGreaterThan(0);
});

const namesIn = (all: unknown) => (all as { name: string }[]).map(({ name }) => name);
const podOf = (job: unknown) => at(job, "spec", "jobTemplate", "spec", "template", "spec");

const fleet = documentsOf("kubernetes/fleet.yaml");

/** The fleet's document of this kind and name. */
function ofFleet(kind: string, name: string): Tree {
  const found = fleet.filter((each) => at(each, "kind") === kind && at(each, "metadata", "name") === name);
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0] ?? {};
}

describe("the cluster", () => {
  const [deployment, service, policy, ingress] = documentsOf("kubernetes/serve.yaml");
  const [cronJob] = documentsOf("kubernetes/cronjob.yaml");
  const shards = documentsOf("kubernetes/cronjob-shards.yaml");
  const [secret, config, claim] = documentsOf("kubernetes/common.yaml");

  test("never has two writers of one mirror", () => {
    expect([deployment, cronJob, claim]).toMatchObject([
      { spec: { replicas: 1, strategy: { type: "Recreate" } } },
      { spec: { concurrencyPolicy: "Forbid" } },
      { spec: { accessModes: ["ReadWriteOncePod"] } },
    ]);
  });

  test("sends deliveries to a pod whose mirror is not current, too, and gives its start a minute", () => {
    const container = at(deployment, "spec", "template", "spec", "containers", 0);
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
      expect(at(container, probe, "httpGet", "path"), probe).toBe("/healthz");
      // A second, the default, is short for a busy machine.
      expect(at(container, probe, "timeoutSeconds"), probe).toBeGreaterThanOrEqual(3);
    }
    const { periodSeconds, failureThreshold } = at(container, "startupProbe") as Record<string, number>;
    expect(Number(periodSeconds) * Number(failureThreshold)).toBeGreaterThanOrEqual(60);
  });

  const receivers = ["Service", "Deployment", "Ingress"].map((kind) => ofFleet(kind, "fintoro-receiver"));
  test.each([
    ["the pod of serve", [service, deployment, ingress]],
    ["receivers", receivers],
  ] as const)("brings deliveries to %s, and nothing else in", (_, [target, made, gate]) => {
    expect(at(target, "spec", "selector")).toEqual(at(made, "spec", "template", "metadata", "labels"));
    const paths = at(gate, "spec", "rules", 0, "http", "paths") as unknown[];
    expect(paths.map((one) => at(one, "path"))).toEqual(["/webhooks/"]);
  });

  test("gives each shard of the companies a job and a volume of its own; in all else it is the one job for all", () => {
    const claims = shards.filter((one) => at(one, "kind") === "PersistentVolumeClaim");
    const jobs = shards.filter((one) => at(one, "kind") === "CronJob");
    expect(new Set(jobs.map((job) => at(job, "metadata", "name"))).size).toBe(jobs.length);
    for (const [i, job] of jobs.entries()) {
      const container = at(podOf(job), "containers", 0) as { args: string[] };
      expect(container.args.slice(-2)).toEqual(["--shard", `${i + 1}/${jobs.length}`]);
      expect(at(job, "spec", "concurrencyPolicy")).toBe("Forbid");
      expect(at(claims[i], "spec")).toEqual(at(claim, "spec"));
      const data = { name: "data", persistentVolumeClaim: { claimName: at(claims[i], "metadata", "name") } };
      const whole = podOf(cronJob) as { volumes: object[]; containers: [object] };
      const volumes = [data, ...whole.volumes.slice(1)];
      const containers = [{ ...whole.containers[0], args: container.args }];
      expect(podOf(job)).toEqual({ ...whole, volumes, containers });
    }
  });

  test.each(pods)(
    "%s: %s is a user of its own, with time to drain and what it mounts",
    (_file, _name, pod) => {
      const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true };
      expect(pod).toMatchObject({
        securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 },
        containers: [{ securityContext }],
      });
      expect(at(pod, "terminationGracePeriodSeconds")).toBeGreaterThan(drainS);
      expect(namesIn(at(pod, "containers", 0, "volumeMounts"))).toEqual(namesIn(at(pod, "volumes")));
    },
  );

  test("has the volumes, config and secrets that its pods mount", () => {
    for (const pod of [at(deployment, "spec", "template", "spec"), podOf(cronJob)])
      expect(at(pod, "volumes")).toEqual([
        { name: "data", persistentVolumeClaim: { claimName: at(claim, "metadata", "name") } },
        { name: "config", configMap: { name: at(config, "metadata", "name") } },
        { name: "secrets", secret: { secretName: at(secret, "metadata", "name"), defaultMode: 0o440 } },
        { name: "tmp", emptyDir: {} },
      ]);
  });

  test("lets nothing in but the receiver's port, and nothing out but names and HTTPS to the world outside", () => {
    expect(at(policy, "kind")).toBe("NetworkPolicy");
    expect(at(policy, "spec", "podSelector")).toEqual(at(deployment, "spec", "selector"));
    expect(at(policy, "spec", "policyTypes")).toEqual(["Ingress", "Egress"]);
    const port = at(deployment, "spec", "template", "spec", "containers", 0, "ports", 0, "containerPort");
    expect(at(policy, "spec", "ingress", 0, "ports")).toEqual([{ protocol: "TCP", port }]);
    const out = at(policy, "spec", "egress") as { ports: { port: number }[] }[];
    expect(out.flatMap(({ ports }) => ports.map((one) => one.port))).toEqual([53, 53, 443]);
    expect(at(policy, "spec", "egress", 1, "to", 0, "ipBlock", "except")).toContain("169.254.0.0/16");
  });

  test.each(["common", "fleet"])("has every secret that the config of %s names", (file) => {
    const [kept, named] = documentsOf(`kubernetes/${file}.yaml`);
    const names = String(at(named, "data", "config.yaml")).matchAll(/\$\{file:\/secrets\/([^}]+)\}/g);
    for (const [, name] of names) expect(Object.keys(at(kept, "stringData") as object)).toContain(name);
  });
});

function commandOf(args: unknown): string {
  const request = readCommandLine(args as string[], commands, "1.2.3");
  return typeof request === "string" ? "text" : request.command.name;
}

test("containers run what the image, Compose and the cluster start", () => {
  const [compose] = documentsOf("docker/compose.yaml");
  const image = JSON.parse(/^CMD (\[.*\])$/m.exec(example("docker/Dockerfile"))?.[1] ?? "[]") as unknown;
  const ofPods = pods.map(([file, , pod]) => [file, at(pod, "containers", 0, "args")] as const);
  const all = [["image", image], ["compose", at(compose, "services", "mirror", "command")], ...ofPods];
  expect(Object.fromEntries(all.map(([place, args]) => [place, commandOf(args)]))).toEqual({
    image: "serve",
    compose: "serve",
    "kubernetes/serve.yaml": "serve",
    "kubernetes/cronjob.yaml": "sync",
    "kubernetes/cronjob-shards.yaml": "sync",
    "kubernetes/fleet.yaml": "worker",
  });
});

/** What the script says of an image whose registry gives this answer. */
function digestWhere(answer: string) {
  const { PATH } = fakeTool("docker", `echo "${answer}"`);
  const script = path.join(root, "examples/docker/digest.sh");
  return spawnSync("sh", [script, "caddy:2"], { env: { PATH }, encoding: "utf8" });
}

describe("Compose", () => {
  const [compose] = documentsOf("docker/compose.yaml");
  const mirror = at(compose, "services", "mirror");

  test("runs the image as its own user, who can write the data only, lets it drain, and keeps a log that fits", () => {
    const user = /^USER (\S+)$/m.exec(example("docker/Dockerfile"))?.[1];
    expect(user).toBe("10001:10001");
    expect(mirror).toMatchObject({ user, read_only: true, cap_drop: ["ALL"], secrets: ["acme-token"] });
    expect(Number.parseInt(String(at(mirror, "stop_grace_period")), 10)).toBeGreaterThan(drainS);
    expect(Object.keys(at(compose, "volumes") as object)).toContain("data");
    for (const service of ["mirror", "caddy"])
      expect(at(compose, "services", service, "logging")).toEqual({ driver: "local" });
  });

  test("takes images by digest, where whoever runs it names one", () => {
    const dockerfile = example("docker/Dockerfile");
    const [, named = ""] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(images).toEqual(Array(2).fill("${NODE_IMAGE}"));
    expect(at(mirror, "build", "args")).toEqual({ NODE_IMAGE: `\${NODE_IMAGE:-${named}}` });
    expect(at(compose, "services", "caddy", "image")).toMatch(/^\$\{CADDY_IMAGE:-/);
    for (const file of ["cronjob", "cronjob-shards", "serve"])
      expect(example(`kubernetes/${file}.yaml`)).toMatch(/image: \S+:[\d.]+@sha256:[0-9a-f]{64}$/m);
  });

  test("asks a registry for the digest, and says so where it gives none", () => {
    const digest = `sha256:${"0a".repeat(32)}`;
    expect(digestWhere(digest)).toMatchObject({ status: 0, stdout: `caddy:2@${digest}\n` });
    const refusal = { status: 1, stdout: "", stderr: "no digest of caddy:2\n" };
    expect(digestWhere("<no value>")).toMatchObject(refusal);
  });

  test("builds from the package, with its libraries by their hashes; asks /healthz, and opens no inspector", () => {
    const dockerfile = example("docker/Dockerfile");
    expect(at(mirror, "build", "context")).toBe(".");
    for (const part of ["bin", "dist", "node_modules", "package.json", "config.example.yaml"])
      expect(dockerfile).toContain(`COPY --from=build /app/${part} ./`);
    expect(dockerfile).toContain("cp dist/package-lock.json . ");
    expect(dockerfile).toContain("npm ci --omit=dev --ignore-scripts");
    expect(dockerfile).toMatch(/^ENV .*NODE_OPTIONS=--disable-sigusr1 /m);
    expect(at(mirror, "ulimits", "core")).toBe(0);
    expect([dockerfile.includes("/healthz"), dockerfile.includes("/readyz')")]).toEqual([true, false]);
  });

  test("keeps reports where a reader on this machine opens them, readable by a group, and no mirror", () => {
    const { report } = at(documentsOf("docker/config.yaml")[0]) as { report: { out: string; mode: string } };
    expect(at(mirror, "volumes")).toContain(`./reports:${report.out}`);
    expect(report.mode).toBe("0640");
    expect(example("docker/compose.yaml")).toContain('install -d -o 10001 -g "$(id -g)" -m 2750 reports');
  });
});

test("the Caddyfile has as many ends as beginnings, and lets deliveries in alone", () => {
  const text = example("Caddyfile").replaceAll(/^\s*#.*$/gm, "");
  const blocks = text.replaceAll(/\{\$[^}]*\}/g, "");
  expect(blocks.split("{").length).toBe(blocks.split("}").length);
  expect(text).toMatch(/@deliveries \{\s+method POST\s+path \/webhooks\/\*\s+\}/);
  expect(text).toMatch(/handle \{\s+respond 404\s+\}/);
  expect(text.match(/reverse_proxy/g)).toHaveLength(1);
});

/** A worker publishes and releases for at most this long; a receiver lets answers leave. */
const [workerStopS, receiverStopS] = [30, 10];

const deployments = ["fintoro-worker", "fintoro-receiver"].map(
  (name) => [name, ofFleet("Deployment", name)] as const,
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
    const budgetOf = (name: string, key: string) => at(ofFleet("PodDisruptionBudget", name), "spec", key);
    for (const [name, tree] of deployments)
      expect(budgetOf(name, "selector")).toEqual(at(tree, "spec", "selector"));
    const replicas = Number(at(ofFleet("Deployment", "fintoro-receiver"), "spec", "replicas"));
    expect(Number(budgetOf("fintoro-receiver", "minAvailable"))).toBeLessThan(replicas);
  });

  test("scales workers by the age of the queue, under a name that Prometheus' adapter gives", () => {
    const scaler = ofFleet("HorizontalPodAutoscaler", "fintoro-worker");
    expect(at(scaler, "spec", "scaleTargetRef", "name")).toBe("fintoro-worker");
    expect(at(ofFleet("Deployment", "fintoro-worker"), "spec")).not.toHaveProperty("replicas");
    const metric = at(scaler, "spec", "metrics", 0, "external", "metric", "name");
    const rule = at(documentsOf("kubernetes/fleet-metrics.yaml")[0], "rules", "external", 0);
    expect(at(rule, "name", "as")).toBe(metric);
    expect(at(rule, "seriesQuery")).toBe(metric);
    expect(metric).toBe("fintoro_mirror_fleet_job_age_seconds");
  });
});
