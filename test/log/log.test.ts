import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { Secret } from "../../src/base/secret.ts";
import { UnavailableError } from "../../src/connector/service-errors.ts";
import { logFormat, type AdjustableLog } from "../../src/log/log.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

const token = "sk_live_0123456789";

describe("a log line without a terminal", () => {
  test("is one JSON document: level, time, message, fields", () => {
    const { log, records } = recordingLog();
    log.info("run finished", { company: "acme", requests: 57 });
    expect(records()).toEqual([
      { level: "info", time: "2026-11-21T02:15:00.000Z", msg: "run finished", company: "acme", requests: 57 },
    ]);
  });

  // Fault: data | line breaks and control characters in a message | a log line without a terminal | one line, one JSON document
  test("stays one line and one document whatever the message", () => {
    const { log, lines, records } = recordingLog();
    const circle: Record<string, unknown> = { name: "circle" };
    circle["self"] = circle;
    const far = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } };
    const msg = 'two\nlines "quoted" %s %d %o';
    log.warn(msg, { circle, far, id: 2n ** 60n, odd: NaN, bytes: Buffer.alloc(9) });
    log.warn("text", { time: "mine", msg: "mine", level: "mine", nothing: undefined, run: () => 1 });
    expect(lines.join("")).not.toContain("\n");
    const shown = { circle: { name: "circle", self: "circular" }, odd: "NaN", bytes: "9 bytes" };
    expect(records()[0]).toMatchObject({ msg, ...shown, id: "1152921504606846976" });
    expect(JSON.stringify(records()[0])).toContain("deeper");
    expect(records()[1]).toMatchObject({ level: "warn", time_: "mine", msg_: "mine", level_: "mine" });
  });
});

describe("I9: no secret leaves through the log", () => {
  const headers = { authorization: "Bearer other" };
  const cause = new Error(`connect with ${token}`, { cause: { headers, token } });
  const hint = `try ${encodeURIComponent(token)}`;
  const error = new MirrorError("network", `refused ${token}`, { cause, hint });

  test.each([
    ["the message", [`sent ${token}`, {}]],
    ["a field", ["x", { url: `https://a/?t=${token}` }]],
    ["a nested field", ["x", { a: [{ b: token }] }]],
    ["a key", ["x", { [token]: 1 }]],
    ["an error and its causes", ["x", { error }]],
    ["a service error", ["x", { error: new UnavailableError("x", { serviceMessage: `no ${token}` }) }]],
    ["a map and a set", ["x", { map: new Map([["a", token]]), set: new Set([token]) }]],
    ["a wrapped secret", ["x", { wrapped: new Secret(token) }]],
    ["base64", ["x", { basic: Buffer.from(`user:${token}`).toString("base64") }]],
    ["what shortening would cut in half", ["x", { long: "a".repeat(3990) + token }]],
  ] as const)("in %s", (_, [message, fields]) => {
    for (const format of ["json", "pretty"] as const) {
      const { log, lines } = recordingLog({ format, level: "debug" }, [token]);
      log.error(message, fields);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/sk_live|0123456789|c2tfbGl2|Bearer other/);
    }
  });

  test("a number that is a secret is redacted too", () => {
    const { log, records } = recordingLog({}, ["4815162342"]);
    log.info("x", { pin: 4_815_162_342 });
    expect(records()[0]?.["pin"]).toEqual(expect.any(String));
    expect(records()[0]?.["pin"]).not.toContain("4815");
  });

  test("an unknown secret is masked by the name of its field", () => {
    const { log, records } = recordingLog();
    log.info("x", { plainTextSecret: "whsec", nested: { access_token: "t", Authorization: "Bearer x" } });
    const nested = { access_token: "***", Authorization: "***" };
    expect(records()[0]).toMatchObject({ plainTextSecret: "***", nested });
  });
});

test("an error in a field has kind, hint and causes; its stack only at level debug", () => {
  const { log, records } = recordingLog();
  const facts = { status: 503, requestId: "r-1" };
  const error = new UnavailableError("503", { ...facts, cause: new Error("upstream") });
  log.warn("failed", { error });
  log.setLevel("debug");
  log.warn("failed", { error });
  const said = { type: "UnavailableError", message: "503", ...facts, cause: { message: "upstream" } };
  expect(records()[0]).toMatchObject({ error: said });
  expect(JSON.stringify(records()[0])).not.toContain("stack");
  expect(JSON.stringify(records()[1])).toContain("log.test.ts");
});

/** What a person sees, with the time of day taken out. */
function pretty(speak: (log: AdjustableLog) => void, colour = false): string {
  const { log, lines } = recordingLog({ format: "pretty", colour });
  speak(log);
  return lines.join("\n").replaceAll(/^\d\d:\d\d:\d\d/gm, "hh:mm:ss");
}

describe("a log line at a terminal", () => {
  test("starts with the time, names what is wrong, and puts the hint below", () => {
    const fields = { company: "acme", rows: 3, note: "two words" };
    const synced = 'hh:mm:ss  synced  company=acme  rows=3  note="two words"';
    expect(pretty((log) => log.info("synced", fields))).toBe(synced);
    const failed = "hh:mm:ss  error: no config\n          at all\n          hint: create one";
    expect(pretty((log) => log.error("no config\nat all", { hint: "create one" }))).toBe(failed);
    expect(pretty((log) => log.warn("slow"))).toBe("hh:mm:ss  warning: slow");
  });

  test("is coloured only when asked", () => {
    expect(pretty((log) => log.error("x"), true)).toContain("\u001B[31m");
    expect(pretty((log) => log.error("x"), false)).not.toContain("\u001B");
  });

  // Fault: data | terminal escapes in a message of the service | a log line at a terminal | escapes as text
  test("cannot be used by the service to move the cursor or colour the screen", () => {
    const text = pretty((log) => log.warn("evil \u001B[2J\r\u009B", { field: "\u001B[31m", hint: "\u0007" }));
    expect(text).toContain(String.raw`evil \x1b[2J\x0d\x9b`);
    for (const control of ["\u0007", "\u001B", "\u009B", "\r"]) expect(text).not.toContain(control);
  });
});

test("--log-format auto is pretty at a terminal and JSON elsewhere; the others are what they say", () => {
  expect([logFormat("auto", true), logFormat("auto", false)]).toEqual(["pretty", "json"]);
  expect([logFormat("pretty", false), logFormat("json", true)]).toEqual(["pretty", "json"]);
});
