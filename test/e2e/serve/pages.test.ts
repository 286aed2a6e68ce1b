import { describe, expect, test } from "vitest";
import { aCompany } from "../../support/company/company.ts";
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
import { eventually } from "../../support/eventually.ts";

async function metric({ url }: Served, sample: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`fintoro_mirror_${sample} `));
  return line?.split(" ").at(-1);
}

/** A look at a mirror may be some hundred milliseconds old. */
async function shows(daemon: Served, sample: string, value: string): Promise<void> {
  await eventually(async () => (await metric(daemon, sample)) === value, `${sample} ${value}`);
}

async function ready(daemon: Served): Promise<void> {
  await eventually(async () => (await fetch(`${daemon.url}/readyz`)).status === 200, "ready");
}

describe("what serve shows of itself", () => {
  test("is shown by status too, and its lasting parts survive a kill", async () => {
    const company = await aCompany();
    writeServeConfig(company);
    const daemon = await serve(company);
    await ready(daemon);
    const client = Number(inMirror(company, "SELECT min(id) FROM clients"));
    const event = eventAbout("clients.updated", "client", client);
    expect(await deliver(daemon, event, { secret: "whsec_of_somebody_else" })).toBe(401);
    expect(await deliver(daemon, event)).toBe(204);
    expect(await deliver(daemon, event, { to: "acmee" })).toBe(404);
    await shows(daemon, 'stray_requests_total{status="404"}', "1");
    await shows(daemon, 'deliveries_total{company="acme",result="401"}', "1");
    await shows(daemon, 'deliveries_total{company="acme",result="stored"}', "1");
    await shows(daemon, 'events_waiting{company="acme"}', "0");
    const stored = "SELECT value ->> 'state' FROM _meta WHERE key = 'service'";
    await eventually(() => inMirror(company, stored) === "working", "the state of the service, for status");
    expect(await statusOf(company)).toMatchObject({
      code: 0,
      events: {
        listening: true,
        gaps: [],
        mayBeLost: false,
        counts: { done: 1 },
        service: { state: "working" },
      },
    });
    daemon.child.kill("SIGKILL");
    await gone(daemon.child);
    expect((await statusOf(company)).events).toMatchObject({
      listening: false,
      gaps: [{ to: null, cause: "killed" }],
    });
    const next = await serveHere(company);
    await ready(next);
    await shows(next, 'last_run_complete{company="acme"}', "1");
    expect((await statusOf(company)).events).toMatchObject({ listening: true, gaps: [{ cause: "killed" }] });
    expect((await next.end("SIGTERM")).code).toBe(0);
    expect((await statusOf(company)).events?.gaps.at(-1)).toMatchObject({ to: null, cause: "stopped" });
  });
});
