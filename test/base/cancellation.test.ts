import { expect, test, vi } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { abortAfter } from "../../src/base/cancellation.ts";

test("a time limit may be a part of a millisecond, or longer than Node's longest timer", () => {
  using timeout = vi.spyOn(AbortSignal, "timeout");
  const aborted = [1.5, 30 * dayMs].map((ms) => abortAfter(ms).aborted);
  expect({ aborted, asked: timeout.mock.calls.flat() }).toEqual({
    aborted: [false, false],
    asked: [2, 2_147_483_647],
  });
});
