import { writeFileSync } from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { Secret } from "../../src/base/secret.ts";
import { secretTexts } from "../../src/config/companies.ts";
import { rereadSecret } from "../../src/config/secrets.ts";
import { servedPageToken } from "../../src/status/page/page-access.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { complaints, load, minimal, type Surroundings } from "../support/connector/config.ts";

function tokenOf(value: string, surroundings: Surroundings = {}): string | undefined {
  const { config } = load(`companies: { acme: { token: ${JSON.stringify(value)} } }`, surroundings);
  return config.companies[0]?.token.reveal();
}

function withSecrets(secrets: string): string {
  return `companies: { acme: { token: t, webhook: { secrets: ${JSON.stringify(secrets.split(" "))} } } }`;
}

/** The warnings, or the mistakes where it is refused. */
function messagesOf(text: string): readonly string[] {
  try {
    return load(text).warnings;
  } catch {
    return complaints(text);
  }
}

const tokens = ["token: S", "token: 'S'", "token: [S]", "token: { value: S }", "token: |\n      S\n      x"];

describe("a token", () => {
  test("comes from the environment or a file, without the line break an editor left", () => {
    const files = { "/run/token": "one\n", "/run/crlf": "two\r\n", "/home/me/token": "three" };
    expect(tokenOf("${env:TOKEN}")).toBe("token-of-acme");
    expect(tokenOf("${file:/run/token}", { files })).toBe("one");
    expect(tokenOf("${file:/run/crlf}", { files })).toBe("two");
  });

  test("file of a relative path lies beside the config", () => {
    const files = { "/etc/m/token": "t", "/etc/m/c.yaml": "companies: { a: { token: '${file:token}' } }" };
    expect(load("", { files, path: "/etc/m/c.yaml" }).config.companies[0]?.token.reveal()).toBe("t");
  });

  // Fault: secrets | a literal token in the config | the config | it works, with a warning that does not show it
  test("that stands in the file works, with a warning that names the place and not the token", () => {
    const { config, warnings } = load("companies:\n  acme:\n    token: sk_live_1\n");
    expect(config.companies[0]?.token.reveal()).toBe("sk_live_1");
    expect(warnings).toEqual([
      "config.yaml:3:12: companies.acme.token stands in the file itself; ${env:NAME} or ${file:/path} keeps it out",
    ]);
    expect(load(minimal()).warnings).toEqual([]);
  });

  test("that stands in the file is one warning, however many companies have one", () => {
    const companies = Array.from({ length: 300 }, (_, i) => `  c${i}: { token: sk_live_${i} }\n`).join("");
    expect(load(`companies:\n${companies}`).warnings).toEqual([
      "config.yaml:2:16: companies.c0.token, companies.c1.token, companies.c2.token and 297 more stand in the file itself; ${env:NAME} or ${file:/path} keeps them out",
    ]);
  });

  // Fault: secrets | a secret's variable or file is missing, empty, or holds more than a word | the environment and files | the message names the place, not the secret
  test.each([
    ["${env:NOT_SET}", "the environment variable NOT_SET is not set"],
    ["${env:EMPTY}", "the environment variable EMPTY is empty"],
    ["${env:toString}", "the environment variable toString is not set"],
    ["${file:/nowhere}", "the file /nowhere cannot be read (there is no such file)"],
    ["${file:/empty}", "the file /empty is empty"],
    ["Bearer ${env:TOKEN}", "write ${env:NAME} or ${file:/path} as the whole value"],
    ["${vault:x}", "write ${env:NAME} or ${file:/path} as the whole value"],
    ["${file:/two-lines}", "holds a space, a line break or a character outside ASCII"],
    ["secret🔑", "holds a space, a line break or a character outside ASCII"],
  ])("%s cannot be resolved, and the message names the place", (value, message) => {
    const surroundings = {
      env: { EMPTY: "", TOKEN: "t" },
      files: { "/empty": "\n", "/two-lines": "one\ntwo\n" },
    };
    const text = `companies:\n  acme:\n    token: ${JSON.stringify(value)}\n`;
    expect(complaints(text, surroundings)).toEqual([
      expect.stringContaining(`config.yaml:3:12: companies.acme.token: ${message}`),
    ]);
  });

  test("that is a number is asked to be put in quotes, and not shown", () => {
    expect(complaints("companies: { acme: { token: 123456 } }")).toEqual([
      "config.yaml:1:29: companies.acme.token must be text; put it in quotes",
    ]);
  });

  // Fault: secrets | a token that YAML takes for a tag, an alias or a block | config file | refused without showing it
  // Fault: secrets | a token in the wrong place of the config | the config | the message does not show it (I9)
  // Fault: secrets | a token in the config beside mistakes | config file | the messages do not show it
  test("that stands in the file beside mistakes is never shown, whatever it looks like, and each message has its place", () => {
    const secrets = ['webhook: { secrets: ["S", 7] }', "webhook: { secrets: S }", "webhook: S", "S"];
    const secret = fc.stringMatching(/^[!-~]{10,40}$/);
    const head = fc.constantFrom("", "languagee: en\n", "log: { level: loud }\n", "log: [\n");
    const tail = fc.constantFrom("", "    tokenn: x\n", "  acme: {}\n", "\tx: 1\n", "    token: again\n");
    const sign = fc.constantFrom("", "", "!!", "!a!", "*", "|", ">");
    const file = fc.tuple(head, fc.constantFrom(...tokens, ...secrets), sign, tail);
    const property = fc.property(secret, file, (shown, [before, line, signOfYaml, after]) => {
      const written = line.replace("S", () => signOfYaml + shown);
      const text = `${before}companies:\n  acme:\n    ${written}\n${after}`;
      for (const message of messagesOf(text)) {
        const [, row = "", column = ""] = /^config\.yaml:(\d+):([1-9]\d*): \S/.exec(message) ?? [];
        const length = text.split("\n")[Number(row) - 1]?.length ?? -1;
        expect(length + 1).toBeGreaterThanOrEqual(Number(column || NaN));
        expect(message).not.toContain(shown);
      }
    });
    fc.assert(property);
  });

  test("that is missing stops only commands that need it", () => {
    const { config } = load(minimal(), { env: {}, secrets: "when_used" });
    expect(config.dataDir).toBe("/home/me/data");
    expect(secretTexts(config)).toEqual([]);
    expect(() => config.companies[0]?.token.reveal()).toThrow(
      "companies.acme.token: the environment variable TOKEN is not set",
    );
  });
});

