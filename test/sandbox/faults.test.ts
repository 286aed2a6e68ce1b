import { describe, expect, test } from "vitest";
import type { Fault } from "../../connectors/fintoro/sandbox/faults/service-fault.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";

const faulty = (fault: Fault) => openSandbox({ faults: [fault] });

/** Status, Retry-After and what remains, of a 429. */
async function refusal(retryAfterS?: number | null): Promise<unknown[]> {
  const aim = retryAfterS === undefined ? {} : { retryAfterS };
  const heard = await get(await faulty({ kind: "status", status: 429, ...aim }), "/invoices");
  return [heard.status, heard.headers.get("retry-after"), heard.headers.get("x-ratelimit-remaining")];
}

describe("statuses", () => {
  test.each([
    [401, "Unauthenticated."],
    [403, "This action is unauthorized."],
    [404, "No query results for model."],
    [422, "The given data was invalid."],
    [500, "Server Error"],
    [503, "Service Unavailable"],
  ])("%i comes in JSON with the service's words", async (status, message) => {
    const sandbox = await faulty({ kind: "status", status });
    const heard = await get(sandbox, "/invoices");
    expect([heard.status, heard.json]).toEqual([status, { message }]);
    expect(heard.headers.get("x-request-id")).not.toBeNull();
    const counted = status !== 401 && status !== 503;
    expect(heard.headers.get("x-ratelimit-remaining") !== null).toBe(counted);
  });

  test("429 comes with Retry-After, with 0, or without", async () => {
    expect(await refusal()).toEqual([429, "1", "0"]);
    expect(await refusal(17)).toEqual([429, "17", "0"]);
    expect(await refusal(0)).toEqual([429, "0", "0"]);
    expect(await refusal(null)).toEqual([429, null, "0"]);
  });
});

describe("whom a fault strikes", () => {
  test("only the paths, methods and companies it names, so often and after so many", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    sandbox.control.fault({ kind: "status", status: 500, match: { path: /^\/orders\/\d+$/ } });
    sandbox.control.fault({
      kind: "status",
      status: 503,
      match: { path: "/invoices", method: "GET" },
      after: 1,
      times: 2,
    });
    sandbox.control.fault({ kind: "status", status: 404, match: { company: 1 } });
    const statuses = async (...paths: string[]) => {
      const heard: number[] = [];
      for (const path of paths) heard.push((await get(sandbox, path)).status);
      return heard;
    };
    expect(await statuses("/orders", "/orders/1")).toEqual([200, 500]);
    expect(await statuses("/invoices", "/invoices", "/invoices", "/invoices")).toEqual([200, 503, 503, 200]);
    expect((await get(sandbox, "/whoami", { token: sandbox.companies[1]?.token ?? "" })).status).toBe(404);
    expect(await statuses("/whoami")).toEqual([200]);
  });

  test("as often as its probability says, decided by the random source passed in", async () => {
    const lots = [0.04, 0.5, 0.049, 0.05];
    const random = { next: () => lots.shift() ?? 1, uuid: () => "00000000-0000-4000-a000-000000000000" };
    const sandbox = await openSandbox({
      random,
      faults: [{ kind: "status", status: 500, probability: 0.05 }],
    });
    const heard: number[] = [];
    for (let i = 0; i < 5; i++) heard.push((await get(sandbox, "/whoami")).status);
    expect(heard).toEqual([500, 200, 500, 200, 200]);
  });

  test("until it is taken away", async () => {
    const sandbox = await openSandbox();
    const mend = sandbox.control.fault({ kind: "status", status: 500 });
    expect((await get(sandbox, "/whoami")).status).toBe(500);
    mend();
    expect((await get(sandbox, "/whoami")).status).toBe(200);
    sandbox.control.fault({ kind: "html" });
    sandbox.control.clearFaults();
    expect((await get(sandbox, "/whoami")).json).toHaveProperty("name");
  });
});

describe("answers that are not what the interface says", () => {
  test("HTML with 200", async () => {
    const heard = await get(await faulty({ kind: "html" }), "/invoices");
    expect(heard.status).toBe(200);
    expect(heard.headers.get("content-type")).toContain("text/html");
    expect(heard.text).toContain("<h1>");
  });

  test("JSON cut short, and JSON with rubbish behind it, each complete as HTTP", async () => {
    for (const kind of ["truncated", "invalid_json"] as const) {
      const heard = await get(await faulty({ kind }), "/invoices");
      expect(heard.headers.get("content-type")).toBe("application/json");
      expect(heard.text.startsWith('{"data":[')).toBe(true);
      expect(() => JSON.parse(heard.text) as unknown, kind).toThrow(SyntaxError);
    }
  });

  test("a wrong content type around right content", async () => {
    const heard = await get(await faulty({ kind: "content_type" }), "/invoices");
    expect(heard.headers.get("content-type")).toContain("text/plain");
    expect(heard.data).toHaveLength(10);
  });

  test("redirects, elsewhere and to itself", async () => {
    const away = await get(
      await faulty({ kind: "redirect", location: "http://127.0.0.1:9/x", status: 307 }),
      "/invoices",
    );
    expect([away.status, away.headers.get("location")]).toEqual([307, "http://127.0.0.1:9/x"]);
    const sandbox = await faulty({ kind: "redirect_same" });
    expect((await get(sandbox, "/invoices")).headers.get("location")).toBe(`${sandbox.url}/invoices`);
  });

  test("an error page that prints the token", async () => {
    const sandbox = await faulty({ kind: "echo_token" });
    const heard = await get(sandbox, "/invoices");
    expect(heard.status).toBe(500);
    expect(heard.text).toContain(sandbox.token);
  });
});
