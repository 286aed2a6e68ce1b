import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { MirrorError } from "../../src/base/errors.ts";
import type { LoadedConfig } from "../../src/config/load.ts";
import { load } from "../support/connector/config.ts";
import { pureTarget } from "./fuzz-target.ts";

const example = readFileSync(new URL("../../config.example.yaml", import.meta.url), "utf8");
/** The example with what it shows in comments switched on. */
const whole = example
  .replaceAll(/^( +)# (webhook:|  secrets:|  public_url:)/gm, "$1$2")
  .replace("exports: []", "exports: [{ format: parquet, out: ./reports, after: sync }]");

const ofEnvironment = "sk_live_of_the_environment";
const ofFile = "whsec_of_the_file";
const surroundings = {
  env: { FINTORO_TOKEN: ofEnvironment, FINTORO_WEBHOOK_SECRET: ofEnvironment, SHORT: ofEnvironment },
  files: { "/run/secrets/token": `${ofFile}\n` },
};

const splinter = fc.oneof(
  fc.constantFrom(": ", "- ", "&a ", "!!int ", "!x ", "| ", ">\n", "\t", ..."\" : *a ' { } [ ] ,".split(" ")),
  fc.constantFrom(
    "---\n",
    "...\n",
    "<<: *a\n",
    "%YAML 1.1\n",
    "? ",
    "\r",
    ..."# \u0000 \uFEFF \u2028 🙂".split(" "),
  ),
  fc.constantFrom(..."~ null 1e999 -0 0x1F .nan 2026-01-01 99999999999999999999 1_000 yes".split(" ")),
  fc.constantFrom("__proto__: {}\n", "constructor: 1\n", "companies:\n"),
  fc.constantFrom("${env:SHORT}", "${file:/run/secrets/token}"),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const change = fc.record({
  kind: fc.constantFrom("insert", "word", "value", "cut", "drop", "double", "indent", "swap"),
  at: place,
  to: place,
  text: splinter,
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(text: string, { kind, at, to, text: splint }: Change): string {
  const where = Math.floor(at * (text.length + 1));
  if (kind === "insert") return text.slice(0, where) + splint + text.slice(where);
  if (kind === "word") return text.slice(0, where) + text.slice(where).replace(/[\w.%/-]+/, () => splint);
  if (kind === "value")
    return text.slice(0, where) + text.slice(where).replace(/: [^,}\n]*/, () => `: ${splint}`);
  if (kind === "cut") return text.slice(0, where);
  const lines = text.split("\n");
  const line = Math.floor(at * lines.length);
  const other = Math.floor(to * lines.length);
  const [one = "", two = ""] = [lines[line], lines[other]];
  if (kind === "drop") lines.splice(line, 1);
  else if (kind === "double") lines.splice(other, 0, one);
  else if (kind === "indent") lines[line] = to < 0.5 ? `  ${one}` : one.replace(/^ {1,2}/, "");
  else [lines[line], lines[other]] = [two, one];
  return lines.join("\n");
}

const keys = [...new Set(whole.match(/\b[a-z_]+(?=:)/g))];
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("auto", "30d", "10%", "256MB", "off", "${env:SHORT}", "", "127.0.0.1:0", "15 2 * * *"),
    fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.string()),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie("value"), { maxKeys: 4 }),
  ),
}));

const text = fc.oneof(
  { weight: 6, arbitrary: fc.array(change, { maxLength: 4 }).map((list) => list.reduce(changed, whole)) },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.constantFrom(...keys), anything).map((value) => stringify(value)),
  },
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.array(splinter).map((all) => all.join("")),
  ),
);

const files = pureTarget("config/files", 60, text, (written) => {
  const { lines, loaded } = outcomeOf(written);
  for (const line of lines) assertPlace(line, written);
  const shown = [...lines, JSON.stringify(loaded?.config ?? null)].join("\n");
  for (const secret of [ofEnvironment, ofFile])
    assert.ok(!shown.includes(secret), `a secret is shown: ${shown}`);
});

/** A token as people write one into the file, beside mistakes on other lines. */
const literal = fc.record({
  secret: fc.stringMatching(/^[!-~]{10,40}$/),
  write: fc.constantFrom(
    (secret: string) => `token: ${secret}`,
    (secret: string) => `token: ${JSON.stringify(secret)}`,
    (secret: string) => `token: '${secret}'`,
    (secret: string) => `token: [${secret}]`,
    (secret: string) => `token: { value: ${secret} }`,
    (secret: string) => `token: |\n      ${secret}\n      x`,
    (secret: string) => `webhook: { secrets: ["${secret}", 7] }`,
    (secret: string) => `webhook: { secrets: ${secret} }`,
    (secret: string) => `webhook: ${secret}`,
  ),
  before: fc.constantFrom(
    "",
    "languagee: en\n",
    "log: { level: loud }\n",
    "http: { timeout: -1 }\n",
    "log: [\n",
  ),
  after: fc.constantFrom(
    "",
    "    tokenn: x\n",
    "  acme: {}\n",
    "\tx: 1\n",
    "    token: again\n",
    "schedule: 7\n",
  ),
});

const literals = pureTarget("config/literals", 100, literal, ({ secret, write, before, after }) => {
  const written = `${before}companies:\n  acme:\n    ${write(secret)}\n${after}`;
  const { lines } = outcomeOf(written);
  for (const line of lines) {
    assertPlace(line, written);
    assert.ok(!line.includes(secret), `the secret is shown: ${line}`);
  }
});

interface Outcome {
  /** Of the error or of the warnings. */
  readonly lines: readonly string[];
  readonly loaded: LoadedConfig | null;
}

function outcomeOf(written: string): Outcome {
  try {
    const loaded = load(written, surroundings);
    return { lines: loaded.warnings, loaded };
  } catch (error) {
    assert.ok(error instanceof MirrorError, error instanceof Error ? error.stack : String(error));
    assert.equal(error.kind, "config");
    return { lines: error.message.split("\n"), loaded: null };
  }
}

function assertPlace(line: string, written: string): void {
  const [, row = "", column = ""] =
    /^config\.yaml:(\d+):(\d+): \S/.exec(line) ?? assert.fail(`no place: ${line}`);
  const lines = written.split("\n");
  assert.ok(Number(row) >= 1 && Number(row) <= lines.length, `no such line: ${line}`);
  const { length } = lines[Number(row) - 1] ?? "";
  assert.ok(Number(column) >= 1 && Number(column) <= length + 1, `no such column: ${line}`);
}

/** Config files of every kind, and secrets in them. */
export const configTargets = { files, literals };
