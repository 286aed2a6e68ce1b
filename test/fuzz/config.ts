import assert from "node:assert/strict";
import * as fc from "fast-check";
import { MirrorError } from "../../src/base/errors.ts";
import { load } from "../support/connector/config.ts";
import { fuzzTarget } from "./fuzz-target.ts";

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

/** A config with a token and mistakes. */
export const configWithToken = fuzzTarget(
  "config/token",
  100,
  literal,
  ({ secret, write, before, after }) => {
    const written = `${before}companies:\n  acme:\n    ${write(secret)}\n${after}`;
    for (const line of linesOf(written)) {
      assertPlace(line, written);
      assert.ok(!line.includes(secret), `the secret is shown: ${line}`);
    }
  },
);

/** Of the error or of the warnings. */
function linesOf(written: string): readonly string[] {
  try {
    return load(written).warnings;
  } catch (error) {
    assert.ok(error instanceof MirrorError, error instanceof Error ? error.stack : String(error));
    assert.equal(error.kind, "config");
    return error.message.split("\n");
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
