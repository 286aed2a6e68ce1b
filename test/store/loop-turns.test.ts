import { expect, test } from "vitest";
import { LoopTurns } from "../../src/store/transient-errors.ts";

/** Steps that take so long each: how many were made in each turn of the event loop, and in which order. */
async function stepsOf(count: number, tookMs: number) {
  let nowMs = 0;
  let turn = 0;
  const perTurn: number[] = [];
  const order: number[] = [];
  const turns = new LoopTurns(() => nowMs);
  const steps = Array.from({ length: count }, async (_, i) => {
    await turns.next();
    if (perTurn[turn] === undefined) setImmediate(() => turn++);
    perTurn[turn] = (perTurn[turn] ?? 0) + 1;
    order.push(i);
    nowMs += tookMs;
  });
  await Promise.all(steps);
  return { perTurn, order };
}

test("steps of many share a turn of the event loop for 20 ms, first come, first served", async () => {
  const { perTurn, order } = await stepsOf(10, 7);
  expect(perTurn).toEqual([3, 3, 3, 1]);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a step that takes longer has a turn of its own", async () => {
  const { perTurn } = await stepsOf(4, 100);
  expect(perTurn).toEqual([1, 1, 1, 1]);
});
