import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { RateLimitedError } from "../../src/connector/service-errors.ts";
import type { ServiceRequest } from "../../src/connector/transport.ts";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, page, serviceWith, type Answering } from "../support/http/http.ts";

const nowMs = () => Date.UTC(2026, 2, 1);
const write = { method: "POST", json: {} } as const;

describe("retries", () => {
  // Fault: service | a burst of 500 and 503 | a server in the service's place | repeated until it is answered
  test("continue through a burst of 500 and 503", async () => {
    const statuses = [500, 503, 502, 500, 200];
    const { http } = await serviceWith((answer, _, index) => json(answer, {}, statuses[index]));
    expect(await http.send(get("/x"))).toMatchObject({ status: 200 });
    const { byStatus, ...counts } = http.stats();
    expect(Object.fromEntries(byStatus)).toEqual({ 500: 2, 503: 1, 502: 1, 200: 1 });
    expect(counts).toEqual({ requests: 5, rateLimited: 0, unanswered: 0, waitedMs: expect.any(Number) });
  });

  // Fault: service | 503 with Retry-After | a server in the service's place | the next attempt waits as long
  test.each([
    ["seconds", () => "7"],
    ["a date", () => new Date(nowMs() + 7_000).toUTCString()],
  ])("after 503 wait as long as Retry-After asks, given as %s", async (_, header) => {
    const waitsMs: number[] = [];
    const timeoutMs = 20_000;
    // Of the sleeps the deadline's is the one that takes time.
    const sleep = async (ms: number, signal?: AbortSignal) =>
      ms === timeoutMs ? systemClock.sleep(ms, signal) : void waitsMs.push(ms);
    const clock = { ...systemClock, nowMs, sleep };
    const busyOnce: Answering = (answer, _asked, index) =>
      index === 0 ? json(answer, {}, 503, { "retry-after": header() }) : json(answer, {});
    const { http } = await serviceWith(busyOnce, { clock, timeoutMs });
    expect(await http.send(get("/x"))).toMatchObject({ status: 200 });
    expect(waitsMs).toEqual([7_000]);
  });

  // Fault: service | a write whose outcome is unknown | a server in the service's place | not repeated
  test.each<[string, number, Partial<ServiceRequest>]>([
    ["a refusal", 404, {}],
    ["a failure, for a caller that tries again itself", 503, { once: true }],
    ["429, for such a caller", 429, { once: true }],
    ["a failure of a write, whose outcome is unknown", 503, write],
    ["one of a change", 503, { ...write, method: "PUT" }],
    ["one of a deletion", 503, { method: "DELETE" }],
  ])("are not made after %s", async (_, status, more) => {
    const { service, http } = await serviceWith((answer) => json(answer, {}, status));
    await rejectionOf(http.send({ ...get("/x"), ...more }));
    expect(service.asked).toHaveLength(1);
  });

  // Fault: service | a write without a key whose answer is lost, or a page of HTML | a server in the service's place | not repeated
  test.each<[string, Answering]>([
    ["no answer came", (answer) => void answer.destroy()],
    ["a page came with 200", (answer) => page(answer)],
  ])("a write is not sent again where %s", async (_, answering) => {
    const { service, http } = await serviceWith(answering);
    await rejectionOf(http.send({ ...get("/x"), ...write }));
    expect(service.asked).toHaveLength(1);
  });

  test("a write that was refused with 429 is sent again", async () => {
    const { service, http } = await serviceWith((answer, _, index) =>
      json(answer, {}, index === 0 ? 429 : 201),
    );
    await http.send({ ...get("/x"), ...write });
    expect(service.asked).toHaveLength(2);
  });

  // Fault: limiter | 429 ten times in a row | a server in the service's place | the request ends with an error
  test("429 ten times in a row is the end, whatever the attempts", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}, 429), { attempts: 2 });
    expect(await rejectionOf(http.send(get("/x")))).toBeInstanceOf(RateLimitedError);
    expect(service.asked).toHaveLength(10);
    expect(http.stats()).toMatchObject({ rateLimited: 10, requests: 10 });
  });
});
