import path from "node:path";
import { describe, expect, test, onTestFinished } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { fingerprintOf, rememberIdentity } from "../../src/state/meta.ts";
import { withMirror } from "../support/export/published.ts";
import { answering } from "../support/terminal/prompts.ts";
import {
  openWebhookSetup,
  publicUrl,
  subscriptionsOf,
  writesOf,
  type WebhookSetup,
} from "../support/webhook/webhooks-cli.ts";
import { isoTime, minuteMs, systemClock } from "../../src/base/clock.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { serveCommands } from "../../src/host/commands.ts";
import type { OpenCompany } from "../../src/host/host-context.ts";
import { readStored, signedForm } from "../../src/webhook/ingest/delivery.ts";
import { CompanyIngest, type ReplayResult } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { jsonLines, runCommand, type InvocationParts } from "../support/program/cli.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

/** The mirror of this setup belongs to `name`, known by the token it has had. */
function pin(setup: WebhookSetup, name: string, token: string): Promise<void> {
  const identity = { name, salt: "s", fingerprint: fingerprintOf(token, "s"), businessId: null };
  return withMirror(`${setup.cwd}/data`, (mirror) => mirror.apply(() => rememberIdentity(mirror, identity)));
}

describe("list", () => {
  test("shows of each subscription where it delivers, which events, and which it misses", async () => {
    const setup = await openWebhookSetup();
    await setup.run("create --events invoices.paid");
    const { code, stdout } = await setup.run("list");
    expect([code, stdout]).toEqual([0, expect.stringContaining(`  ${publicUrl} (this config's receiver)`)]);
    expect(stdout).toMatch(/1 of 53 events; not clients\.created, .* and \d+ more; last success never/);
    const ours = (await subscriptionsOf(setup)).find(({ here }) => here);
    expect(ours?.events).toEqual(["invoices.paid"]);
    expect(ours?.missing_events).toHaveLength(declaration.events.length - 1);
  });

  // Fault: webhook | no active subscription delivers to this receiver | the sandbox's subscriptions | a warning
  test("warns while nothing active delivers here", async () => {
    const setup = await openWebhookSetup();
    const warning = `delivers nothing to ${publicUrl}`;
    expect((await setup.run("list")).stderr).toContain(warning);
    const { subscription } = await setup.json("create");
    const known = ["id", "name", "url", "here", "active", "events", "missing_events"];
    const ending = ["last_success_at", "last_failure_at", "disabled_reason"];
    expect(new Set(Object.keys(subscription))).toEqual(new Set([...known, ...ending]));
    expect((await setup.run("list")).stderr).not.toContain(warning);
    await setup.run(`update ${subscription.id} --active off`);
    expect((await setup.run("list")).stderr).toContain(warning);
  });

  test("shows every company, also where one cannot be asked, and exits as that one fails", async () => {
    const setup = await openWebhookSetup({ companies: 2, token: () => "1|nobody" });
    expect((await setup.run("list --quiet")).stdout).toBe((await setup.run("list")).stdout);
    const { code, stdout, stderr } = await setup.run("list --json");
    const acme = { subscriptions: [], error: { kind: "unauthenticated" } };
    expect(JSON.parse(stdout)).toMatchObject({ companies: { acme, other0: {} } });
    expect([code, stderr]).toEqual([4, expect.stringContaining("acme: GET /webhook-subscriptions: 401")]);
  });
});

describe("a command about one subscription", () => {
  test("wants --company where there are several, and the number of one", async () => {
    const several = await openWebhookSetup({ companies: 2 });
    const lines = ["create", "update 1 --active off", "rotate 1", "delete 1 --yes", "inbox", "replay a"];
    for (const line of lines) {
      const { code, stderr } = await several.run(line);
      expect([line, code, stderr]).toEqual([line, 2, expect.stringContaining("--company: acme, other0")]);
    }
    const setup = await openWebhookSetup();
    for (const id of ["x", "-1", "1.5", "99999999999999999999"])
      for (const line of [`update --active off -- ${id}`, `rotate -- ${id}`, `delete --yes -- ${id}`]) {
        const { code, stderr } = await setup.run(line);
        const said = expect.stringContaining("is not the id of a subscription");
        expect([line, code, stderr]).toEqual([line, 2, said]);
      }
    expect(setup.sandbox.requests()).toEqual([]);
  });

  // Fault: identity | a token without the scope `write` | the sandbox | a message that says so; another token is taken for this call
  test("with a token that may only read says so, and takes another one for this call", async () => {
    const setup = await openWebhookSetup({ token: ({ readToken }) => readToken });
    const refused = await setup.json("create");
    expect(refused).toMatchObject({ code: 1, error: { kind: "forbidden" } });
    expect(refused.error?.hint).toContain("--token-env NAME");
    expect(refused.error?.hint).toContain("scope `write`");
    // The config's own token is not needed then.
    const env = { TOKEN: "", WRITER: setup.sandbox.token };
    const { code, stderr } = await setup.run("create --token-env WRITER", { env });
    expect([code, stderr.includes(setup.sandbox.token)]).toEqual([0, false]);
  });

  // Fault: identity | a token of another company for a command that writes | `webhooks` with another token | refused, and nothing is changed there (I10)
  test("I10: refuses a token of another company than the mirror's, and changes nothing there", async () => {
    const setup = await openWebhookSetup({ companies: 2 });
    const [acme, other] = setup.sandbox.companies;
    await pin(setup, acme?.name ?? "", acme?.token ?? "");
    const env = { WRITER: other?.token ?? "" };
    const refused = await setup.json("create --company acme --token-env WRITER", { env });
    expect(refused).toMatchObject({ code: 4, error: { kind: "identity" } });
    expect(writesOf(setup.sandbox)).toEqual([]);
    const own = { env: { WRITER: acme?.token ?? "" } };
    expect((await setup.json("create --company acme --token-env WRITER", own)).code).toBe(0);
  });

  test("asks whose a token is only where the mirror does not know it", async () => {
    const setup = await openWebhookSetup();
    const { name = "", token = "" } = setup.sandbox.companies[0] ?? {};
    await pin(setup, name, token);
    await setup.run("list");
    expect(setup.sandbox.requests()).toHaveLength(1);
    expect(setup.has("data/acme.budget.db")).toBe(true);
    // Of the same name, and the mirror holds no record that could prove it.
    const unknown = await setup.run("list --token-env READER", { env: { READER: setup.sandbox.readToken } });
    expect(unknown.code).toBe(4);
    const asked = setup.sandbox.requests().map((one) => one.path.split("/").at(-1));
    expect(asked).toEqual(["webhook-subscriptions", "whoami"]);
  });
});

