import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { parseFaults } from "../../connectors/fintoro/sandbox/faults/parse.ts";
import type { Fault } from "../../connectors/fintoro/sandbox/faults/fault.ts";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { get, openSandbox, type Dict } from "../support/sandbox.ts";

const faulty = (fault: Fault) => openSandbox({ faults: [fault] });

interface Wire {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** How it ended: the whole answer, a broken connection, or nothing within `patienceMs`. */
  readonly end: "whole" | "broken" | "silent";
}

/** A request as the wire shows it, broken answers included. */
function wire(sandbox: Sandbox, path: string, patienceMs = 300): Promise<Wire> {
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
    const timer = setTimeout(() => end("silent"), patienceMs);
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

  test("as often as its probability says, decided by the chance passed in", async () => {
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

function paginator(heard: { readonly json: Dict }): Dict {
  return heard.json["paginator"] as Dict;
}

describe("lists that lie", () => {
  test("nothing with 200, while the paginator still counts", async () => {
    const heard = await get(await faulty({ kind: "empty_list" }), "/invoices");
    expect([heard.status, heard.data]).toEqual([200, []]);
    expect(paginator(heard)["totalResults"]).toBe(31);
  });

  test("another page than asked, a next page without end, totals that change", async () => {
    expect(paginator(await get(await faulty({ kind: "wrong_page" }), "/invoices"))["currentPage"]).toBe(2);
    const endless = paginator(await get(await faulty({ kind: "endless_pages" }), "/invoices?page=90"));
    expect(endless["totalPages"]).toBe(91);
    expect(endless["nextPageUrl"]).toContain("page=91");
    const sandbox = await faulty({ kind: "changing_totals" });
    const totals = [];
    for (let i = 0; i < 4; i++) totals.push(paginator(await get(sandbox, "/invoices"))["totalResults"]);
    expect(new Set(totals)).toEqual(new Set([31, 32]));
  });

  test("a record twice", async () => {
    const { data } = await get(await faulty({ kind: "duplicate_ids" }), "/invoices");
    expect(data[0]).toEqual(data[1]);
    expect(data).toHaveLength(11);
  });

  test("ties in another order each time, so that pages overlap; all else in order", async () => {
    const sandbox = await openSandbox({ records: 4_000, faults: [{ kind: "shuffled_ties" }] });
    const page = async () => (await get(sandbox, "/invoices?perPage=500&page=2")).data;
    const [first, second] = [await page(), await page()];
    expect(first.map(({ id }) => id)).not.toEqual(second.map(({ id }) => id));
    const dates = first.map(({ issueDate }) => String(issueDate));
    expect(dates).toEqual(dates.toSorted().toReversed());
  });
});

/** A list under a fault: as text, and its first record. */
async function first(fault: Fault): Promise<{ readonly text: string; readonly record: Dict }> {
  const heard = await get(await faulty(fault), "/invoices");
  return { text: heard.text, record: heard.data[0] ?? {} };
}

/** One record's id becomes text. */
function quotedId({ id }: Dict, text: string): string {
  return id === 501 ? text.replace('"id":501', '"id":"501"') : text;
}

describe("records that surprise", () => {
  test("without an id", async () => {
    expect((await first({ kind: "missing_ids" })).record).not.toHaveProperty("id");
  });

  test("with ids beyond what a double can tell apart", async () => {
    const { text } = await first({ kind: "huge_ids" });
    const ids = [...text.matchAll(/\{"id":(9007199254\d+),"uuid"/g)].map(([, id]) => BigInt(id ?? 0));
    expect(ids).toHaveLength(10);
    for (const id of ids) expect(id > 2n ** 53n).toBe(true);
    expect(new Set(ids).size).toBe(10);
  });

  test("with values and fields of another version, and without some of this one", async () => {
    expect((await first({ kind: "unknown_values" })).record).toMatchObject({
      type: "brand_new_value",
      status: "brand_new_value",
    });
    expect((await first({ kind: "unknown_fields" })).record).toMatchObject({
      brandNewField: { deep: [1, "ň", null] },
    });
    expect((await first({ kind: "missing_fields" })).record).not.toHaveProperty("number");
  });

  test("with a __proto__ of their own", async () => {
    const { record } = await first({ kind: "proto_key" });
    expect(Object.keys(record)).toContain("__proto__");
    expect(({} as Dict)["polluted"]).toBeUndefined();
  });

  test("with numbers that only text keeps", async () => {
    const { text } = await first({ kind: "number_literals" });
    for (const literal of [
      "9007199254740993",
      '"total":1e3',
      '"totalWithVat":0.10',
      "0.1000000000000000055511151231257827",
    ]) {
      expect(text).toContain(literal);
    }
  });

  test("written anew by a function, in lists and alone", async () => {
    const sandbox = await faulty({ kind: "rewrite", rewrite: quotedId });
    expect((await get(sandbox, "/invoices?perPage=500")).text).toContain('"id":"501"');
    expect((await get(sandbox, "/invoices/501")).json["id"]).toBe("501");
    expect((await get(sandbox, "/invoices/500")).json["id"]).toBe(500);
  });
});

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

describe("faults as text", () => {
  test("a list of names with probabilities, details and paths", () => {
    expect(parseFaults("500:0.05, reset:0.01,latency:200")).toEqual([
      { kind: "status", status: 500, probability: 0.05 },
      { kind: "reset", probability: 0.01 },
      { kind: "latency", latencyMs: 200 },
    ]);
    expect(parseFaults("429=0:0.2@/invoices,429=-,hang=half,huge_body=1000,html,latency=5@/clients")).toEqual(
      [
        { kind: "status", status: 429, retryAfterS: 0, probability: 0.2, match: { path: "/invoices" } },
        { kind: "status", status: 429, retryAfterS: null, probability: 1 },
        { kind: "hang", when: "half", probability: 1 },
        { kind: "huge_body", sizeBytes: 1000, probability: 1 },
        { kind: "html", probability: 1 },
        { kind: "latency", latencyMs: 5, match: { path: "/clients" } },
      ],
    );
    expect(parseFaults("")).toEqual([]);
  });

  test.each([
    ["resett:0.1", "did you mean reset"],
    ["500:2", "probability above 1"],
    ["latency", "needs a number"],
    ["reset=later", "moments"],
    ["429=soon", "needs a number"],
    ["200:0.1", "names no known fault"],
    ["500;503", "cannot be read"],
  ])("%s is refused, and the message says why", (text, why) => {
    expect(() => parseFaults(text)).toThrow(
      expect.objectContaining({
        kind: "usage",
        message: expect.stringContaining(why) as string,
        hint: expect.stringContaining("500:0.05") as string,
      }) as Error,
    );
  });
});
