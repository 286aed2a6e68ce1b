import { describe, expect, test } from "vitest";
import { parseFaults } from "../../connectors/fintoro/sandbox/faults/fault-text.ts";

describe("faults as text", () => {
  test("a list of names with probabilities, details and paths", () => {
    expect(parseFaults("500:0.05, reset:0.01,latency:200")).toEqual([
      { kind: "status", status: 500, probability: 0.05 },
      { kind: "reset", probability: 0.01 },
      { kind: "latency", latencyMs: 200 },
    ]);
    expect(parseFaults("429=0:0.2@/invoices,429=-,hang=half,huge_body=1000,html,latency=5@/clients")).toEqual(
      [
        { kind: "status", status: 429, retryAfterS: 0, probability: 0.2, match: { path: "/invoices" } },
        { kind: "status", status: 429, retryAfterS: null, probability: 1 },
        { kind: "hang", when: "half", probability: 1 },
        { kind: "huge_body", sizeBytes: 1000, probability: 1 },
        { kind: "html", probability: 1 },
        { kind: "latency", latencyMs: 5, match: { path: "/clients" } },
      ],
    );
    expect(parseFaults("")).toEqual([]);
  });

  test.each([
    ["resett:0.1", "Did you mean reset"],
    ["500:2", "probability above 1"],
    ["latency", "needs a number"],
    ["reset=later", "moments"],
    ["429=soon", "needs a number"],
    ["200:0.1", "unknown fault 200"],
    ["500;503", "cannot be read"],
  ])("%s is refused, and the message says why", (text, why) => {
    expect(() => parseFaults(text)).toThrow(
      expect.objectContaining({
        kind: "usage",
        message: expect.stringContaining(why) as string,
        hint: expect.stringContaining("500:0.05") as string,
      }) as Error,
    );
  });
});