test("update changes what is named and keeps the rest, the secret too; delete asks at a terminal, naming what goes, and no keeps it", async () => {
  const setup = await openWebhookSetup();
  const { subscription, secret } = await setup.json("create --name ours");
  const line = `update ${subscription.id} --events clients.created,invoices.paid --active off`;
  const events = ["clients.created", "invoices.paid"];
  const changed = { name: "ours", url: publicUrl, active: false, events };
  expect(await setup.json(line)).toMatchObject({ code: 0, subscription: changed });
  const renamed = await setup.json(`update ${subscription.id} --name other --active on`);
  expect(renamed.subscription).toMatchObject({ name: "other", active: true, events });
  expect(setup.text("hook")).toBe(`${secret}\n`);
  const before = writesOf(setup.sandbox);
  const no = answering([false]);
  expect((await setup.run(`delete ${subscription.id}`, no)).code).toBe(1);
  expect(no.questions).toEqual([expect.stringContaining(publicUrl)]);
  expect(writesOf(setup.sandbox)).toEqual(before);
  expect((await setup.run(`delete ${subscription.id}`, answering([true]))).code).toBe(0);
  expect((await subscriptionsOf(setup)).filter(({ here }) => here)).toEqual([]);
});

const startMs = Date.UTC(2026, 10, 20, 9);

async function boxIn(setup: WebhookSetup) {
  const mirror = await openMirror(path.join(setup.cwd, "data/acme.db"), declaration);
  onTestFinished(() => void (mirror.db.open && mirror.close()));
  const selected = new Set(declaration.resources.map(({ name }) => name));
  const queue = new WorkQueue(mirror.db);
  return { mirror, ingest: new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring }) };
}

/** A setup whose mirror has received one event a minute, from nine on. */
async function withInbox(events: readonly string[]) {
  const setup = await openWebhookSetup();
  const { mirror, ingest } = await boxIn(setup);
  for (const [at, [type, kind, id]] of events.map((one) => one.split(" ")).entries()) {
    const resource = { type: kind, id: Number(id) };
    const body = JSON.stringify({ id: `evt_${at}`, type, occurredAt: isoTime(startMs), resource });
    ingest.store([readStored(`evt_${at}`, body, signedForm)], startMs + at * minuteMs);
  }
  return { setup, mirror, ingest };
}

async function inboxOf(setup: WebhookSetup, options = "", parts: InvocationParts = {}) {
  const { stdout } = await setup.run(`inbox --json ${options}`.trim(), parts);
  const [shown] = jsonLines(stdout) as { deliveries?: readonly { readonly event_id: string }[] }[];
  return shown?.deliveries ?? [];
}

/** Type, kind of record and id of each event. */
const three = ["clients.updated client 17", "received-invoices.paid receivedInvoice 5", "ships.sunk ship 1"];

const unused = () => Promise.reject(new Error("not asked for"));