describe("a webhook secret", () => {
  test("knows its place, so that a new one can be put there", () => {
    const surroundings = {
      env: { OLD: "old-0123456789abc" },
      files: { "/run/hook": "new-0123456789abc", "/home/me/hook": "here-0123456789abc" },
    };
    const text = withSecrets("${env:OLD} ${file:/run/hook} ${file:hook} plain-0123456789");
    const { config } = load(text, surroundings);
    const [company] = config.companies;
    const texts = company?.webhook.secrets.map((secret) => secret.reveal());
    expect(texts?.join(" ")).toBe("old-0123456789abc new-0123456789abc here-0123456789abc plain-0123456789");
    const files = ["/run/hook", "/home/me/hook"].map((file) => ({ kind: "file", path: file }));
    const variable = { kind: "environment", name: "OLD" };
    expect(company?.webhook.places).toEqual([variable, ...files, { kind: "config" }]);
  });

  test("that stands in the config and is short is refused where it stands, and not shown", () => {
    expect(complaints(withSecrets("whsec_012345678"))).toEqual([
      "config.yaml:1:53: companies.acme.webhook.secrets[0] has fewer than 16 characters: it can be guessed",
    ]);
  });

  // Fault: secrets | a webhook secret of fewer than 16 characters | environment, secret file | it concerns its company alone: a warning with line and column, not shown
  test.each([
    ["${env:HOOK}", { env: { T: "t", HOOK: "whsec_012345678" } }],
    ["${file:hook}", { env: { T: "t" }, files: { "/home/me/hook": "whsec_012345678\n" } }],
  ])("that is short (%s) is not known, with a warning where it stands", (text, surroundings) => {
    const { config, warnings } = load(withSecrets(text), surroundings);
    expect(config.companies[0]?.webhook.secrets[0]?.problem).toContain("has fewer than 16 characters");
    expect(warnings.join("\n")).toMatch(/config\.yaml:1:53: .*secrets\[0\]: the .* has fewer than 16/);
    expect(warnings.join("\n")).not.toContain("whsec_012345678");
  });

  test("whose file is not there yet is a warning, and has its place all the same, for who may do without it", () => {
    const { config, warnings } = load(withSecrets("${file:hook}"));
    const [company] = config.companies;
    expect([company?.token.known, company?.webhook.secrets[0]?.known]).toEqual([true, false]);
    expect(company?.webhook.places).toEqual([{ kind: "file", path: "/home/me/hook" }]);
    const said =
      "config.yaml:1:53: companies.acme.webhook.secrets[0]: the file /home/me/hook cannot be read (there is no such file); `webhooks create` writes it";
    expect(warnings).toContainEqual(expect.stringContaining(said));
  });
});

