import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { aCompany, aMirroredCompany, sync } from "../support/company/company.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";
import { floorOf, truthOf } from "../support/truth/truth.ts";
import { jsonReply, rewritten, startProxy, type Breakage, type Reply } from "../support/company/proxy.ts";
import { odd } from "../support/sandbox/odd-answers.ts";

/** Answers that fail once in a while. */
const hiccups: readonly (Reply | Breakage)[] = [
  jsonReply(500, { message: "Server Error" }),
  jsonReply(503, { message: "Service Unavailable" }, { "retry-after": "0" }),
  "reset",
  "half",
  { status: 200, headers: { "content-type": "text/html" }, body: Buffer.from("<h1>Soon</h1>") },
  ...['{"data":[{"id":1,"name":"A', "},{", "", "null"].map((text) => jsonReply(200, text)),
  jsonReply(200, { message: "ok" }),
  jsonReply(200, { data: { id: 1 } }),
  // No UTF-8.
  { ...jsonReply(200, ""), body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
];

// Fault: service | every third answer fails: 500, 503 with Retry-After 0, HTML with 200, damaged JSON, bytes that are no UTF-8 | a proxy before the service, during a first run | the request is repeated; the run is complete and the mirror equal
// Fault: network | every 36th connection is reset, or its body cut off half-way | a proxy before the service, during a first run | the request is repeated; the run is complete and the mirror equal
test("answers that fail in twelve ways cost a repetition each and nothing else, of lists and of details", async () => {
  const company = await aCompany({ records: 40 });
  const asked = { list: 0, detail: 0 };
  company.proxy.obstruct(({ path }) => {
    const n = (asked[/\/\d+$/.test(path) ? "detail" : "list"] += 1);
    return n % 3 === 0 ? hiccups[(n / 3) % hiccups.length] : undefined;
  });
  const report = await sync(company);
  expect({ outcome: report.outcome, troubles: report.troubles }).toEqual({
    outcome: "complete",
    troubles: [],
  });
  expect(Math.min(asked.list, asked.detail)).toBeGreaterThanOrEqual(3 * hiccups.length);
  expectEqual(company);
});

describe("a service that fails", () => {
  // Fault: service | 500 for one resource, for good | a proxy, for the list of suppliers | the other tables are whole, the run is partial, the next one repairs it
  test("for one resource: the others are whole, the run is partial, the next one repairs it", async () => {
    const company = await aCompany();
    company.proxy.obstruct(({ path }) =>
      path === "/suppliers" ? jsonReply(500, { message: "Server Error" }) : undefined,
    );
    const tables = ["clients", "suppliers", "bank_accounts", "orders", "quotations"];
    const report = await sync(company, { resources: tables });
    expect(report).toMatchObject({ outcome: "partial", troubles: [{ resource: "suppliers", kind: "dead" }] });
    expectEqual(company, { tables: tables.filter((table) => table !== "suppliers") });
    await expectHealed(company, { resources: tables, tables });
  });
});

describe("an answer without an end", () => {
  // Fault: network | a connection that hangs, twice | a proxy, for a list | given up after the deadline and asked again; the run is complete
  test("a connection that hangs is given up after its time and asked again", async () => {
    const company = await aCompany();
    const resources = ["orders"];
    let hung = 0;
    company.proxy.obstruct(({ path }) => (path === "/orders" && ++hung <= 2 ? "hang" : undefined));
    expect((await sync(company, { timeoutMs: 300, resources })).outcome).toBe("complete");
    expect(hung).toBe(3);
    expectEqual(company, { tables: resources });
  });

  const big: Readonly<Record<string, () => Reply>> = {
    "a body over the cap": () => jsonReply(200, `{"data":["${" ".repeat(30_000_000)}"]}`),
    "a gzip bomb": () => {
      const body = gzipSync(`{"data":["${" ".repeat(100_000_000)}"]}`);
      return { ...jsonReply(200, "", { "content-encoding": "gzip" }), body };
    },
  };
  // Fault: service | a body over the cap, and a gzip bomb | a proxy, for one list | the answer is broken off, the others are whole, the next run heals
  test.each(Object.entries(big))(
    "%s is broken off; the others are whole; the next run heals",
    async (_name, replyOf) => {
      const company = await aCompany();
      const reply = replyOf();
      company.proxy.obstruct(({ path }) => (path === "/suppliers" ? reply : undefined));
      const resources = ["clients", "suppliers", "orders"];
      const report = await sync(company, { maxResponseBytes: 2_000_000, resources });
      expect(report.outcome).toBe("partial");
      expect(report.troubles).toEqual([expect.objectContaining({ resource: "suppliers", kind: "dead" })]);
      expectEqual(company, { tables: ["clients", "orders"] });
      await expectHealed(company, { resources, tables: resources });
    },
  );
});

describe("a redirect elsewhere", () => {
  // Fault: secrets | a redirect to another origin | a proxy, for a list | not followed: nothing arrives there, and no message has the token (I9)
  test("is not followed: the token never arrives there (I9)", async () => {
    const company = await aCompany();
    const elsewhere = await startProxy(company.sandbox);
    company.proxy.obstruct(({ path, target }) =>
      path === "/suppliers"
        ? { status: 302, headers: { location: elsewhere.baseUrl + target }, body: Buffer.alloc(0) }
        : undefined,
    );
    onTestFinished(() => elsewhere.close());
    const report = await sync(company, { resources: ["clients", "suppliers", "orders"] });
    expect(report.outcome).toBe("partial");
    expect(elsewhere.asked).toEqual([]);
    expect(JSON.stringify(report.troubles)).not.toContain(company.sandbox.token);
  });
});

describe("lists that are wrong", () => {
  // Fault: pagination | lists with empty data, and totals that say otherwise | a proxy, for five lists of a filled mirror | nothing is deleted, the run reports it, the next one is whole (I5)
  test("an empty answer with 200 deletes nothing, and the run reports it (I5)", async () => {
    const company = await aMirroredCompany({ records: 60 });
    company.proxy.obstruct(async ({ path }, passOn) =>
      /^\/(clients|invoices|countries|qr-types|warehouses)$/.test(path)
        ? rewritten(await passOn(), (text) => text.replace(/"data":\[.*\](?=[,}])/s, '"data":[]'))
        : undefined,
    );
    const report = await sync(company);
    expect(report.outcome).toBe("partial");
    const troubled = report.troubles.map(({ resource }) => resource);
    expect(troubled).toEqual(expect.arrayContaining(["clients", "invoices", "countries", "qr_types"]));
    expect(count(company.file, "SELECT count(*) FROM _changes WHERE op = 'delete'")).toBe(0);
    await expectHealed(company);
  });

  // Fault: pagination | lists that are empty and say so in their totals | a proxy, for seven lists of a filled mirror | nothing is deleted, the resources are held (I5)
  test("a consistent empty answer (data and totals) deletes nothing either (I5)", async () => {
    const company = await aMirroredCompany({ records: 60 });
    company.proxy.obstruct(async ({ path }, passOn) =>
      /^\/(countries|currencies|clients|suppliers|bank-accounts|orders|invoices)$/.test(path)
        ? emptied(await passOn())
        : undefined,
    );
    const report = await sync(company);
    expect(count(company.file, "SELECT count(*) FROM _changes WHERE op = 'delete'")).toBe(0);
    expect(report.troubles.filter(({ kind }) => kind === "held").map(({ resource }) => resource)).toContain(
      "invoices",
    );
    await expectHealed(company);
  });

  // Fault: pagination | a record twice | the sandbox, for documents and clients | a bounded number of requests, nothing deleted, the next run heals
  test("a record twice: bounded, nothing deleted, the others whole, healed afterwards", async () => {
    const company = await aMirroredCompany();
    company.suffer({ ...odd("duplicate_ids"), match: { path: /^\/(invoices|orders|clients)$/ } });
    const report = await sync(company);
    expect(company.proxy.asked.length).toBeLessThan(floorOf(truthOf(company.sandbox)).lists.length + 40);
    expect(count(company.file, "SELECT count(*) FROM _changes WHERE op = 'delete'")).toBe(0);
    expect(report.resources["proformas"]).toMatchObject({ failed: 0, pending: 0 });
    await expectHealed(company);
  });

  // Fault: data | records without an id | the sandbox, for one list | kept in quarantine; the others are mirrored; healed when the ids are back (I12)
  test("records without ids are kept in quarantine, and the others are mirrored (I12)", async () => {
    const company = await aCompany();
    const some = { resources: ["suppliers", "orders"], tables: ["suppliers", "orders"] };
    company.suffer({ ...odd("missing_ids"), match: { path: "/suppliers" } });
    const report = await sync(company, some);
    expect(report.outcome).toBe("partial");
    expect(
      count(company.file, "SELECT count(*) FROM _quarantine WHERE resource = 'suppliers'"),
    ).toBeGreaterThan(0);
    expectEqual(company, { tables: ["orders"] });
    await expectHealed(company, some);
    expect(count(company.file, "SELECT count(*) FROM _quarantine")).toBe(0);
  });
});

function emptied(reply: Reply): Reply {
  return rewritten(reply, (text) => {
    const answer = JSON.parse(text) as { data: unknown[]; paginator?: Record<string, unknown> };
    const paginator = answer.paginator && {
      ...answer.paginator,
      totalResults: 0,
      totalPages: 1,
      currentFrom: 0,
      currentTo: 0,
    };
    return JSON.stringify({ data: [], ...(paginator && { paginator }) });
  });
}
