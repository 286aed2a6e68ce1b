import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines, runCommand } from "../../support/program/cli.ts";
import { aCompany, aMirroredCompany, type Company } from "../../support/company/company.ts";
import { count, expectEqual } from "../../support/truth/equal.ts";
import { serve, serveHere, writeServeConfig } from "../../support/program/serve.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { inMirror, metricsOf, readyOf, wholeRuns, statusOf } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";
import { everyNameLeadsTo } from "../../support/http/names.ts";
import { impatientClock } from "../../support/program/daemon.ts";
import { openSink } from "../../support/sandbox/webhook-sink.ts";

function someClient(company: Company): number {
  return Number(inMirror(company, "SELECT min(id) FROM clients"));
}

describe("serve", () => {
  test("makes the mirror by itself, is ready then, on its page, too, and reads what an event is about within moments", async () => {
    const company = writeServeConfig(await aCompany({ records: 5 }));
    const daemon = await serveHere(company);
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    await eventually(() => wholeRuns(company) === 1, "a first whole run");
    expectEqual(company);
    await eventually(async () => (await readyOf(daemon)).status === 200, "ready");
    const page = async () => (await fetch(`${daemon.url}/`)).text();
    // A page that takes long to make is shown for a while.
    await eventually(async () => (await page()).includes("Everything is fresh as of"), "a fresh page");
    const { budget_minutes: minutes, health } = await statusOf(company);
    const records = health?.resources.reduce((sum, { live }) => sum + live, 0);
    const text = await page();
    expect(text).toContain(`<strong>${records}</strong>`);
    const requests = minutes.reduce((sum, one) => sum + one.requests, 0);
    expect(requests).toBeGreaterThan(20);
    expect(text).toContain(`${requests} requests in the last hour`);
    const id = someClient(company);
    company.sandbox.control.alter("clients", id, { name: "Told by an event" });
    expect(await deliver(daemon, eventOf("clients.updated", id))).toBe(204);
    const name = () => inMirror(company, "SELECT name FROM clients WHERE id = ?", id);
    await eventually(() => name() === "Told by an event", "the client's new name");
    const stored = 'deliveries_total{company="acme",result="stored"} 1';
    await eventually(async () => (await metricsOf(daemon)).includes(stored), "the delivery, counted");
    const { code, stdout } = await daemon.end("SIGTERM");
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([{ url: daemon.url, pid: process.pid, companies: ["acme"] }]);
    expect(inMirror(company, "SELECT ended FROM _receiver")).toBe("drained");
  });

  // Fault: process | SIGTERM in the middle of the first run and of deliveries | `serve`, and the next one | what was answered is kept; the run continues later
  test("a signal in the middle of its first run and of deliveries: what was answered is kept, the run goes on later", async () => {
    const company = writeServeConfig(await aCompany());
    const stopping = Promise.withResolvers<void>();
    company.proxy.obstruct(async ({ path: asked }) => {
      if (asked.startsWith("/invoices/")) await stopping.promise;
      return undefined;
    });
    const first = await serveHere(company);
    await eventually(() => Number(inMirror(company, "SELECT count(*) FROM invoices")) > 0, "some invoices");
    const sent = Array.from({ length: 20 }, (_, n) => eventOf("clients.updated", n + 1));
    const answers = Promise.all(sent.map((event) => deliver(first, event).catch(() => 0)));
    expect(await deliver(first, eventOf("clients.updated", 1))).toBe(204);
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
    const second = await serveHere(company);
    await eventually(() => wholeRuns(company) === 1, "the run gone on with");
    expect(inMirror(company, "SELECT resumes FROM _runs ORDER BY id DESC LIMIT 1")).not.toBeNull();
    expect((await second.end("SIGINT")).code).toBe(130);
    expectEqual(company);
  });

  // Fault: service | away, or the token refused, when `serve` starts | a proxy before `serve` | it receives and says so, and catches up by itself
  test("receives from the start while the service is away or refuses the token, says so, also where alerts go, and catches up by itself", async () => {
    const [company, sink] = [await aCompany({ records: 5 }), await openSink()];
    writeServeConfig(company, `alerts: [{ when: [failed], url: "${sink.url}" }]`);
    const unauthenticated = { status: 401, headers: {}, body: Buffer.from('{"message":"Unauthenticated."}') };
    company.proxy.obstruct(() => unauthenticated);
    const daemon = await serveHere(company, { clock: impatientClock });
    const note = "SELECT 1 FROM _meta WHERE value LIKE '%unauthenticated%'";
    await eventually(() => inMirror(company, note) === 1, "noted");
    expect(await deliver(daemon, eventOf("clients.updated", 1))).toBe(204);
    await expect
      .poll(() => readyOf(daemon))
      .toMatchObject({ status: 503, acme: { service: "unauthenticated" } });
    await sink.arrived(1);
    expect(sink.received[0]?.json).toMatchObject({ event: "begin", kind: "failed", company: "acme" });
    expect(wholeRuns(company)).toBe(0);
    await daemon.end("SIGTERM");
    company.recover();
    const later = await serveHere(company);
    await eventually(() => wholeRuns(company) === 1, "a whole run");
    await later.end("SIGTERM");
    expectEqual(company);
  });
});

