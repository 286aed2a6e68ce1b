import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { parseFaults } from "../../connectors/fintoro/sandbox/service/faults.ts";
import type { Fault } from "../../connectors/fintoro/sandbox/service/faults.ts";
import type { Sandbox } from "../support/sandbox/control.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";
import { odd } from "../support/sandbox/odd-answers.ts";

const faulty = (fault: Fault) => openSandbox({ faults: [fault] });

describe("statuses", () => {
  test.each([
    [401, "Unauthenticated."],
    [500, "Server Error"],
    [503, "Service Unavailable"],
  ])("%i comes in JSON with the service's words", async (status, message) => {
    const heard = await get(await faulty({ kind: "status", status }), "/invoices");
    expect([heard.status, heard.json]).toEqual([status, { message }]);
    const counted = status !== 401 && status !== 503;
    expect(heard.headers.get("x-ratelimit-remaining") !== null).toBe(counted);
  });

  test.each([
    [{}, "1"],
    [{ retryAfterS: 17 }, "17"],
    [{ retryAfterS: 0 }, "0"],
    [{ retryAfterS: null }, null],
  ])("429 with %j", async (aim, retryAfter) => {
    const { status, headers } = await get(await faulty({ kind: "status", status: 429, ...aim }), "/invoices");
    expect([status, headers.get("retry-after"), headers.get("x-ratelimit-remaining")]).toEqual([
      429,
      retryAfter,
      "0",
    ]);
  });
});

const statuses = async (sandbox: Sandbox, ...paths: string[]) => {
  const heard: number[] = [];
  for (const path of paths) heard.push((await get(sandbox, path)).status);
  return heard;
};

describe("whom a fault strikes", () => {
  test("only the paths, methods and companies it names, so often and after so many, until it is taken away", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    const { control } = sandbox;
    control.fault({ kind: "status", status: 500, match: { path: /^\/orders\/\d+$/ } });
    const match = { path: "/invoices", method: "GET" };
    control.fault({ kind: "status", status: 503, match, after: 1, times: 2 });
    const mend = control.fault({ kind: "status", status: 404, match: { company: 1 } });
    const theirs = { token: sandbox.companies[1]?.token ?? "" };
    expect(await statuses(sandbox, "/orders", "/orders/1")).toEqual([200, 500]);
    expect(await statuses(sandbox, ...Array.from({ length: 4 }, () => "/invoices"))).toEqual([
      200, 503, 503, 200,
    ]);
    expect((await get(sandbox, "/whoami", theirs)).status).toBe(404);
    mend();
    expect((await get(sandbox, "/whoami", theirs)).status).toBe(200);
  });

  test("as often as its probability says, decided by the random source passed in", async () => {
    const lots = [0.04, 0.5, 0.049, 0.05];
    const random = { next: () => lots.shift() ?? 1, uuid: () => "00000000-0000-4000-a000-000000000000" };
    const faults = [{ kind: "status", status: 500, probability: 0.05 }];
    const sandbox = await openSandbox({ random, faults });
    const paths = Array.from({ length: 5 }, () => "/whoami");
    expect(await statuses(sandbox, ...paths)).toEqual([500, 200, 500, 200, 200]);
  });
});

test("a function gives another answer in place of the whole one", async () => {
  const { answer } = odd("echo_token");
  const heard = await get(await faulty({ kind: "odd", answer }), "/invoices");
  expect([heard.status, heard.json["token"]]).toEqual([500, expect.stringMatching(/sandboxwrite/)]);
});

test("ties come in another order each time, all else in order", async () => {
  const sandbox = await openSandbox({ records: 1_000, faults: [{ kind: "shuffled_ties" }] });
  const page = async () => (await get(sandbox, "/invoices?perPage=200&page=2")).data;
  const [once, again] = [await page(), await page()];
  expect(once.map(({ id }) => id)).not.toEqual(again.map(({ id }) => id));
  const dates = once.map(({ issueDate }) => String(issueDate));
  expect(dates).toEqual(dates.toSorted().toReversed());
});

/** A request as the wire shows it: its status, bytes of its body, and how it ended, or `silent`. */
function wire(sandbox: Sandbox, path: string, silentMs: number): Promise<[number | null, number, string]> {
  return new Promise((resolve) => {
    let [status, bytes]: [number | null, number] = [null, 0];
    const end = (how: string) => {
      clearTimeout(timer);
      sent.destroy();
      resolve([status, bytes, how]);
    };
    const headers = { Authorization: `Bearer ${sandbox.token}` };
    const sent = request(`${sandbox.url}${path}`, { agent: false, headers });
    const timer = setTimeout(() => end("silent"), silentMs);
    sent.on("error", () => end("broken"));
    sent.on("response", (response) => {
      status = response.statusCode ?? null;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("error", () => end("broken"));
      response.on("end", () => end(response.complete ? "whole" : "broken"));
    });
    sent.end();
  });
}

describe("connections that break", () => {
  test.each<[Fault, number | null, number, string]>([
    [{ kind: "reset", when: "before" }, null, 0, "broken"],
    [{ kind: "reset", when: "headers" }, 200, 0, "broken"],
    [{ kind: "reset", when: "half" }, 200, 100, "broken"],
    [{ kind: "hang", when: "before" }, null, 0, "silent"],
    [{ kind: "hang", when: "half" }, 200, 100, "silent"],
  ])("%j", async (fault, status, atLeast, how) => {
    const sandbox = await faulty(fault);
    const [sent, bytes, end] = await wire(sandbox, "/units", fault.kind === "hang" ? 2_000 : 60_000);
    expect([sent, end]).toEqual([status, how]);
    expect(bytes).toBeGreaterThanOrEqual(atLeast);
    await sandbox.close();
  });

  test("added latency is waited for by the clock passed in", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep };
    const faults = [{ kind: "latency", latencyMs: 200 }];
    await get(await openSandbox({ clock, latencyMs: 10, faults }), "/whoami");
    expect(waits).toEqual([105, 105]);
  });
});

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
    ["resett:0.1", "Did you mean reset"],
    ["500:2", "probability above 1"],
    ["latency", "needs a number"],
    ["reset=later", "moments"],
    ["200:0.1", "unknown fault 200"],
    ["500;503", "cannot be read"],
  ])("%s is refused, and the message says why", (text, why) => {
    expect(() => parseFaults(text)).toThrow(
      expect.objectContaining({ kind: "usage", message: expect.stringContaining(why) as string }) as Error,
    );
  });
});
