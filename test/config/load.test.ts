import { describe, expect, test } from "vitest";
import { complaints, load, minimal, type Surroundings } from "../support/connector/config.ts";

describe("a config", () => {
  test("that names one company and its token is enough: every other key has its default", () => {
    const place = { kind: "environment", name: "TOKEN" };
    const acme = { name: "acme", account: null, contact: null, token: expect.anything(), tokenPlace: place };
    const timezone = "Europe/Bratislava";
    expect(load(minimal()).config).toEqual({
      connector: "fintoro",
      alerts: [],
      notify: [],
      backup: { to: null, schedule: "45 4 * * *", keep: 14, keys: true },
      baseUrl: "https://service.example/api/v1",
      dataDir: "/home/me/data",
      language: "en",
      companies: [{ ...acme, webhook: { secrets: [], places: [], publicUrl: null } }],
      resources: { include: null, exclude: [], parentsPerRun: {} },
      scrub: { timeMs: null, cycleMs: 30 * 86_400_000, atMostMs: 4 * 3_600_000, listsMs: 0 },
      rateLimit: { reserveShare: 0.1, windowMs: 60_000, monthly: null },
      http: { concurrency: 6, timeoutMs: 30_000, maxResponseBytes: 256_000_000, patienceMs: 900_000 },
      schedule: { sync: "15 2 * * *", quick: null, publish: "after_sync", publishEveryMs: 900_000, timezone },
      serve: { host: "127.0.0.1", port: 8787, hosts: [], afterRun: 1, pageToken: null },
      exports: [],
      files: { pdf: false, attachments: false, store: null },
      report: { out: null, mode: null, redact: [] },
      retention: { runsMs: 34_560_000_000, inboxBodiesMs: 34_560_000_000, changesMs: null },
      mcp: { content: false },
      log: { level: "info" },
      fleet: null,
    });
  });

  test("that sets every key gives numbers in the unit of their names", () => {
    const env = { TOKEN: "t", OLD: "old-0123456789abc", NEW: "new-0123456789abc" };
    const { config } = load(everyKey, { env });
    const sheet = {
      format: "csv",
      out: "/home/me/reports",
      after: "sync",
      dialect: "excel-sk",
      nested: false,
      to: null,
    };
    const redact = ["clients.email", "unknown"].map((columns) => ({ columns, mode: "drop" }));
    expect(config).toMatchObject({
      baseUrl: "http://127.0.0.1:4010/api",
      dataDir: "/var/mirror",
      language: "sk",
      resources: { include: ["invoices"], exclude: [], parentsPerRun: { contact_activity_logs: 50 } },
      scrub: { timeMs: 600_000, cycleMs: 7 * 86_400_000, atMostMs: 7_200_000 },
      rateLimit: { reserveShare: 0.255, windowMs: 2000 },
      http: { concurrency: 2, timeoutMs: 1500, maxResponseBytes: 1_048_576 },
      schedule: { sync: null, quick: null, publish: "0 6 * * 1-5", timezone: "UTC" },
      serve: { host: "::1", port: 0, hosts: ["mirror.example.com"], afterRun: 2, pageToken: null },
      exports: [{ ...sheet, tables: ["invoices"], partitionBy: "year", month: "previous" }],
      files: { pdf: true, attachments: false, store: null },
      report: { out: "/srv/reports", mode: 0o640, redact },
      log: { level: "debug" },
    });
    expect(config.companies[0]?.webhook.publicUrl).toBe("https://hooks.example.com/webhooks/acme");
    const secrets = config.companies[0]?.webhook.secrets.map((secret) => secret.reveal());
    expect(secrets).toEqual([env.OLD, env.NEW]);
  });

  test("cannot be changed by whoever holds it", () => {
    const { config } = load(minimal());
    expect(() => Object.assign(config.http, { concurrency: 99 })).toThrow(TypeError);
    expect(() => Object.assign(config.companies[0] ?? {}, { name: "other" })).toThrow(TypeError);
    expect(config.http.concurrency).toBe(6);
  });

  test("may share a part through an anchor, a merge key, JSON, a byte order mark or Windows line ends", () => {
    const shared = "companies:\n  z: &a { token: t1 }\n  b: *a\n  c: { <<: *a, token: t3 }\n";
    const tokens = load(shared).config.companies.map(({ name, token }) => `${name} ${token.reveal()}`);
    // In the order of the file.
    expect(tokens).toEqual(["z t1", "b t1", "c t3"]);
    const windows = minimal().replaceAll("\n", "\r\n");
    for (const text of ['{"companies":{"a":{"token":"t"}}}', `\uFEFF${minimal()}`, windows])
      expect(load(text).config.companies).toHaveLength(1);
  });

  test("may have a section with everything below it commented out", () => {
    expect(load(minimal("http:\n  # timeout: 5s\nresources:\n")).config.http.timeoutMs).toBe(30_000);
  });
});