test("beyond this machine it shows nothing until a token is set; deliveries and probes go on", async () => {
  const company = writeServeConfig(await aCompany({ records: 3 }));
  const daemon = await serveHere(company, { args: ["--listen", "0.0.0.0:0"] });
  const url = daemon.url.replace("0.0.0.0", "127.0.0.1");
  const get = async (path_: string, headers: Record<string, string> = {}) => fetch(url + path_, { headers });
  const refused = await get("/");
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("serve.page_token");
  expect((await get("/healthz")).status).toBe(200);
  expect(await deliver({ url }, eventOf("clients.updated", 1))).toBe(204);
  const token = "a-token-of-the-pages-0123";
  writeFileSync(path.join(company.folder, "page.token"), `${token}\n`, { mode: 0o600 });
  writeServeConfig(company, 'serve: { page_token: "${file:page.token}" }\n');
  daemon.send("SIGHUP");
  await eventually(async () => (await get("/")).status === 401, "the token asked for");
  expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(200);
  writeFileSync(path.join(company.folder, "page.token"), "another-token-of-the-pages\n");
  expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(401);
});

// Fault: network | a proxy that sends no forwarding header and speaks HTTP/1.1 (a current nginx) | a request to `serve` as that proxy sends it | no record value without the token
test("behind a proxy that looks like this machine it shows nothing without the token that serve made", async () => {
  const company = await aCompany({ records: 3 });
  const { token } = company.sandbox;
  writeServeConfig(company, "", [
    { name: "acme", token, publicUrl: "https://hooks.example.com/webhooks/acme" },
  ]);
  const daemon = await serveHere(company);
  const file = path.join(company.folder, "page-token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const made = readFileSync(file, "utf8").trim();
  for (const page of ["/", "/companies/acme", "/companies/acme/changes?q=a"])
    expect([page, (await fetch(daemon.url + page)).status]).toEqual([page, 403]);
  for (const probe of ["/healthz", "/readyz", "/metrics"])
    expect((await fetch(daemon.url + probe)).status).not.toBe(403);
  const shown = await fetch(`${daemon.url}/companies/acme`, { headers: { authorization: `Bearer ${made}` } });
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining("acme")]);
  expect(daemon.said().filter((line) => JSON.stringify(line).includes(made))).toEqual([]);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  await serveHere(company);
  expect(readFileSync(file, "utf8").trim()).toBe(made);
});

// Fault: network | the name of a receiver is made to lead to a private network | DNS, under a real serve | nothing is sent, and `status` says why
test("a name that leads to a private network gets nothing, and status says so", async () => {
  everyNameLeadsTo("10.0.0.1");
  const company = await aMirroredCompany({ records: 5 });
  const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const receiver = `{ url: "https://erp.example.com/hooks", secret: ${key} }`;
  writeServeConfig(company, `notify: [${receiver}]\nschedule: { sync: off, publish: off }`);
  const served = await serveHere(company, { clock: impatientClock });
  const begun = "SELECT count(*) FROM _meta WHERE key LIKE 'notify %'";
  await eventually(() => inMirror(company, begun) === 1, "a position");
  const id = someClient(company);
  company.sandbox.control.update("clients", id, { name: "Changed" });
  expect(await deliver(served, eventOf("clients.updated", id))).toBe(204);
  await served.until("a change was not taken");
  const message = expect.stringContaining("a private network") as string;
  const waits = { kind: "stale", subject: "notify", blocks: false, message };
  await expect
    .poll(() => statusOf(company))
    .toMatchObject({
      receivers: [{ waiting_since: expect.any(String) as string, position: { refuses: true } }],
      conditions: expect.arrayContaining([expect.objectContaining(waits)]) as object[],
    });
});

const missing = `SELECT count(*) FROM invoices i WHERE _deleted_at IS NULL AND NOT EXISTS
  (SELECT 1 FROM document_files f WHERE f.document = 'invoices' AND f.document_id = i.id)`;

const isFile = ({ path: asked }: { readonly path: string }) => /\/(?:pdf|attachments)$/.test(asked);

const filesInReport = ({ folder }: Company) =>
  count(`${folder}/acme.report.db`, "SELECT count(*) FROM document_files WHERE document = 'invoices'");

test("after its run `serve` fetches the files, and the report names them", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, "schedule: { sync: off }\nfiles: { pdf: on }");
  const daemon = await serve(company);
  const invoices = () => Number(inMirror(company, "SELECT count(*) FROM invoices"));
  await eventually(() => invoices() > 0 && inMirror(company, missing) === 0, "the files");
  await eventually(() => filesInReport(company) === invoices(), "the report");
  expect(company.proxy.asked.filter(({ path: asked }) => asked.endsWith("/attachments"))).toEqual([]);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  const { after_run: steps, files } = await statusOf(company);
  expect(steps).toContainEqual(expect.objectContaining({ step: "files", error: null }));
  expect(files).toMatchObject({ pending: 0, problems: 0 });
});

test("`sync` fetches files last of all, and the report names them", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, "files: { pdf: on, attachments: on }\nschedule: { publish: after_sync }");
  const { code, stderr } = await runCommand(["sync"], { cwd: company.folder });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(inMirror(company, missing)).toBe(0);
  expect(filesInReport(company)).toBe(inMirror(company, "SELECT count(*) FROM invoices"));
  const first = company.proxy.asked.findIndex(isFile);
  const later = company.proxy.asked.slice(first).filter((asked) => !isFile(asked));
  expect(later.map(({ path: asked }) => asked)).toEqual([]);
});
