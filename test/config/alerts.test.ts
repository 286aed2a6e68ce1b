import { describe, expect, test } from "vitest";
import { formatEffectiveConfig, secretTexts } from "../../src/config/companies.ts";
import { complaints, load, minimal } from "../support/connector/config.ts";

const sectionOf =
  (section: string) =>
  (entry: string, env: object = {}) =>
    load(minimal(`${section}:\n  - ${entry}\n`), { env: { TOKEN: "token-of-acme", ...env } });
const [alertsOf, receiversOf] = [sectionOf("alerts"), sectionOf("notify")];

const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test.each([
  ["alerts", "when: [gap]", "0123456789abcdef"],
  ["notify", "tables: [clients]", key],
] as const)(
  "%s take url and secret from the environment, and no line shows them",
  (section, more, secret) => {
    const env = { HOOK: "https://hooks.example.com/abc", KEY: secret };
    const entry = `{ ${more}, url: "\${env:HOOK}", secret: "\${env:KEY}" }`;
    const { config, warnings } = sectionOf(section)(entry, env);
    expect(warnings).toEqual([]);
    expect(secretTexts(config)).toEqual(["token-of-acme", env.HOOK, secret]);
    for (const hidden of ["example.com/abc", secret]) expect(JSON.stringify(config)).not.toContain(hidden);
    const [company] = config.companies;
    expect(company && formatEffectiveConfig(config, company)).toContain(`"${section}":[]`);
  },
);

describe("the config's alerts", () => {
  test.each([
    ["command: mail-alert", ["mail-alert"]],
    ["command: ./mail alert now", ["/home/me/mail", "alert", "now"]],
    ['command: [/bin/sh, -c, "mail ops"]', ["/bin/sh", "-c", "mail ops"]],
  ])("%s is words, without a shell", (entry, words) => {
    const { alerts } = alertsOf(`{ when: [failed], ${entry} }`).config;
    expect(alerts).toMatchObject([{ command: words, url: null }]);
  });

  test("a url in the file is no secret; one that is missing is a warning, and sync goes on", () => {
    const { config, warnings } = alertsOf('{ when: [gap], url: "https://example.com/a" }');
    expect(warnings).toEqual([]);
    expect(secretTexts(config)).toEqual(["token-of-acme"]);
    expect(alertsOf('{ when: [gap], url: "${env:CHAT}" }').warnings).toEqual([
      "config.yaml:5:25: alerts[0].url: the environment variable CHAT is not set",
    ]);
  });

  test.each([
    ["{ when: [fail], command: a }", "must be one of failed, stale, partial, refused, held, disk_low, gap, "],
    ["{ when: [], command: a }", "must name at least one thing"],
    ["{ when: [failed] }", "must have a command or a url, one of the two"],
    ["{ when: [failed], command: a, url: https://example.com }", "must have a command or a url"],
    ["{ when: [failed], command: a, secret: 0123456789abcdef }", "must have no secret beside a command"],
    ["{ when: [failed], url: http://example.com/x }", "must use https://"],
    ["{ when: [failed], url: https://example.com/x, secret: short }", "has fewer than 16 characters"],
    ['{ when: [failed], command: "mail ops < /dev/stdin" }', "must be a list where a word has blanks"],
    ["{ when: [failed], command: [] }", "must be a command, or a list of its words"],
  ])("%s is refused", (entry, complaint) => {
    const text = complaints(minimal(`alerts:\n  - ${entry}\n`)).join("\n");
    expect(text).toContain(complaint);
    expect(text).not.toContain("example.com/x");
  });
});

const here = `{ url: https://example.com/x, secret: ${key}`;

describe("the config's notify", () => {
  test("knows a receiver again where its url cannot be read", () => {
    const entry = '{ url: "${env:HOOK}", secret: "${env:KEY}", tables: [clients] }';
    const receiver = (env: object) => receiversOf(entry, env).config.notify[0];
    const known = receiver({ HOOK: "https://hooks.example.com/abc", KEY: key });
    const shown = { key: expect.stringMatching(/^hooks\.example\.com [\da-f]{8}$/), tables: ["clients"] };
    expect(known).toMatchObject({ ...shown, allowPrivate: false });
    expect(receiver({})?.key.slice(-8)).toBe(known?.key.slice(-8));
  });

  test("takes addresses of this machine and of private networks where it is said", () => {
    for (const url of ["http://127.0.0.1:8080/x", "https://192.168.1.2/x"]) {
      const { notify } = receiversOf(`{ url: "${url}", secret: ${key}, allow_private: true }`).config;
      expect(notify).toHaveLength(1);
    }
  });

  test.each([
    [`{ url: "http://example.com/x", secret: ${key} }`, "must use https://"],
    [`{ url: "http://127.0.0.1/x", secret: ${key} }`, "must lead to the internet, or have allow_private: on"],
    [`{ url: "https://10.0.0.1/x", secret: ${key} }`, "must lead to the internet, or have allow_private: on"],
    [`{ url: "https://[::ffff:7f00:1]/x", secret: ${key} }`, "must lead to the internet"],
    [`{ secret: ${key} }`, 'needs "url"'],
    ["{ url: https://example.com/x }", 'needs "secret"'],
    ["{ url: https://example.com/x, secret: 0123456789abcdef }", "must be whsec_ and 24 to 64 bytes in"],
    [`${here}, tables: [invoice] }`, "Did you mean invoices?"],
    [`${here}, tables: [] }`, "must"],
    [`${here} }\n  - ${here}, tables: [clients] }`, "must not have one url in two entries"],
  ])("%s is refused", (entry, complaint) => {
    const text = complaints(minimal(`notify:\n  - ${entry}\n`)).join("\n");
    expect(text).toContain(complaint);
    expect(text).not.toMatch(/example\.com\/x|BwcHBw|(?:url|secret) must.*it is a list/);
  });
});
