import { describe, expect, test } from "vitest";
import { hintOf, MirrorError } from "../../src/base/errors.ts";
import { failureOf } from "../../src/cli/console/console.ts";
import { codeOfEnding, codeOfError, worstOutcome } from "../../src/cli/program/exit-code.ts";
import { outcomeOf } from "../../src/cli/runs/each-company.ts";

describe("an exit code shows what happened", () => {
  test.each([
    ["complete", null, 0],
    ["failed", null, 1],
    ["difference", null, 1],
    ["partial", null, 3],
    ["stopped", null, 5],
    ["drained", null, 0],
    ["drained", "SIGTERM", 0],
    ["drained", "SIGINT", 130],
    ["stopped", "SIGINT", 130],
    ["stopped", "SIGTERM", 143],
    ["complete", "SIGTERM", 0],
    ["partial", "SIGINT", 3],
  ] as const)("work that ends as %s (signal: %s) exits with %i", (ending, signal, code) => {
    expect(codeOfEnding(ending, signal)).toBe(code);
  });

  test("after a signal an error counts by its kind, one of the stop as interrupted; a thrown text as a bug", () => {
    expect(codeOfError(new MirrorError("stopped", "x"), "SIGINT")).toBe(130);
    expect(codeOfError(new MirrorError("locked", "x"), "SIGINT")).toBe(11);
    expect(codeOfError("thrown text", null)).toBe(10);
    expect(codeOfEnding({ kind: "usage" }, null)).toBe(2);
  });

  test("an output that cannot be written exits with the same code for one company and for several", () => {
    const error = new MirrorError("runtime", "stdout cannot be written");
    expect([codeOfError(error, null), codeOfEnding(outcomeOf(error), null)]).toEqual([10, 10]);
  });

  // Fault: disk | a lock or place cannot be given back after the work failed | SuppressedError of `using` | exit code, message and hint are those of the work
  test("what went wrong first counts, also where the end of its block failed as well", () => {
    const first = new MirrorError("locked", "the mirror is being written", { hint: "Wait." });
    const both = new SuppressedError(new Error("EACCES"), new SuppressedError(new Error("EIO"), first));
    expect(codeOfError(both, null)).toBe(11);
    const { message } = first;
    expect(failureOf(both)).toMatchObject({ kind: "locked", message, hint: "Wait.", bug: false });
    expect(hintOf(both)).toEqual({ hint: "Wait." });
  });
});

const byUrgency = ["complete", "stopped", "partial", "difference", "failed", "identity", "database"] as const;

test("of several outcomes the most urgent one counts, in whatever order they came", () => {
  for (const [at, worst] of byUrgency.entries()) {
    const some = byUrgency.slice(0, at + 1);
    expect([worstOutcome(some), worstOutcome(some.toReversed())]).toEqual([worst, worst]);
  }
  expect(worstOutcome([])).toBe("complete");
});
