import { describe, expect, test } from "vitest";
import { companyDocument, configOfCompany } from "../../../src/fleet/config/company-document.ts";
import { errorOf } from "../../support/errors.ts";
import { load, pocketConnector } from "../../support/connector/config.ts";

const names = ["acme", "beta"];
const companies = `companies:
  acme: { token: "\${env:ACME}", webhook: { secrets: ["\${file:/run/secrets/acme}"] } }
  beta: { token: "\${env:BETA}" }
`;
const env = {
  ACME: "token-of-acme",
  BETA: "token-of-beta",
  TOKEN: "token-of-acme",
  KEY: `whsec_${"A".repeat(32)}`,
};
const files = { "/run/secrets/acme": "secret-of-acme-0123456789", "/home/me/acme.token": "t" };

/** What a document says in any case. */
const service = { connector: "fintoro", base_url: "https://service.example/api/v1" };

type Texts = Readonly<Record<string, string>>;

const documentOf = (text: string, name = "acme") => companyDocument(load(text, { env, files }), name);

/** As another machine reads it: with other folders, variables and files. */
function onNode(document: unknown, name = "acme", nodeEnv: Texts = {}, nodeFiles: Texts = {}) {
  return configOfCompany(name, JSON.parse(JSON.stringify(document)), {
    dataDir: "/var/node",
    env: nodeEnv,
    connectors: [pocketConnector],
    readFile: (file) => {
      const text = nodeFiles[file];
      if (text === undefined) throw Object.assign(new Error(file), { code: "ENOENT" });
      return text;
    },
  });
}

describe("a company's document", () => {
  test("has this company alone, its secrets as they are written, and nothing of this machine", () => {
    const own = `data_dir: /srv/mirror
serve: { listen: "0.0.0.0:80", page_token: "\${env:PAGE}" }
log: { level: debug }
fleet: { postgres: "\${env:DATABASE_URL}", snapshots: ./snapshots }
`;
    const { document, leftOut } = documentOf(`${companies}${own}http: { timeout: 5s }\nscrub:\n`);
    const acme = { token: "${env:ACME}", webhook: { secrets: ["${file:/run/secrets/acme}"] } };
    expect(document).toEqual({ ...service, http: { timeout: "5s" }, companies: { acme } });
    expect(leftOut).toEqual([]);
    expect(JSON.stringify(document)).not.toContain("of-acme-");
  });

  test("resolves what the file shares between companies", () => {
    const text = "companies:\n  acme: &a { token: '${env:ACME}' }\n  beta: { <<: *a, webhook: {} }\n";
    const beta = { token: "${env:ACME}", webhook: {} };
    expect(documentOf(text, "beta").document).toEqual({ ...service, companies: { beta } });
  });

  test("is the same config on another machine, but for what is that machine's own", () => {
    const keys = `base_url: https://service.example/other
resources: { exclude: [clients] }
scrub: { cycle: 7d }
rate_limit: { reserve: 20% }
schedule: { sync: "0 1 * * *", timezone: UTC }
backup: { to: "s3://bucket/backups", keep: 3 }
notify: [{ url: "https://example.com/changes", secret: "\${env:KEY}", tables: [clients] }]
report: { redact: { clients.email: drop } }
retention: { runs: 30d }
exports: [{ format: csv, out: /mnt/shared, after: sync }]
files: { pdf: on, attachments: on }
`;
    const file = load(`${companies}${keys}`, { env, files });
    for (const name of names) {
      const there = onNode(companyDocument(file, name).document, name, env, files);
      const here = file.config.companies.filter((one) => one.name === name);
      expect(there).toEqual({ ...file.config, companies: here, dataDir: "/var/node" });
      expect(there.companies[0]?.token.reveal()).toBe(`token-of-${name}`);
    }
  });

  // Fault: secrets | a worker lacks the variable of a company's token | its environment | the config is read; the token says what is missing where it is used
  test("takes variables and files from where it is read; a secret that is missing there is said where it is used", () => {
    const { document } = documentOf(companies);
    const unset = "companies.acme.token: the environment variable ACME is not set";
    expect(() => onNode(document).companies[0]?.token.reveal()).toThrow(unset);
    const nodeFiles = { "/run/secrets/acme": "another-secret-0123456789" };
    const [company] = onNode(document, "acme", { ACME: "another-token" }, nodeFiles).companies;
    expect(company?.token.reveal()).toBe("another-token");
    expect(company?.webhook.secrets.map((one) => one.reveal())).toEqual(["another-secret-0123456789"]);
  });
});

