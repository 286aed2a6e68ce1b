import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { hourMs } from "../../src/base/clock.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import {
  created,
  openWebhookSetup,
  publicUrl,
  ringOf,
  subscriptionsOf,
  writesOf,
} from "../support/webhook/webhooks-cli.ts";
import { jsonLines, runProgram } from "../support/program/cli.ts";

describe("create", () => {
  test("asks for every event of the catalogue at the config's URL, shows the secret and stores it for nobody else", async () => {
    const setup = await openWebhookSetup();
    const { code, stdout, stderr } = await setup.run("create");
    expect(code).toBe(0);
    const [, secret = ""] = /^secret: (\S+)$/m.exec(stdout) ?? [];
    expect(secret.length).toBeGreaterThan(20);
    expect(setup.text("hook")).toBe(`${secret}\n`);
    expect([setup.mode("hook"), setup.has("hook.new")]).toEqual([0o600, false]);
    expect(stdout).toContain(`stored in ${path.join(setup.cwd, "hook")}`);
    expect(stderr).not.toContain(secret);
    const made = (await subscriptionsOf(setup)).find(({ url }) => url === publicUrl);
    expect(made).toMatchObject({ name: "fintoro-mirror", active: true, here: true, missing_events: [] });
    expect(made?.events).toHaveLength(declaration.events.length);
  });

  test("keeps what the file held, without an end while another subscription delivers there", async () => {
    const setup = await openWebhookSetup();
    const first = await created(setup);
    const { code, stdout, stderr } = await setup.run("create --json");
    expect([code, stderr]).toEqual([0, expect.stringContaining("each event will come 2 times")]);
    expect(JSON.parse(stdout)).toMatchObject({ old_accepted_until: null });
    const clock = new DrivenClock(Date.now() + 10_000 * hourMs);
    expect(ringOf(setup, clock).accepted()).toEqual([setup.text("hook").trim(), first.secret]);
  });

  test.each([
    ["secrets: ['${env:HOOK}']", "set HOOK to the secret where `serve` is started"],
    ["secrets: [literal-0123456789]", "put the secret in its place in companies.acme.webhook.secrets in"],
    ["secrets: []", 'add "${env:FINTORO_WEBHOOK_SECRET}" to companies.acme.webhook.secrets in'],
  ])("without a file in the config (%s) shows it and says exactly what to do", async (secrets, message) => {
    const setup = await openWebhookSetup({ webhook: `{ public_url: "${publicUrl}", ${secrets} }` });
    const answer = await setup.json("create");
    expect(answer).toMatchObject({ code: 0, stored: null, next: [expect.stringContaining(message)] });
    expect(answer.secret).not.toBe("");
  });

  test("for another receiver leaves this config's secrets alone", async () => {
    const setup = await openWebhookSetup({ files: { hook: "ours-0123456789a\n" } });
    const answer = await setup.json(
      "create --url http://127.0.0.1:9/elsewhere --name ours --events invoices.paid,clients.created",
    );
    const subscription = { name: "ours", events: ["clients.created", "invoices.paid"], here: false };
    expect(answer).toMatchObject({ code: 0, company: "acme", stored: null, subscription });
    expect([setup.text("hook"), setup.has("data/acme.secrets.json")]).toEqual(["ours-0123456789a\n", false]);
  });

  // Fault: files | the folder of the secret's file is missing | the config's path | the secret is shown, exit 1, with what to do
  test("into a folder that is not there still shows the secret, exits 1 and says what to do", async () => {
    const webhook = `{ secrets: ["\${file:nowhere/hook}"], public_url: "${publicUrl}" }`;
    const setup = await openWebhookSetup({ webhook });
    const { code, stdout, stderr } = await setup.run("create --json");
    const { secret = "", stored, next } = JSON.parse(stdout) as Record<string, string>;
    expect([code, stored, secret.length > 20]).toEqual([1, null, true]);
    expect(next?.[0]).toContain("nowhere/hook yourself");
    expect(stderr).toContain("the secret could not be stored");
    expect(stderr).not.toContain(secret);
  });

  // Fault: service | 403 to a new subscription | the sandbox | nothing is written
  test("that the service refuses leaves nothing behind", async () => {
    const setup = await openWebhookSetup({ files: { hook: "ours-0123456789a\n" } });
    setup.sandbox.control.fault({ kind: "status", status: 403, match: { method: "POST" } });
    expect(await setup.json("create")).toMatchObject({ code: 1, error: { kind: "forbidden" } });
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual(["ours-0123456789a\n", false]);
  });
});

