import { describe, expect, test } from "vitest";
import { parseFaults } from "../../connectors/fintoro/sandbox/service/faults.ts";
import { parseShares } from "../../connectors/fintoro/sandbox/webhooks/sender.ts";

describe("faults as text", () => {
  test("a list of names with probabilities, details and paths", () => {
    expect(parseFaults("500:0.05, latency:200,429=0:0.2@/invoices,429=-,hang=half,reset:0.01")).toEqual([
      { kind: "status", status: 500, probability: 0.05 },
      { kind: "latency", latencyMs: 200 },
      { kind: "status", status: 429, retryAfterS: 0, probability: 0.2, match: { path: "/invoices" } },
      { kind: "status", status: 429, retryAfterS: null, probability: 1 },
      { kind: "hang", when: "half", probability: 1 },
      { kind: "reset", probability: 0.01 },
    ]);
    expect(parseFaults("")).toEqual([]);
  });

  test.each([
    "resett:0.1",
    "500:2",
    "latency",
    "latency=x",
    "latency=Infinity",
    "reset=later",
    "200:0.1",
    "500;503",
    "429=x",
    "429=-5",
  ])("%s is refused, with how faults are written", (text) => {
    const hint = expect.stringContaining("reset=half:0.01") as string;
    const refusal = { kind: "usage", message: `fault "${text}" cannot be read`, hint };
    expect(() => parseFaults(text)).toThrow(expect.objectContaining(refusal) as Error);
  });

  test("faults of deliveries are shares from 0 to 1", () => {
    expect(parseShares("duplicates:0.2, losses:1,")).toEqual({ duplicates: 0.2, losses: 1 });
    for (const bad of ["losses", "losses:", "losses:2", "losses:-1", "loss:0.1", "losses:0.1:0.2"])
      expect(() => parseShares(bad), bad).toThrow("cannot be read");
  });
});
