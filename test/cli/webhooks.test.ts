import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { fingerprintOf, rememberIdentity } from "../../src/state/meta.ts";
import { answering } from "../support/terminal/prompts.ts";
import {
  openWebhookSetup,
  publicUrl,
  subscriptionsOf,
  writesOf,
  type WebhookSetup,
} from "../support/webhook/webhooks-cli.ts";

/** The mirror of this setup belongs to `name`, known by the token it has had. */
async function pin(setup: WebhookSetup, name: string, token: string): Promise<void> {
  const mirror = await openMirror(`${setup.cwd}/data/acme.db`, manifest);
  const identity = { name, salt: "s", fingerprint: fingerprintOf(token, "s"), businessId: null };
  mirror.apply(() => rememberIdentity(mirror, identity));
  mirror.close();
}

describe("list", () => {
  test("shows of each subscription where it delivers, which events, and which it misses", async () => {
    const setup = await openWebhookSetup();
    await setup.run("create --events invoices.paid");
    const { code, stdout } = await setup.run("list");
    expect(code).toBe(0);
    expect(stdout).toContain(`  ${publicUrl} (this config's receiver)`);
    expect(stdout).toMatch(/1 of 53 events; not clients\.created, .* and \d+ more; last success never/);
    const ours = (await subscriptionsOf(setup)).find(({ here }) => here);
    expect(ours?.events).toEqual(["invoices.paid"]);
    expect(ours?.missing_events).toHaveLength(manifest.events.length - 1);
  });

  // Fault: webhook | no active subscription delivers to this receiver | the sandbox's subscriptions | a warning
  test("warns while nothing active delivers here", async () => {
    const setup = await openWebhookSetup();
    const warned = async () => (await setup.run("list")).stderr.includes(`delivers nothing to ${publicUrl}`);
    expect(await warned()).toBe(true);
    const { subscription } = await setup.json("create");
    expect(await warned()).toBe(false);
    await setup.run(`update ${subscription.id} --active off`);
    expect(await warned()).toBe(true);
  });

  test("shows every company, also where one cannot be asked, and exits as that one fails", async () => {
    const setup = await openWebhookSetup({ companies: 2, token: () => "1|nobody" });
    const { code, stdout, stderr } = await setup.run("list --json");
    expect(code).toBe(4);
    expect(Object.keys((JSON.parse(stdout) as { companies: object }).companies)).toEqual(["other0"]);
    expect(stderr).toContain("acme: GET /webhook-subscriptions: 401");
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
    const asked = setup.sandbox.requests().map(({ path }) => path.split("/").at(-1));
    expect(asked).toEqual(["webhook-subscriptions", "whoami"]);
  });
});

describe("update", () => {
  test("changes what is named and keeps the rest, the secret too", async () => {
    const setup = await openWebhookSetup();
    const { subscription, secret } = await setup.json("create --name ours");
    const line = `update ${subscription.id} --events clients.created,invoices.paid --active off`;
    const events = ["clients.created", "invoices.paid"];
    const changed = { name: "ours", url: publicUrl, active: false, events };
    expect(await setup.json(line)).toMatchObject({ code: 0, subscription: changed });
    const renamed = await setup.json(`update ${subscription.id} --name other --active on`);
    expect(renamed.subscription).toMatchObject({ name: "other", active: true, events });
    expect(setup.text("hook")).toBe(`${secret}\n`);
  });

  test("to a URL that breaks the rules, or of nothing at all, asks for nothing", async () => {
    const setup = await openWebhookSetup();
    for (const line of ["update 7 --url http://example.com/", "update 7", "update 7 --events ,"]) {
      expect((await setup.run(line)).code).toBe(2);
    }
    expect(setup.sandbox.requests()).toEqual([]);
  });
});

describe("delete", () => {
  test("asks at a terminal, naming what goes; no keeps it", async () => {
    const setup = await openWebhookSetup();
    const { subscription } = await setup.json("create");
    const no = answering([false]);
    expect((await setup.run(`delete ${subscription.id}`, no)).code).toBe(1);
    expect(no.questions).toEqual([expect.stringContaining(publicUrl)]);
    expect(writesOf(setup.sandbox)).toHaveLength(1);
    expect((await setup.run(`delete ${subscription.id}`, answering([true]))).code).toBe(0);
    expect((await subscriptionsOf(setup)).some(({ here }) => here)).toBe(false);
  });

  test("without a terminal needs --yes", async () => {
    const setup = await openWebhookSetup();
    const { subscription } = await setup.json("create");
    const result = await setup.run(`delete ${subscription.id}`);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await setup.json(`delete ${subscription.id} --yes`)).toMatchObject({ deleted: subscription.id });
  });
});
