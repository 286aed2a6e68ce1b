import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import type { HttpOptions } from "../../src/http/http-transport.ts";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, jsonHead, serviceWith, type Answering } from "../support/http/http.ts";

/** Holds every answer until it is let go, so that a test decides the order of things. */
function holding() {
  const held: { answer: ServerResponse; url: string }[] = [];
  return {
    held,
    answering: (answer: ServerResponse, { url }: { url: string }) => void held.push({ answer, url }),
    letGo: () => {
      for (const { answer } of held.splice(0)) json(answer, {});
    },
  };
}

describe("the right to send", () => {
  const ended = new MirrorError("locked", "the company has another owner");

  /** A right that a test ends; counts how often it was asked for. */
  function right() {
    const state = { isHeld: true, asked: 0 };
    const assertMaySend = () => {
      state.asked++;
      if (!state.isHeld) throw ended;
    };
    return { state, assertMaySend };
  }

  test.each([
    ["a new connection", 0],
    ["one that is used again", 1],
  ])("is asked for in the step that writes to %s, not before", async (_connection, before) => {
    const { state, assertMaySend } = right();
    const { service, http, rateLimiter } = await serviceWith((answer) => json(answer, {}), { assertMaySend });
    for (let sent = 0; sent < before; sent++) await http.send(get("/x"));
    const onSent = () => void (state.isHeld = false);
    expect(await rejectionOf(http.send(get("/x", { onSent })))).toBe(ended);
    expect(state.asked).toBe(before + 1);
    expect(service.asked).toHaveLength(before);
    expect([rateLimiter.open(), rateLimiter.lost()]).toEqual([0, 1]);
  });

  test("is asked for at each attempt, and at each redirect", async () => {
    const { state, assertMaySend } = right();
    const answering: Answering = (answer, _, index) => {
      state.isHeld = index % 2 === 0;
      if (index < 2) json(answer, {}, 503);
      else answer.writeHead(302, { location: "/api/v1/y" }).end();
    };
    const { service, http } = await serviceWith(answering, { assertMaySend });
    expect(await rejectionOf(http.send(get("/x")))).toBe(ended);
    expect([state.asked, service.asked.length]).toEqual([3, 2]);
    state.isHeld = true;
    expect(await rejectionOf(http.send(get("/x")))).toBe(ended);
    expect([state.asked, service.asked.length]).toEqual([6, 4]);
  });

  test("has ended also for a caller who stops in that moment", async () => {
    const { state, assertMaySend } = right();
    const { service, http } = await serviceWith((answer) => json(answer, {}), { assertMaySend });
    const stop = new AbortController();
    const onSent = () => {
      state.isHeld = false;
      stop.abort();
    };
    expect(await rejectionOf(http.send(get("/x", { onSent, signal: stop.signal })))).toBe(ended);
    expect(service.asked).toHaveLength(0);
  });
});

describe("connections", () => {
  test("are used again, also after an error answer", async () => {
    const { service, http } = await serviceWith((answer, _, index) =>
      json(answer, {}, index % 2 === 0 ? 200 : 404),
    );
    for (let i = 0; i < 20; i++) await http.send(get("/x")).catch(() => undefined);
    expect([service.asked.length, service.connections() <= 2]).toEqual([20, true]);
  });

  test("are never more than the concurrency, and neither are requests in flight", async () => {
    const { held, answering, letGo } = holding();
    const { service, http } = await serviceWith(answering, { concurrency: 3 });
    const calls = Array.from({ length: 9 }, (_, i) => http.send(get(`/${i}`)));
    for (let done = 0; done < 9; done += 3) {
      await expect.poll(() => held.length).toBe(3);
      letGo();
    }
    await Promise.all(calls);
    expect(service.connections()).toBe(3);
  });

  test("that are free go to the better lane first, then first come, first served", async () => {
    const { held, answering, letGo } = holding();
    const { service, http } = await serviceWith(answering, { concurrency: 1 });
    const calls = [http.send(get("/first"))];
    await expect.poll(() => held.length).toBe(1);
    for (const lane of ["files", "list", "webhook", "list"] as const)
      calls.push(http.send(get(`/${lane}${calls.length}`, { lane })));
    for (let i = 0; i < 5; i++) {
      await expect.poll(() => held.length).toBe(1);
      letGo();
    }
    await Promise.all(calls);
    const asked = service.asked.map(({ url }) => url.slice(8));
    expect(asked).toEqual(["first", "webhook3", "list2", "list4", "files1"]);
  });

  test("are released only when the body has arrived", async () => {
    const { held, answering, letGo } = holding();
    const { http, rateLimiter } = await serviceWith(answering, { concurrency: 1 });
    const slow = http.send(get("/slow"));
    await expect.poll(() => held.length).toBe(1);
    const { answer } = held.splice(0)[0] ?? {};
    const next = http.send(get("/next"));
    answer?.writeHead(200, jsonHead).write("[");
    await expect.poll(() => rateLimiter.reports.length).toBe(1);
    expect(held).toEqual([]);
    answer?.end("]");
    expect((await slow).body.toString()).toBe("[]");
    await expect.poll(() => held.length).toBe(1);
    letGo();
    await next;
  });
});

describe("stopping", () => {
  const longPauses = { backoff: { baseMs: 900_000, maxMs: 900_000 } };

  // Fault: process | the run is stopped while a request is in flight | the request's signal | it ends at once, and its permit counts as spent
  test.each<[string, Answering, Partial<HttpOptions>, number]>([
    ["a request in flight, and its permit counts as spent", () => undefined, {}, 1],
    ["the reading of a body", (answer) => void answer.writeHead(200, jsonHead).write("["), {}, 0],
    ["the pause before another attempt", (answer) => json(answer, {}, 503), longPauses, 0],
  ])("ends %s", async (_, answering, options, lost) => {
    const { service, http, rateLimiter } = await serviceWith(answering, options);
    const stop = new AbortController();
    const call = rejectionOf(http.send(get("/x", { signal: stop.signal })));
    await expect.poll(() => service.asked.length).toBe(1);
    if (lost === 0) await expect.poll(() => rateLimiter.reports.length).toBe(1);
    stop.abort();
    expect(await call).toMatchObject({ kind: "stopped" });
    expect([rateLimiter.open(), rateLimiter.lost(), service.asked.length]).toEqual([0, lost, 1]);
  });

  test("ends the wait for a connection, and finishes the permit that was given", async () => {
    const { held, answering, letGo } = holding();
    const { http, rateLimiter } = await serviceWith(answering, { concurrency: 1 });
    const stop = new AbortController();
    const first = http.send(get("/first"));
    const second = rejectionOf(http.send(get("/second", { signal: stop.signal })));
    await expect.poll(() => held.length).toBe(1);
    stop.abort();
    expect(await second).toMatchObject({ kind: "stopped" });
    letGo();
    await first;
    expect([rateLimiter.open(), rateLimiter.lost()]).toEqual([0, 1]);
  });

  test("before anything was sent sends nothing, and no call leaves a listener on a signal that outlives it", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}));
    const stop = new AbortController();
    for (let i = 0; i < 10; i++) await http.send(get("/x", { signal: stop.signal }));
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    stop.abort();
    const { kind } = await rejectionOf(http.send(get("/x", { signal: stop.signal })));
    expect(kind).toBe("stopped");
    expect(service.asked).toHaveLength(10);
  });
});
