import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { heartbeatMs } from "../../../src/state/uptime-log.ts";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany } from "../../support/company/company.ts";
import { serveHere, writeServeConfig } from "../../support/program/serve.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { inMirror, metricsOf, readyOf, statusOf, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

/** A company and its serve, whose clock the test sets (`set`: so far ahead) and lets pass (`wind`). */
async function receiving() {
  const company = await aCompany({ records: 3, allowLoopbackWebhooks: true });
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  let [aheadMs, passedMs] = [0, 0];
  const clock = {
    ...systemClock,
    nowMs: () => Date.now() + aheadMs + passedMs,
    monotonicMs: () => systemClock.monotonicMs() + passedMs,
  };
  const { url } = await serveHere(company, { clock });
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, "ready");
  const [set, wind] = [(ms: number) => void (aheadMs = ms), (ms: number) => void (passedMs += ms)];
  return { company, url, set, wind };
}

type Receiving = Awaited<ReturnType<typeof receiving>>;

async function readiness(here: Receiving) {
  const { status, acme, refused_elsewhere: elsewhere } = await readyOf(here);
  return { status, elsewhere, ...acme };
}

const linesOfMetrics = async (here: Receiving) => (await metricsOf(here)).split("\n");

const someEvent = () => eventOf("clients.updated", 1);

/** 400 s, and how long a delivery was on its way. */
const farAhead = expect.closeTo(440, -2) as number;

// Fault: clock | this machine's clock is 400 s ahead while deliveries come, then right again | the clock of a daemon | 401, `/readyz` 503 and status 3 name the clock; the time is a delivery gap; it ends when the clock is right
test("a clock that is off has every delivery refused: it is named, and the time is a gap", async () => {
  const here = await receiving();
  const { company } = here;
  const send = () => deliver(here, someEvent());
  expect(await send()).toBe(204);
  here.set(400_000);
  for (let i = 0; i < 3; i++) expect(await send()).toBe(401);
  const blamed = expect.stringMatching(/3 stale_timestamp; .*clock, 4\d\d s ahead/) as string;
  await expect
    .poll(() => readiness(here))
    .toMatchObject({
      status: 503,
      reasons: expect.arrayContaining([blamed]) as string[],
      refused: { stale_timestamp: 3 },
      clock_skew_seconds: farAhead,
    });
  const lines = await linesOfMetrics(here);
  expect(lines).toContain(
    'fintoro_mirror_refused_deliveries_total{company="acme",reason="stale_timestamp"} 3',
  );
  expect(lines).toContain('fintoro_mirror_deliveries_refused{company="acme"} 1');
  expect(lines.join("\n")).toMatch(/fintoro_mirror_clock_skew_seconds\{company="acme"\} 4\d\d\n/);
  const ended = () => inMirror(company, "SELECT ended FROM _receiver ORDER BY id DESC LIMIT 1");
  await eventually(() => ended() === "refused", "the end of receiving");
  const refused =
    /! 3 deliveries were refused since .*4\d\d s ahead[^]*listening, but every delivery is refused/;
  await expect
    .poll(() => runCommand(["status"], { cwd: company.folder }))
    .toMatchObject({ code: 3, stdout: expect.stringMatching(refused) as string });
  here.set(0);
  await eventually(async () => (await readiness(here)).status === 200, "ready again");
  await eventually(() => ended() === null, "a new span");
  expect(await send()).toBe(204);
  expect(wholeRuns(company)).toBe(1);
});

/** The heartbeat has noted these refusals for `status`. */
async function noted({ company, wind }: Receiving, refused: Readonly<Record<string, number>>): Promise<void> {
  wind(heartbeatMs);
  const sql = "SELECT value ->> '$.refused' FROM _meta WHERE key = 'receiver'";
  const isNoted = ([why, times]: [string, number]) =>
    String(inMirror(company, sql)).includes(`"${why}":${times}`);
  await eventually(() => Object.entries(refused).every(isNoted), "the note");
}

/** Has the service send events here, signed with a key that nobody here knows. */
function subscribe({ company, url }: Receiving): void {
  const input = { url: `${url}/webhooks/acme`, isActive: true, subscribedEvents: ["clients.updated"] };
  company.sandbox.control.create("webhook_subscriptions", input);
}

// Fault: webhook | dozens of deliveries with wrong signatures, to a company that is quiet | requests to a daemon | counted; health is not touched, since the service reports no failed delivery
test("a client that sends garbage to a company that is quiet is counted, and does nothing else", async () => {
  const here = await receiving();
  const { company } = here;
  subscribe(here);
  const asked = () => company.proxy.asked.filter(({ path }) => path.includes("webhook-subscriptions")).length;
  const before = asked();
  for (let i = 0; i < 30; i++)
    expect(await deliver(here, someEvent(), { secret: "not-the-secret-at-all" })).toBe(401);
  await eventually(() => asked() > before, "a question to the service");
  expect(await deliver(here, someEvent(), { to: "nobody" })).toBe(404);
  const refused = { bad_signature: 30 };
  await noted(here, refused);
  const elsewhere = { unknown_company: 1 };
  expect(await readiness(here)).toMatchObject({ status: 200, refused, refusing: null, elsewhere });
  expect(await linesOfMetrics(here)).toContain('fintoro_mirror_deliveries_refused{company="acme"} 0');
  const events = { refused, refused_elsewhere: elsewhere, refusing: null, gaps: [] };
  expect(await statusOf(company)).toMatchObject({ code: 0, events });
  // Once for each heartbeat at most.
  expect(asked()).toBeLessThanOrEqual(before + 2);
});