const everyKey = `
connector: fintoro
base_url: http://127.0.0.1:4010/api/
data_dir: /var/mirror
language: sk
companies:
  acme:
    token: \${env:TOKEN}
    webhook:
      secrets: ["\${env:OLD}", "\${env:NEW}"]
      public_url: https://hooks.example.com/webhooks/acme
resources: { include: [invoices], contact_activity_logs: { parents_per_run: 50 } }
scrub: { time: 10m, cycle: 7d, at_most: 2h }
rate_limit: { reserve: 25.5%, window: 2s }
http: { concurrency: 2, timeout: 1.5s, max_response: 1MiB }
schedule: { sync: off, publish: "0 6 * * 1-5", timezone: UTC }
serve: { listen: "[::1]:0", hosts: [Mirror.Example.com], after_run: 2 }
exports:
  - { format: csv, out: ./reports, after: sync, dialect: excel-sk, tables: [invoices], partition_by: year, month: previous }
files: { pdf: on, attachments: false }
report: { out: /srv/reports, mode: "0640", redact: { clients.email: drop } }
log: { level: debug }
`;

describe("the file", () => {
  const elsewhere = {
    "/etc/mirror.yaml": minimal("data_dir: ./d\n"),
    "/home/me/two.yaml": minimal("language: sk\n"),
  };

  const pathOf = (parts: Surroundings) => load(minimal(), { files: elsewhere, ...parts }).path;

  test("is --config before the variable before ./config.yaml", () => {
    const env = { TOKEN: "t", FINTORO_MIRROR_CONFIG: "two.yaml" };
    expect(pathOf({ env, path: "/etc/mirror.yaml" })).toBe("/etc/mirror.yaml");
    expect(pathOf({ env })).toBe("/home/me/two.yaml");
    expect(pathOf({})).toBe("/home/me/config.yaml");
    expect(pathOf({ env: { TOKEN: "t", FINTORO_MIRROR_CONFIG: "" } })).toBe("/home/me/config.yaml");
  });

  test("is where a relative data_dir starts, not the folder one stands in", () => {
    expect(load("", { files: elsewhere, path: "/etc/mirror.yaml" }).config.dataDir).toBe("/etc/d");
  });

  test.each(["", "# nothing yet\n", "null"])("that holds nothing (%j) is refused as empty", (text) => {
    expect(complaints(text)).toEqual(["config.yaml:1:1: the file is empty"]);
  });

  test("outside the current folder, or where that is the root, is named in full", () => {
    const files = { "/etc/mirror.yaml": "a: 1" };
    for (const cwd of ["/home/me", "/"])
      expect(complaints("", { files, cwd, path: "/etc/mirror.yaml" })[0]).toMatch(/^\/etc\/mirror\.yaml:1:1/);
  });
});

describe("YAML mistakes are reported with line and column", () => {
  test.each([
    ["a list never closed", "a: [1\nb: 2\n", "2:1: not valid YAML: Flow sequence"],
    ["a second document", `${minimal()}---\nb: 1\n`, "5:1: a second document starts here"],
    ["an alias of nothing", "companies: { a: *acme }\n", "1:17: Unresolved alias"],
    ["a list in place of a map", "- acme\n", "1:1: the config must be a map of keys (it is a list)"],
    ["a key that is no text", "? [a]\n: b\n", "1:3: not valid YAML"],
  ])("%s", (_, text, message) => {
    expect(complaints(text)[0]).toContain(`config.yaml:${message}`);
  });

  test("the place is right also behind a quote that is never closed", () => {
    expect(complaints('a: [{}"\n').at(-1)).toMatch(/^config\.yaml:2:1: not valid YAML: Flow sequence/);
  });

  // Fault: files | a YAML alias bomb | the config | refused
  test("an alias bomb is refused, not unfolded", () => {
    const levels = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefghij".split("").map((name, index) => {
        const below = "abcdefghi"[index] ?? "";
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${below}`).join(",")}]`;
      }),
    ];
    expect(complaints(levels.join("\n"))[0]).toContain("Excessive alias count");
  });
});
