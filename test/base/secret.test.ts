import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, redacted, Secret } from "../../src/base/secret.ts";

const redact = (text: string, secrets: readonly string[]) => createRedactor(secrets)(text);
const token = 'to+k/e n"1234ž';

describe("I9: a secret is taken out of a text", () => {
  test.each([
    ["as it is", `Bearer ${token}!`, `Bearer ${redacted}!`],
    ["in a URL", `?t=${encodeURIComponent(token)}&a=1`, `?t=${redacted}&a=1`],
    ["in a URL written in lower case", `?t=${encodeURIComponent(token).toLowerCase()}`, `?t=${redacted}`],
    ["in a form", `t=${encodeURIComponent(token).replace("%20", "+")}`, `t=${redacted}`],
    ["in JSON", JSON.stringify({ token }), `{"token":"${redacted}"}`],
    [
      "in JSON that escapes slashes",
      JSON.stringify({ token }).replace("/", "\\/"),
      `{"token":"${redacted}"}`,
    ],
    ["in base64 for URLs", Buffer.from(token).toString("base64url"), redacted],
    ["twice", `${token} ${token}`, `${redacted} ${redacted}`],
  ])("%s", (_, text, expected) => {
    expect(redact(text, [token])).toBe(expected);
  });

  test("in base64, whatever bytes stand before and behind it", () => {
    const secret = "sk_live_0123456789";
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 }), (before, behind) => {
        const encoded = Buffer.from(before + secret + behind).toString("base64");
        const left = Buffer.from(redact(encoded, [secret]).replaceAll(redacted, "#"), "base64").toString();
        return redact(encoded, [secret]).includes(redacted) && !left.includes("live");
      }),
    );
  });

  test("and a text without one stays as it is", () => {
    for (const secrets of [[token], ["", ""], []])
      expect(redact("nothing here", secrets)).toBe("nothing here");
  });

  test("also when it holds another one, or characters that mean something in a pattern", () => {
    const redactor = createRedactor(["abc", "abc.def(", "$&"]);
    expect(redactor("abc.def( abcdef abc $&")).toBe(`${redacted} ${redacted}def ${redacted} ${redacted}`);
  });
});

test("I9: a wrapped secret shows in no text, template, JSON or inspection, only where it is revealed", () => {
  const secret = new Secret(token);
  const shown = [
    String(secret),
    [secret].join(""),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9 }),
  ];
  for (const text of shown) {
    expect(text).toContain("***");
    expect(text).not.toContain(token.slice(0, 4));
  }
  expect(Object.values(secret)).toEqual([]);
  expect(secret.reveal()).toBe(token);
});
