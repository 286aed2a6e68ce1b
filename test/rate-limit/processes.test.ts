import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { endOf, startProgram } from "../support/program/cli.ts";
import { startLimiter } from "../support/rate-limit/simulated-budget.ts";
import { json, serviceWith, type Answering } from "../support/http/http.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const windowMs = 1_500;
const limit = 20;
function limitedService() {
  const limiter = startLimiter({ ends: "exact", reports: "at_answer" }, limit, windowMs);
  const answering: Answering = (answer) => {
    const accepted = limiter.hit(systemClock.monotonicMs(), "own");
    const remaining = accepted ? limiter.remaining(systemClock.monotonicMs()) : 0;
    const rate = { "x-ratelimit-limit": String(limit), "x-ratelimit-remaining": String(remaining) };
    json(answer, {}, accepted ? 200 : 429, { ...rate, ...(!accepted && { "retry-after": "1" }) });
  };
  return { limiter, answering };
}

const file = fileURLToPath(new URL("../support/rate-limit/budget-process.ts", import.meta.url));

function startProcess(baseUrl: string, folder: string, requests: number) {
  const given = [baseUrl, join(folder, "acme.budget.db"), windowMs, limit, requests].map(String);
  const child = startProgram(given, { file });
  return { child, ended: endOf(child) };
}

// Fault: limiter | two processes use one budget at the same time | processes on one budget file and a limited server | none is refused (I8)
// Fault: process | kill -9 of a process that sends requests | a process on the budget file | the next one continues within the budget, without a refusal (I8)
test("I8: several processes on one company share one budget and none of them is ever refused, although one is killed and another one goes on", async () => {
  const folder = tempFolder();
  const { limiter, answering } = limitedService();
  const { service } = await serviceWith(answering);
  const start = (requests: number) => startProcess(service.baseUrl, folder, requests);
  const killed = start(1_000);
  const other = start(30);
  await expect.poll(() => service.asked.length).toBeGreaterThan(30);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const next = start(15);
  expect(await Promise.all([other.ended, next.ended])).toMatchObject([
    { code: 0, stdout: '{"200":30}' },
    { code: 0, stdout: '{"200":15}' },
  ]);
  expect(limiter.windows.reduce((sum, { refusedOwn }) => sum + refusedOwn, 0)).toBe(0);
});
