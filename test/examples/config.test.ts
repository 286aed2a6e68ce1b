import path from "node:path";
import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { at, documentsOf, example, examples, pods } from "../support/docs/examples.ts";

const configs: Readonly<Record<string, string>> = {
  "config.yaml": example("config.yaml"),
  "docker/config.yaml": example("docker/config.yaml"),
  "kubernetes/common.yaml": String(at(documentsOf("kubernetes/common.yaml")[1], "data", "config.yaml")),
  "kubernetes/fleet.yaml": String(at(documentsOf("kubernetes/fleet.yaml")[1], "data", "config.yaml")),
};

/** As on the machine it is meant for, where every file of a secret is there. */
function load(name: string): Config {
  const { config, warnings } = loadConfig({
    path: "/somewhere/config.yaml",
    env: {},
    cwd: "/",
    connectors: [declaration],
    readFile: (file) => {
      if (file === "/somewhere/config.yaml") return configs[name] ?? "";
      const database = at(documentsOf("kubernetes/fleet.yaml")[0], "stringData", "database-url");
      return file === "/secrets/database-url" ? String(database) : `secret-of-${path.basename(file)}`;
    },
  });
  expect(warnings).toEqual([]);
  return config;
}

test.each(Object.keys(configs))(
  "the config of %s loads without a warning, takes deliveries where it says, and runs outside of the hour that the change of clocks moves",
  (name) => {
    const { companies, connector, schedule } = load(name);
    for (const { webhook, name: company } of companies) {
      expect(webhook.secrets).toHaveLength(1);
      expect(new URL(webhook.publicUrl ?? "").pathname).toBe(`/webhooks/${company}`);
    }
    expect([connector, schedule.timezone]).toEqual(["fintoro", "Europe/Bratislava"]);
    expect(schedule.sync).toMatch(/^\d+ (?!2 )\d+ \* \* \*$/);
  },
);

describe("who stands before it", () => {
  const { host, port } = load("config.yaml").serve;

  test("looks where the config listens, on this machine only", () => {
    expect(host).toBe("127.0.0.1");
    const others = ["tunnel/cloudflared.yaml", "tunnel/ssh-tunnel.service", "prometheus/scrape.yaml"];
    for (const file of ["Caddyfile", ...others]) expect(example(file), file).toContain(`${host}:${port}`);
  });

  test("in containers too, beyond the container", () => {
    for (const name of ["docker/config.yaml", "kubernetes/common.yaml"])
      expect(load(name).serve, name).toMatchObject({ host: "0.0.0.0", port });
    const [compose] = documentsOf("docker/compose.yaml");
    expect(at(compose, "services", "mirror", "ports")).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(at(compose, "services", "caddy", "environment", "MIRROR")).toBe(`mirror:${port}`);
    expect(example("docker/Dockerfile")).toContain(`EXPOSE ${port}`);
    const [deployment] = documentsOf("kubernetes/serve.yaml");
    const container = at(deployment, "spec", "template", "spec", "containers", 0);
    expect(at(container, "ports", 0, "containerPort")).toBe(port);
  });

  test("finds the config where the image expects it, and the data on a volume", () => {
    const where = /FINTORO_MIRROR_CONFIG=(\S+)/.exec(example("docker/Dockerfile"))?.[1] ?? "";
    const [compose] = documentsOf("docker/compose.yaml");
    const volumes = at(compose, "services", "mirror", "volumes") as string[];
    expect(volumes).toContain(`./config.yaml:${where}:ro`);
    expect(volumes).toContain(`data:${load("docker/config.yaml").dataDir}`);
    for (const [file, name, pod] of pods) {
      const mounts = at(pod, "containers", 0, "volumeMounts") as { name: string; mountPath: string }[];
      const places = Object.fromEntries(mounts.map((mount) => [mount.name, mount.mountPath]));
      const { dataDir } = load(`kubernetes/${file.includes("fleet") ? "fleet" : "common"}.yaml`);
      expect(places, name).toMatchObject({ config: path.dirname(where), data: dataDir });
    }
  });
});

describe("every name in the examples", () => {
  const names = [
    /\$\{(?:env|file):([^}]+)\}/g,
    /\{\$(\w+)[:}]/g,
    /\$\{(\w+):-/g,
    /^([A-Z][A-Z_]+)=/gm,
    /^ENV (\w+)=/gm,
    / ([A-Z][A-Z_]+)=\S/g,
    /--token-env (\w+)/g,
    /^#?EnvironmentFile=(\S+)/gm,
    /^#?LoadCredential=[\w.]+:(\S+)/gm,
  ];
  const readme = example("README.md");

  test.each([...examples].filter(([file]) => file !== "README.md"))(
    "of %s is explained in the README",
    (_, text) => {
      const found = names.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name ?? ""));
      expect(found.filter((name) => !readme.includes(`\`${name}\``) && name !== "NAME")).toEqual([]);
    },
  );

  test("that is a file is in the README, and the other way round", () => {
    for (const file of examples.keys())
      if (file !== "README.md" && !/dockerignore|docker\/config/.test(file))
        expect(readme).toContain(`(${file})`);
    for (const [, link] of readme.matchAll(/\]\((?!\.\.)([^)]+)\)/g))
      expect([...examples.keys()]).toContain(link);
  });
});
