import { describe, expect, test } from "vitest";
import { createKeptPages } from "../../src/server/kept-pages.ts";

function fail(): never {
  throw new Error("disk I/O error");
}

/** A clock that moves only when the test says so; making a page takes `tookMs`. */
function aShelf(tookMs = 0) {
  let nowMs = 0;
  const monotonicMs = () => nowMs;
  const limits = { factor: 200, shortestMs: 2_000, longestMs: 300_000 };
  const kept = createKeptPages<number>({ monotonicMs }, limits);
  let made = 0;
  const make = () => {
    nowMs += tookMs;
    return ++made;
  };
  const ask = (key = "/") => kept(key, make);
  return { kept, ask, made: () => made, pass: (ms: number) => (nowMs += ms) };
}

describe("a page that many ask for", () => {
  test("rests two hundred times what making it computes: half a percent of the thread; two seconds at least, five minutes at most", async () => {
    for (const [tookMs, restMs] of [
      [0, 2_000],
      [50, 10_000],
      [60_000, 300_000],
    ] as const) {
      const { ask, made, pass } = aShelf(tookMs);
      await ask();
      pass(restMs - 1);
      await ask();
      expect(made()).toBe(1);
      pass(1);
      await ask();
      expect(made()).toBe(2);
    }
  });

  // Fault: files | a page that cannot be made | a function that throws | all who ask get why; it is tried again after the interval
  test("is tried again after the interval where it cannot be made", async () => {
    const { kept, ask, pass } = aShelf();
    for (let i = 0; i < 2; i++) await expect(kept("/", i === 0 ? fail : () => 1)).rejects.toThrow("disk I/O");
    pass(2_000);
    expect(await ask()).toBe(1);
  });

  test("is one of a bounded number: those made first are left out", async () => {
    const { ask, made } = aShelf();
    for (let i = 0; i < 1_000; i++) await ask(`/?q=${i}`);
    await ask("/?q=999");
    expect(made()).toBe(1_000);
    await ask("/?q=1");
    expect(made()).toBe(1_001);
  });
});
