import { expect, test } from "vitest";
import { aMirroredCompany, type Company } from "../../support/company/company.ts";
import { everyNameLeadsTo } from "../../support/http/names.ts";
import { eventually } from "../../support/eventually.ts";
import { jsonLines, runCommand } from "../../support/program/cli.ts";
import { impatientClock } from "../../support/program/daemon.ts";
import {
  deliver,
  eventAbout,
  gone,
  inMirror,
  serve,
  serveHere,
  statusOf,
  writeServeConfig,
  type Served,
} from "../../support/program/serve.ts";
import { openSink, type Received } from "../../support/sandbox/webhook-sink.ts";
import { serviceIds } from "../../support/truth/equal.ts";

const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const quiet = "schedule: { sync: off, publish: off }";

const idsOf = (all: readonly Received[]) => all.map(({ headers }) => headers["webhook-id"]);

/** The service changes one of its clients, counted from 0, and says so. */
async function changeClient(company: Company, served: Pick<Served, "url">, index: number) {
  const id = serviceIds(company, "clients")[index] ?? 0;
  company.sandbox.control.update("clients", id, { name: "Changed" });
  expect(await deliver(served, eventAbout("clients.updated", "client", id))).toBe(204);
}

const started = (company: Company) =>
  eventually(
    () => inMirror(company, "SELECT count(*) FROM _meta WHERE key LIKE 'notify %'") === 1,
    "a position",
  );

// Fault: process | kill -9 of `serve` while a receiver answers 2xx to a change | a real serve with a receiver of changes | that change alone is sent again, with the same webhook-id; every other one once and in order
test("a kill between an answer and its note sends that change again with its id, and no other", async () => {
  const company = await aMirroredCompany({ records: 5 });
  const sink = await openSink();
  writeServeConfig(
    company,
    `notify: [{ url: "${sink.url}", secret: ${key}, tables: [clients], allow_private: true }]\n${quiet}`,
  );
  const { child, ...killed } = await serve(company);
  await started(company);
  sink.treat((_, index) => {
    if (index === 1) child.kill("SIGKILL");
    return 204;
  });
  await changeClient(company, killed, 0);
  await sink.arrived(1);
  await changeClient(company, killed, 1);
  await gone(child);
  const served = await serveHere(company, { clock: impatientClock });
  await changeClient(company, served, 2);
  await sink.arrived(4);
  const ids = idsOf(sink.received);
  expect(ids[2]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(3);
  expect((await served.end("SIGTERM")).code).toBe(0);
  const { stdout } = await runCommand(["changes", "--since", String(ids[0]), "--resource", "clients"], {
    cwd: company.folder,
  });
  const later = sink.received.slice(2).map(({ json }) => json["data"]);
  expect(later).toEqual(jsonLines(stdout));
});

// Fault: network | the name of a receiver is made to lead to a private network | DNS, under a real serve | nothing is sent, and `status` says why
test("a name that leads to a private network gets nothing, and status says so", async () => {
  everyNameLeadsTo("10.0.0.1");
  const company = await aMirroredCompany({ records: 5 });
  writeServeConfig(company, `notify: [{ url: "https://erp.example.com/hooks", secret: ${key} }]\n${quiet}`);
  const served = await serveHere(company, { clock: impatientClock });
  await started(company);
  await changeClient(company, served, 0);
  await served.until("a change was not taken");
  await eventually(
    async () => (await statusOf(company)).receivers[0]?.position?.refuses === true,
    "its refusal",
  );
  const status = await statusOf(company);
  expect(status?.receivers).toMatchObject([{ waiting_since: expect.any(String) }]);
  expect(status?.conditions.find(({ subject }) => subject === "notify")).toMatchObject({
    kind: "stale",
    blocks: false,
    message: expect.stringContaining("a private network"),
  });
});
