import { describe, expect, test } from "vitest";
import { isoTime } from "../../src/base/clock.ts";
import { resumeWithinMs, trustPauseMs } from "../../src/sync/context/limits.ts";
import { sweepKey } from "../../src/state/sweeps.ts";
import { planSweeps, variantsOf, type Unfinished } from "../../src/sync/plan/sweep-plan.ts";
import { resources, resourceOf } from "../support/mirror.ts";
import { startMs } from "../support/store.ts";

const list = [resourceOf("people"), resourceOf("colours"), resourceOf("counters"), resourceOf("notes")];

function around(unfinished: Unfinished | null, open: readonly string[] = []) {
  return { unfinished, openSweeps: new Set(open), nowMs: startMs, dirtySeq: 7 };
}

function plan(unfinished: Unfinished | null, open: readonly string[] = []): string[] {
  const { firstPages, abandoned } = planSweeps(list, around(unfinished, open));
  return [
    ...firstPages.map(({ resource, target, lane }) => `${resource} ${target} ${lane}`),
    ...abandoned.map(({ resource, variant }) => `abandon ${sweepKey(resource, variant)}`),
  ];
}

const everything = [
  "people page::1 list",
  "colours page::1 list",
  "counters page:order:1 list",
  "counters page:credit-note:1 list",
];

function interrupted(agoMs: number, sweptAgoMs: Record<string, number> = {}): Unfinished {
  const swept = Object.entries(sweptAgoMs).map(([key, ms]) => [key, isoTime(startMs - ms)] as const);
  return { id: 1, startedAt: isoTime(startMs - agoMs), swept: Object.fromEntries(swept) };
}

describe("which lists a run begins with", () => {
  test("all of them, each variant for itself, when the last run ended", () => {
    expect(plan(null)).toEqual(everything);
  });

  test("a resource without a list of its own has none to begin", () => {
    expect(Object.values(resources).map((resource) => variantsOf(resource).length)).toEqual([
      0, 1, 2, 1, 1, 0, 0,
    ]);
  });

  test("an interrupted run is continued: neither its open sweeps nor its complete ones begin again", () => {
    const pages = plan(interrupted(60_000, { people: 50_000, "counters:order": 40_000 }), ["colours"]);
    expect(pages).toEqual(["counters page:credit-note:1 list"]);
  });

  test("what was swept before a long pause is read again, but after everything else", () => {
    const pages = plan(interrupted(3_600_000, { people: trustPauseMs + 1, colours: trustPauseMs }));
    expect(pages).toEqual([
      "people page::1 scrub",
      "counters page:order:1 list",
      "counters page:credit-note:1 list",
    ]);
  });

  test("an interruption too long ago is abandoned: its open sweeps are dropped and all begin again", () => {
    expect(plan(interrupted(resumeWithinMs, { people: 1 }), ["colours"])).not.toContain("abandon colours");
    const pages = plan(interrupted(resumeWithinMs + 1, { people: 1 }), ["colours", "counters:order"]);
    expect(pages).toEqual([...everything, "abandon colours", "abandon counters:order"]);
  });

  test("pages left behind by a run that ended are dropped before its lists begin again", () => {
    expect(plan(null, ["people"])).toEqual([...everything, "abandon people"]);
  });

  test("a first page carries the number of its reason and the name of its list", () => {
    const [first] = planSweeps([resourceOf("counters")], around(null)).firstPages;
    expect(first).toMatchObject({
      kind: "list",
      reason: "sweep",
      dirtySeq: 7,
      payload: { variant: "order", page: 1 },
    });
  });
});