describe("what no other machine could use", () => {
  test("is no other company's problem", () => {
    const text = "companies: { acme: { token: '${env:ACME}' }, beta: { token: literal-token-1 } }";
    expect(documentOf(text).document).toEqual({ ...service, companies: { acme: { token: "${env:ACME}" } } });
    expect(errorOf(() => documentOf(text, "beta")).message).toContain("companies.beta.token");
  });

  test.each([
    [
      "files beside the config",
      "companies: { acme: { token: '${file:./acme.token}' } }",
      /^config\.yaml:1:22: companies\.acme\.token is in a file beside this config, which other machines do not have; name it by its absolute path, or by \$\{env:NAME\}$/,
    ],
    [
      "I9: a secret of alerts that stands in the file; an address that does is none",
      `${companies}alerts:
  - { when: [failed], url: "https://a.example.com/", secret: literal-secret-0123456789 }
`,
      /^config\.yaml:\d+:\d+: alerts\[0\]\.secret stands in the file itself; [^\n]+$/,
    ],
    [
      "I9: a secret of a receiver of changes that stands in the file",
      `${companies}notify: [{ url: "https://a.example.com/", secret: ${env.KEY} }]`,
      /^config\.yaml:\d+:\d+: notify\[0\]\.secret stands in the file itself; [^\n]+$/,
    ],
    [
      "exports into a folder beside the config",
      `${companies}exports: [{ format: csv, out: ./out, after: sync }]`,
      /^config\.yaml:4:\d+: exports\[0\]\.out is a folder beside this config, which [^\n]+ as `to`$/,
    ],
  ])("is refused: %s", (_, text, message) => {
    expect(errorOf(() => documentOf(text)).message).toMatch(message);
  });

  test("I9: is not run: a program that a document names for alerts", () => {
    const alerts = [{ when: ["failed"], command: ["touch", "/tmp/started"] }];
    expect(onNode({ ...documentOf(companies).document, alerts }).alerts).toEqual([]);
  });

  test("is left out with the reason: folders and programs of one machine", () => {
    const keys = `exports: [{ format: csv, out: ./out, to: "s3://bucket/csv", after: sync }]
report: { out: ./reports, mode: "0640", redact: { clients.email: hash } }
alerts: [{ when: [failed], command: [mail, ops] }, { when: [stale], url: "\${env:CHAT}" }]
`;
    const all = { ...env, CHAT: "https://chat.example.com/1" };
    const { document, leftOut } = companyDocument(load(`${companies}${keys}`, { env: all, files }), "acme");
    const left = ["report.out", "report.mode", "alerts.command"];
    expect(leftOut.map(({ key }) => key)).toEqual(left);
    expect(document).toMatchObject({ report: { redact: { "clients.email": "hash" } } });
    expect(document["alerts"]).toEqual([{ when: ["stale"], url: "${env:CHAT}" }]);
    const { exports, report, alerts } = onNode(document);
    expect(alerts.map(({ when, url }) => [when, url?.secret.known])).toEqual([[["stale"], false]]);
    expect([exports.map(({ to }) => to), report.out, report.mode]).toEqual([["s3://bucket/csv"], null, null]);
  });
});

describe("a document", () => {
  test("of another version is refused with the key that is not known", () => {
    const { message } = errorOf(() => onNode({ ...documentOf(companies).document, teleport: true }));
    expect(message).toMatch(/^acme \(in Postgres\):\d+:3: unknown key teleport/);
  });

  test("of another company is refused", () => {
    const { message, hint } = errorOf(() => onNode(documentOf(companies).document, "beta"));
    expect(message).toContain("not of this company alone");
    expect(hint).toContain("fleet add beta");
  });
});
