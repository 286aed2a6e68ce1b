import { describe, expect, test } from "vitest";
import { jsonLines } from "../../support/program/cli.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import {
  deliver,
  eventAbout,
  inMirror,
  metricsOf,
  readyOf,
  serve,
  serveHere,
  wholeRuns,
  writeServeConfig,
} from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

function someClient(company: Company): number {
  return Number(inMirror(company, "SELECT min(id) FROM clients"));
}

describe("serve", () => {
  test("makes the mirror by itself, is ready then, and reads what an event is about within moments", async () => {
    const company = await aCompany({ records: 5 });
    writeServeConfig(company);
    const daemon = await serveHere(company);
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    await eventually(() => wholeRuns(company) === 1, "a first whole run");
    expectEqual(company);
    await eventually(async () => (await readyOf(daemon)).status === 200, "ready");
    const id = someClient(company);
    company.sandbox.control.alter("clients", id, { name: "Told by an event" });
    expect(await deliver(daemon, eventAbout("clients.updated", "client", id))).toBe(204);
    await eventually(
      () => inMirror(company, "SELECT name FROM clients WHERE id = ?", id) === "Told by an event",
      "the client's new name",
    );
    const stored = 'deliveries_total{company="acme",result="stored"} 1';
    await eventually(async () => (await metricsOf(daemon)).includes(stored), "the delivery, counted");
    const { code, stdout } = await daemon.end("SIGTERM");
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([{ url: daemon.url, pid: process.pid, companies: ["acme"] }]);
    expect(inMirror(company, "SELECT ended FROM _receiver")).toBe("drained");
  });

  // Fault: process | SIGTERM in the middle of the first run and of deliveries | `serve`, and the next one | what was answered is kept; the run continues later
  test("a signal in the middle of its first run and of deliveries: what was answered is kept, the run goes on later", async () => {
    const company = await aCompany();
    writeServeConfig(company);
    const stopping = Promise.withResolvers<void>();
    company.proxy.obstruct(async ({ path }) => {
      if (path.startsWith("/invoices/")) await stopping.promise;
      return undefined;
    });
    const first = await serveHere(company);
    await eventually(() => Number(inMirror(company, "SELECT count(*) FROM invoices")) > 0, "some invoices");
    const sent = Array.from({ length: 20 }, (_, n) => eventAbout("clients.updated", "client", n + 1));
    const answers = Promise.all(sent.map((event) => deliver(first, event).catch(() => 0)));
    expect(await deliver(first, eventAbout("clients.updated", "client", 1))).toBe(204);
    const ended = first.end("SIGTERM");
    await first.until("stopping at the next safe point");
    stopping.resolve();
    expect((await ended).code).toBe(0);
    const statuses = await answers;
    expect(statuses).toContain(204);
    for (const [n, { id }] of sent.entries())
      if (statuses[n] === 204)
        expect(inMirror(company, "SELECT 1 FROM _inbox WHERE event_id = ?", id)).toBe(1);
    expect(wholeRuns(company)).toBe(0);
    const second = await serve(company);
    await eventually(() => wholeRuns(company) === 1, "the run gone on with");
    expect(inMirror(company, "SELECT resumes FROM _runs ORDER BY id DESC LIMIT 1")).not.toBeNull();
    expect((await second.end("SIGINT")).code).toBe(130);
    expectEqual(company);
  });

  // Fault: service | away, or the token refused, when `serve` starts | a proxy before `serve` | it receives and says so, and catches up by itself
  test("receives from the start while the service is away or refuses the token, says so, and catches up by itself", async () => {
    const company = await aCompany({ records: 5 });
    writeServeConfig(company);
    const unauthenticated = { status: 401, headers: {}, body: Buffer.from('{"message":"Unauthenticated."}') };
    company.proxy.obstruct(() => unauthenticated);
    const daemon = await serveHere(company);
    await eventually(
      () => inMirror(company, "SELECT 1 FROM _meta WHERE value LIKE '%unauthenticated%'") === 1,
      "noted",
    );
    expect(await deliver(daemon, eventAbout("clients.updated", "client", 1))).toBe(204);
    expect(await readyOf(daemon)).toMatchObject({ status: 503, acme: { service: "unauthenticated" } });
    expect(wholeRuns(company)).toBe(0);
    await daemon.end("SIGTERM");
    company.recover();
    const later = await serveHere(company);
    await eventually(() => wholeRuns(company) === 1, "a whole run");
    await later.end("SIGTERM");
    expectEqual(company);
  });
});
