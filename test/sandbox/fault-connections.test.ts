import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Fault } from "../../connectors/fintoro/sandbox/faults/service-fault.ts";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";

const faulty = (fault: Fault) => openSandbox({ faults: [fault] });

interface Wire {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** How it ended: the whole answer, a broken connection, or nothing within `withinMs`. */
  readonly end: "whole" | "broken" | "silent";
}

/** A request as the wire shows it, broken answers included. */
function wire(sandbox: Sandbox, path: string, withinMs = 300): Promise<Wire> {
  return new Promise((resolve) => {
    let [status, headers, body]: [number | null, Wire["headers"], string] = [null, {}, ""];
    const end = (how: Wire["end"]) => {
      clearTimeout(timer);
      sent.destroy();
      resolve({ status, headers, body, end: how });
    };
    const sent = request(`${sandbox.url}${path}`, {
      agent: false,
      headers: { Authorization: `Bearer ${sandbox.token}` },
    });
    const timer = setTimeout(() => end("silent"), withinMs);
    sent.on("error", () => end("broken"));
    sent.on("response", (response) => {
      status = response.statusCode ?? null;
      headers = response.headers;
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.on("error", () => end("broken"));
      response.on("end", () => end(response.complete ? "whole" : "broken"));
    });
    sent.end();
  });
}

describe("connections that break", () => {
  test.each([
    ["before", null, 0],
    ["headers", 200, 0],
    ["half", 200, 100],
  ] as const)("reset %s", async (when, status, atLeast) => {
    const heard = await wire(await faulty({ kind: "reset", when }), "/invoices");
    expect(heard.end).toBe("broken");
    expect(heard.status).toBe(status);
    expect(heard.body.length).toBeGreaterThanOrEqual(atLeast);
  });

  test("a silent server, and one that falls silent halfway; neither keeps close() waiting", async () => {
    for (const when of ["before", "half"] as const) {
      const sandbox = await faulty({ kind: "hang", when });
      const heard = await wire(sandbox, "/invoices");
      expect([heard.end, heard.status]).toEqual(["silent", when === "before" ? null : 200]);
      const waiting = wire(sandbox, "/invoices", 5_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await sandbox.close();
      expect((await waiting).end).toBe("broken");
    }
  });

  test("a slow drip is whole in the end", async () => {
    const heard = await wire(await faulty({ kind: "drip", chunkBytes: 40, everyMs: 1 }), "/units", 5_000);
    expect([heard.end, heard.status]).toEqual(["whole", 200]);
    expect(JSON.parse(heard.body)).toHaveProperty("data");
  });

  test("a body far larger than asked for, plain or packed small", async () => {
    const huge = await get(await faulty({ kind: "huge_body", sizeBytes: 3_000_000 }), "/units");
    expect(huge.text.length).toBeGreaterThan(3_000_000);
    expect(huge.data).toHaveLength(1);
    const sandbox = await faulty({ kind: "gzip_bomb", sizeBytes: 20_000_000 });
    const packed = await wire(sandbox, "/units", 5_000);
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(packed.body.length).toBeLessThan(200_000);
    expect((await get(sandbox, "/units")).text.length).toBeGreaterThan(20_000_000);
  });

  test("added latency is waited for by the clock passed in", async () => {
    const waits: number[] = [];
    const clock = {
      nowMs: () => 0,
      monotonicMs: () => 0,
      sleep: (ms: number) => {
        waits.push(ms);
        return Promise.resolve();
      },
    };
    const sandbox = await openSandbox({
      clock,
      latencyMs: 10,
      faults: [{ kind: "latency", latencyMs: 200 }],
    });
    await get(sandbox, "/whoami");
    expect(waits).toEqual([105, 105]);
  });
});