// Fault: secrets | one company's token is missing | the environment of a config of two companies | a warning; refused only where no company has a token
test("a missing token concerns its company alone, and is refused where no company has one", () => {
  const both = minimal("  beta: { token: '${env:BETA}' }\n");
  const { config, warnings } = load(both);
  const problem = "companies.beta.token: the environment variable BETA is not set";
  expect(config.companies.map(({ token }) => token.problem)).toEqual([null, problem]);
  expect(warnings).toEqual([expect.stringContaining("config.yaml:4:18: companies.beta.token: the")]);
  expect(complaints(both, { env: {} })).toHaveLength(2);
});

test("a secret of two halves is read again where one of both changed, and is none as long as one is missing", () => {
  const folder = temporaryFolder({});
  const halfAt = (name: string) => ({ kind: "file", path: path.join(folder, name) }) as const;
  const place = { kind: "pair", id: halfAt("id"), secret: halfAt("secret") } as const;
  const none = new Secret(new MirrorError("config", "not there"));
  writeFileSync(place.secret.path, "secret-1");
  expect(rereadSecret(place, none)).toBeNull();
  writeFileSync(place.id.path, "id-1");
  const first = rereadSecret(place, none) ?? none;
  writeFileSync(place.secret.path, "secret-2");
  expect([first.reveal(), rereadSecret(place, first)?.reveal()]).toEqual(["id-1|secret-1", "id-1|secret-2"]);
});

describe("I9: a config can be printed without a secret in it", () => {
  const text = 'companies: { acme: { token: "sk_live_1", webhook: { secrets: [whsec_2_0123456789] } } }';
  const { config } = load(text);

  test.each([
    ["JSON", JSON.stringify(config)],
    ["inspection", inspect(config, { depth: 10, showHidden: true })],
    ["text", String(config.companies[0]?.token)],
  ])("as %s", (_, printed) => {
    expect(printed).toContain("***");
    expect(printed).not.toContain("sk_live_1");
    expect(printed).not.toContain("whsec_2_0123456789");
  });

  test("and the list of what to redact holds every one of them, once", () => {
    expect(secretTexts(config)).toEqual(["sk_live_1", "whsec_2_0123456789"]);
  });
});

const withToken = (value: string) => minimal(`serve: { page_token: "${value}" }\n`);

describe("the token of the pages", () => {
  test("is a secret as others: redacted, and from a file as it is now", () => {
    const { config } = load(withToken("${env:TOKEN}"), { env: { TOKEN: "token-of-the-pages" } });
    expect(servedPageToken(config, true)).toMatchObject({ isMade: false, place: { name: "TOKEN" } });
    expect(servedPageToken(config, true)?.secret.reveal()).toBe("token-of-the-pages");
    expect(secretTexts(config)).toContain("token-of-the-pages");
    const file = path.join(temporaryFolder({ token: "token-of-yesterday" }), "token");
    const ofFile = load(withToken(`\${file:${file}}`), { files: { [file]: "token-of-yesterday" } }).config;
    writeFileSync(file, "token-of-the-pages-now\n");
    expect(servedPageToken(ofFile, true)?.secret.reveal()).toBe("token-of-the-pages-now");
  });

  // Fault: secrets | the page token's variable is missing, or the token is short | the environment | a warning that names it: no page is shown, everything else works
  test.each([
    ["${env:NOT_SET}", "the environment variable NOT_SET is not set"],
    ["${env:SHORT}", "the environment variable SHORT has fewer than 16 characters: it can be guessed"],
  ])("%s opens no page, and is named", (value, message) => {
    const { config, warnings } = load(withToken(value), { env: { TOKEN: "t", SHORT: "short" } });
    expect(warnings).toEqual([`config.yaml:4:22: serve.page_token: ${message}`]);
    expect(servedPageToken(config, true)).toMatchObject({ secret: { known: false } });
  });

  test("that stands in the file itself and is short is a mistake", () => {
    expect(complaints(withToken("short"))[0]).toContain("serve.page_token has fewer than 16 characters");
  });
});

test("a language the service is not known to speak is a warning, not an error", () => {
  expect(load(minimal("language: cs\n")).warnings).toEqual([
    'config.yaml:4:11: fintoro is not known to speak "cs" (en, sk)',
  ]);
});