const breakRename = new URL("../support/program/break-rename.ts", import.meta.url).href;

/** The program as a process of its own, to which this happens when it would put a secret in its place. */
function atRename(what: "SIGKILL" | "EBUSY") {
  return { NODE_OPTIONS: `--import ${breakRename}`, AT_RENAME: what };
}

describe("rotate", () => {
  // Fault: secrets | the secret's file is readable by others | its mode | 0600 after the rotation
  test("accepts the old secret and the new one, the old one for a day or as --keep-old says, logs none (I9), and shows their files to nobody else", async () => {
    const setup = await openWebhookSetup();
    const clock = new DrivenClock(Date.now());
    const { id, secret: old } = await created(setup);
    chmodSync(path.join(setup.cwd, "hook"), 0o644);
    const ring = ringOf(setup, clock);
    expect(ring.accepted()).toEqual([old]);
    const { code, stdout, stderr } = await setup.run(`rotate ${id} --json`, { clock });
    const { secret, old_accepted_until: until } = JSON.parse(stdout) as Record<string, string>;
    for (const text of [old, secret, setup.sandbox.token]) expect(stderr).not.toContain(text);
    expect([code, secret === old, setup.text("hook")]).toEqual([0, false, `${secret}\n`]);
    expect(until).toBe(new Date(clock.nowMs() + 24 * hourMs).toISOString());
    expect([setup.mode("hook"), setup.mode("data/acme.secrets.json")]).toEqual([0o600, 0o600]);
    clock.wind(1000);
    expect([ring.refresh(), ring.accepted()]).toEqual([true, [secret, old]]);
    clock.wind(24 * hourMs - 1001);
    expect(ring.accepted()).toEqual([secret, old]);
    clock.wind(1);
    expect(ring.accepted()).toEqual([secret]);
    const second = await setup.json(`rotate ${id} --keep-old 2h`, { clock });
    expect(second.old_accepted_until).toBe(new Date(clock.nowMs() + 2 * hourMs).toISOString());
    const third = await setup.json(`rotate ${id} --keep-old 0s`, { clock });
    expect(ringOf(setup, clock).accepted()).toEqual([third.secret, secret]);
  });

  test("ends also what was kept without an end, once no other subscription delivers here", async () => {
    const setup = await openWebhookSetup();
    const { id } = await created(setup);
    const other = await created(setup);
    expect((await setup.run(`delete ${other.id} --yes`)).code).toBe(0);
    const { secret } = await setup.json(`rotate ${id} --keep-old 0s`);
    expect(ringOf(setup, new DrivenClock(Date.now())).accepted()).toEqual([secret]);
  });

  test("keeps the old one of the environment, too, while its owner changes it", async () => {
    const webhook = `{ secrets: ["\${env:HOOK}"], public_url: "${publicUrl}" }`;
    const setup = await openWebhookSetup({ webhook });
    const { id, secret: old } = await created(setup);
    const { code, stored } = await setup.json(`rotate ${id}`, { env: { HOOK: old } });
    expect([code, stored]).toEqual([0, null]);
    expect(JSON.parse(setup.text("data/acme.secrets.json"))).toMatchObject({ retired: [{ secret: old }] });
  });

  test("of a subscription that delivers elsewhere leaves this config's secrets alone", async () => {
    const setup = await openWebhookSetup();
    const ours = await created(setup);
    const other = (await subscriptionsOf(setup)).find(({ here }) => !here);
    const answer = await setup.json(`rotate ${other?.id}`);
    expect(answer).toMatchObject({ code: 0, stored: null, subscription: { id: other?.id } });
    expect(answer.next[0]).toContain("give the secret to the one that it delivers to");
    expect([setup.text("hook"), setup.has("data/acme.secrets.json")]).toEqual([`${ours.secret}\n`, false]);
  });

  // Fault: network | the answer to a rotation is lost | the sandbox resets the connection | it says that there may be an unknown secret; the next rotation heals it
  // Fault: process | a crash that left half a secret | the new secret's file | the next rotation starts anew
  test("whose answer is lost says that there may be a secret nobody has seen; the next one heals it, also after a crash that left half a secret", async () => {
    const setup = await openWebhookSetup();
    const { id, secret: old } = await created(setup);
    const match = { path: /rotate-secret/ };
    setup.sandbox.control.fault({ kind: "reset", when: "headers", match, times: 1 });
    const result = await setup.run(`rotate ${id}`);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("run `webhooks rotate` again") });
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual([`${old}\n`, false]);
    expect(writesOf(setup.sandbox).filter((write) => write.includes("rotate"))).toHaveLength(1);
    writeFileSync(path.join(setup.cwd, "hook.new"), "cut-o");
    const { secret } = await setup.json(`rotate ${id}`);
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual([`${secret}\n`, false]);
    expect(ringOf(setup, new DrivenClock(Date.now())).accepted()).toEqual([secret, old]);
  });

  // Fault: disk | the old secret cannot be stored | a folder in the file's place | the service is not asked for a new one
  test("changes nothing in the service when the old secret could not be remembered", async () => {
    const setup = await openWebhookSetup();
    const { id } = await created(setup);
    mkdirSync(path.join(setup.cwd, "data/acme.secrets.json.new"));
    const result = await setup.run(`rotate ${id}`);
    expect(result).toMatchObject({ code: 10, stderr: expect.stringContaining("acme.secrets.json.new") });
    expect(writesOf(setup.sandbox)).toHaveLength(1);
  });

  // Fault: process | kill -9 between the service's new secret and its file | a process of `webhooks rotate` | the next command finds the secret; nothing is lost
  test("killed between the service's answer and the file has lost nothing: the next command finds it", async () => {
    const setup = await openWebhookSetup();
    const clock = new DrivenClock(Date.now());
    const { id, secret: first } = await created(setup);
    const env = { TOKEN: setup.sandbox.token, ...atRename("SIGKILL") };
    const killed = await runProgram(["webhooks", "rotate", String(id)], { cwd: setup.cwd, env });
    expect(killed).toMatchObject({ code: null, stdout: "" });
    const second = setup.sandbox.control.secret(id);
    expect([setup.text("hook"), setup.text("hook.new")]).toEqual([`${first}\n`, `${second}\n`]);
    expect(ringOf(setup, clock).accepted()).toEqual([second, first]);
    const { stderr } = await setup.run(`rotate ${id}`, { clock });
    expect(stderr).toContain("a secret that was received before and not put in its place");
    const third = setup.sandbox.control.secret(id);
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual([`${third}\n`, false]);
    expect(ringOf(setup, clock).accepted().toSorted()).toEqual([first, second, third].toSorted());
  });

  // Fault: files | the secret's file cannot be replaced (a mounted file) | a rename that fails with EBUSY | the secret is shown, and all of them are accepted
  test("whose file cannot be moved in its place (a single mounted file) shows it and loses none, however often", async () => {
    const setup = await openWebhookSetup();
    const clock = new DrivenClock(Date.now());
    const { id, secret: first } = await created(setup);
    const env = { TOKEN: setup.sandbox.token, ...atRename("EBUSY") };
    const secrets = [first];
    for (let time = 0; time < 2; time++) {
      const line = ["webhooks", "rotate", String(id), "--json"];
      const { code, stdout } = await runProgram(line, { cwd: setup.cwd, env });
      const { secret, stored } = jsonLines(stdout)[0] as { secret: string; stored: string | null };
      expect([code, stored]).toEqual([1, null]);
      secrets.unshift(secret);
    }
    expect(setup.text("hook")).toBe(`${first}\n`);
    expect(setup.text("hook.new")).toBe(`${secrets[0]}\n`);
    expect(ringOf(setup, clock).accepted().toSorted()).toEqual(secrets.toSorted());
  });
});