describe("inbox", () => {
  test("shows deliveries with their outcome, the newest last; as JSON with the names that readers know, and no others", async () => {
    const { setup, mirror } = await withInbox(three);
    mirror.db.exec("UPDATE _work SET state = 'dead', error = '422 no client' WHERE resource = 'clients'");
    const { code, stdout } = await setup.run("inbox");
    expect([code, ...stdout.split("\n")]).toEqual([
      0,
      "2026-11-20T09:00:00.000Z  clients.updated 17  dead letter (422 no client)  evt_0",
      "2026-11-20T09:01:00.000Z  received-invoices.paid 5  kept  evt_1",
      "2026-11-20T09:02:00.000Z  ships.sunk 1  unknown (no such type of event is known)  evt_2",
      "",
    ]);
    const shown = await inboxOf(setup);
    expect(shown).toMatchObject([
      { event_id: "evt_0", state: "waiting", work: { state: "dead", error: "422 no client" } },
      { event_id: "evt_1", state: "kept", work: null },
      { event_id: "evt_2", state: "unknown" },
    ]);
    const about = ["type", "resource", "resource_type", "resource_id", "occurred_at", "received_at"];
    const ending = ["state", "outcome", "settled_at", "request_id", "problem", "work"];
    const names = shown.flatMap((one) => Object.keys(one));
    expect(new Set(names)).toEqual(new Set(["event_id", ...about, ...ending]));
  });

  test("can be narrowed by age, time, state, table and number, and says where there are more; asks nobody", async () => {
    const { setup } = await withInbox(three);
    expect((await setup.run("inbox --limit 2")).stderr).toContain("there are more than these 2");
    expect((await setup.run("inbox --limit 3")).stderr).toBe("");
    expect((await setup.run("inbox --state excluded")).stderr).toContain("no such events are stored");
    expect(setup.sandbox.requests()).toEqual([]);
    const clock = new DrivenClock(startMs + 2 * minuteMs);
    for (const [option, ids] of [
      ["--limit 2", ["evt_1", "evt_2"]],
      ["--state unknown", ["evt_2"]],
      ["--resource clients", ["evt_0"]],
      ["--since 2026-11-20T09:01:00Z", ["evt_1", "evt_2"]],
      ["--since 2026-11-20T10:01+01:00", ["evt_1", "evt_2"]],
      ["--since 2026-11-20T09:02", ["evt_2"]],
      ["--since 2026-11-21", []],
      ["--since 90s", ["evt_1", "evt_2"]],
    ] as const) {
      const found = await inboxOf(setup, option, { clock });
      expect([option, found.map((one) => one.event_id)]).toEqual([option, ids]);
    }
  });
});

describe("replay", () => {
  test("evaluates an event again, without a second row; `sync` reads its record", async () => {
    const setup = await openWebhookSetup({ files: { hook: "whsec_hook_0123456789\n" } });
    const sync = () =>
      runCommand(["sync", "clients", "--json"], { cwd: setup.cwd, env: { TOKEN: setup.sandbox.token } });
    expect((await sync()).code).toBe(0);
    const box = await boxIn(setup);
    const id = Number(box.mirror.db.prepare("SELECT min(id) FROM clients").pluck().get());
    const body = JSON.stringify({ id: "evt_0", type: "clients.updated", resource: { type: "client", id } });
    box.ingest.store([readStored("evt_0", body, signedForm)], startMs);
    box.mirror.close();
    expect((await sync()).code).toBe(0);
    expect(await inboxOf(setup)).toMatchObject([{ state: "done", outcome: "unchanged" }]);
    const stdout = "acme: replayed 1 (1 to read, 0 without anything to read); `sync` reads them\n";
    expect(await setup.run("replay evt_0")).toMatchObject({ code: 0, stdout });
    const [again] = await inboxOf(setup);
    expect(again).toMatchObject({ state: "waiting", outcome: null, work: { state: "ready" } });
    setup.sandbox.control.alter("clients", id, { name: "Premenovaný" });
    expect((await sync()).code).toBe(0);
    const done = { state: "done", outcome: "updated", request_id: expect.stringContaining("req") as string };
    expect(await inboxOf(setup)).toMatchObject([done]);
  });

  test("--since takes all that came since, of one state where asked", async () => {
    const { setup } = await withInbox(three);
    const replayed = await setup.json("replay --since 2026-11-20T09:01:00Z");
    expect(replayed).toMatchObject({ code: 0, replayed: 2, queued: 0, unread: 2, missing: [] });
    const waiting = await setup.json("replay --since 2026-11-20 --state waiting");
    expect(waiting).toMatchObject({ code: 0, replayed: 1, queued: 1, next: "`sync` reads them" });
    expect(await setup.json("replay --since 2026-12-01")).toMatchObject({ code: 0, replayed: 0 });
  });

  test("beside a daemon is a command: the daemon does it, each event once, and its answer is printed", async () => {
    const { setup, ingest } = await withInbox(three);
    using _ = takeWriterLock(path.join(setup.cwd, "data/acme.lock"), "serve");
    const closed = new AbortController();
    onTestFinished(() => closed.abort());
    const held = {
      settings: { files: { socket: path.join(setup.cwd, "data/acme.sock") } },
      context: { clock: systemClock, log: recordingLog().log },
      closed: closed.signal,
      // Only what a replay needs of a company.
    } as unknown as OpenCompany;
    const replay = (ids: readonly string[], into: ReplayResult) => ingest.replay(ids, startMs, into);
    serveCommands(held, { replay, prune: unused });
    const said = "replayed 2 (1 to read, 1 without anything to read); the daemon reads them now";
    const answered = await setup.run("replay evt_0 evt_1 evt_7 evt_0");
    expect(answered).toMatchObject({ code: 1, stdout: expect.stringContaining(said) });
  });
});
