import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { askForLine } from "../../src/cli/console/output.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { rememberIdentity } from "../../src/sync/identity/identify.ts";
import { fingerprintOf } from "../../src/sync/identity/identity-verdict.ts";
import { openHouse, publicUrl, subscriptionsOf, writesOf, type House } from "../support/webhooks-cli.ts";

/** The mirror of this house belongs to `name`, known by the token it has had. */
async function pin(house: House, name: string, token: string): Promise<void> {
  const mirror = await openMirror(`${house.cwd}/data/acme.db`, manifest);
  const identity = { name, salt: "s", fingerprint: fingerprintOf(token, "s"), businessId: null };
  mirror.apply(() => rememberIdentity(mirror, identity));
  mirror.close();
}

function answering(answer: string) {
  const questions: string[] = [];
  const ask = (question: string) => {
    questions.push(question);
    return Promise.resolve(answer);
  };
  return { ask, questions };
}

function asked(signal = new AbortController().signal) {
  const input = new PassThrough();
  const output = new PassThrough();
  return { input, output, answer: askForLine({ input, output }, "Really? ", signal) };
}

describe("list", () => {
  test("tells of each subscription where it delivers, which events, and which it misses", async () => {
    const house = await openHouse();
    await house.play("create --events invoices.paid");
    const { code, stdout } = await house.play("list");
    expect(code).toBe(0);
    expect(stdout).toContain(`  ${publicUrl} (this config's receiver)`);
    expect(stdout).toMatch(/1 of 53 events; not clients\.created, .* and \d+ more; last success never/);
    const ours = (await subscriptionsOf(house)).find(({ here }) => here);
    expect(ours?.events).toEqual(["invoices.paid"]);
    expect(ours?.missing_events).toHaveLength(manifest.events.length - 1);
  });

  test("warns while nothing active delivers here", async () => {
    const house = await openHouse();
    const warned = async () => (await house.play("list")).stderr.includes(`delivers nothing to ${publicUrl}`);
    expect(await warned()).toBe(true);
    const { subscription } = await house.json("create");
    expect(await warned()).toBe(false);
    await house.play(`update ${subscription.id} --active off`);
    expect(await warned()).toBe(true);
  });

  test("shows every company, also where one cannot be asked, and exits as that one fails", async () => {
    const house = await openHouse({ companies: 2, token: () => "1|nobody" });
    const { code, stdout, stderr } = await house.play("list --json");
    expect(code).toBe(4);
    expect(Object.keys((JSON.parse(stdout) as { companies: object }).companies)).toEqual(["other0"]);
    expect(stderr).toContain("acme: GET /webhook-subscriptions: 401");
  });

  test("spends one request, from the budget that all processes share", async () => {
    const house = await openHouse();
    await house.play("list");
    expect(house.sandbox.requests()).toHaveLength(1);
    expect(house.has("data/acme.budget.db")).toBe(true);
  });
});

describe("a command about one subscription", () => {
  test.each(["create", "update 1 --active off", "rotate 1", "delete 1 --yes", "inbox", "replay a"])(
    "%s wants --company where there are several",
    async (line) => {
      const house = await openHouse({ companies: 2 });
      const { code, stderr } = await house.play(line);
      expect(code).toBe(2);
      expect(stderr).toContain("name one with --company: acme, other0");
    },
  );

  test("with a token that may only read says so, and takes another one for this call", async () => {
    const house = await openHouse({ token: ({ readToken }) => readToken });
    const refused = await house.json("create");
    expect(refused).toMatchObject({ code: 1, error: { kind: "forbidden" } });
    expect(refused.error?.hint).toContain("--token-env NAME");
    expect(refused.error?.hint).toContain("scope `write`");
    const { code, stderr } = await house.play("create --token-env WRITER", {
      env: { WRITER: house.sandbox.token },
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain(house.sandbox.token);
  });

  test("does not need the config's own token then", async () => {
    const house = await openHouse();
    const env = { TOKEN: "", WRITER: house.sandbox.token };
    expect(await house.json("create --token-env WRITER", { env })).toMatchObject({ code: 0 });
    const { code, stderr } = await house.play("create --token-env NOBODY", { env });
    expect(code).toBe(2);
    expect(stderr).toContain("the environment variable NOBODY is not set");
  });

  test("I10: refuses a token of another company than the mirror's, and changes nothing there", async () => {
    const house = await openHouse({ companies: 2 });
    const [acme, other] = house.sandbox.companies;
    await pin(house, acme?.name ?? "", acme?.token ?? "");
    const env = { WRITER: other?.token ?? "" };
    const refused = await house.json("create --company acme --token-env WRITER", { env });
    expect(refused).toMatchObject({ code: 4, error: { kind: "identity" } });
    expect(writesOf(house.sandbox)).toEqual([]);
    const taken = await house.json("create --company acme --token-env WRITER", {
      env: { WRITER: acme?.token ?? "" },
    });
    expect(taken.code).toBe(0);
  });

  test("asks whose a token is only where the mirror does not know it", async () => {
    const house = await openHouse();
    const { name = "", token = "" } = house.sandbox.companies[0] ?? {};
    await pin(house, name, token);
    await house.play("list");
    expect(house.sandbox.requests()).toHaveLength(1);
    await house.play("list --token-env READER", { env: { READER: house.sandbox.readToken } });
    expect(house.sandbox.requests().map(({ path }) => path.split("/").at(-1))).toEqual([
      "webhook-subscriptions",
      "whoami",
      "webhook-subscriptions",
    ]);
  });
});

describe("update", () => {
  test("changes what is named and keeps the rest, the secret too", async () => {
    const house = await openHouse();
    const { subscription, secret } = await house.json("create --name ours");
    const line = `update ${subscription.id} --events clients.created,invoices.paid --active off`;
    expect(await house.json(line)).toMatchObject({
      code: 0,
      subscription: {
        name: "ours",
        url: publicUrl,
        active: false,
        events: ["clients.created", "invoices.paid"],
      },
    });
    const renamed = await house.json(`update ${subscription.id} --name other --active on`);
    expect(renamed.subscription).toMatchObject({ name: "other", active: true });
    expect(renamed.subscription.events).toEqual(["clients.created", "invoices.paid"]);
    expect(house.text("hook")).toBe(`${secret}\n`);
  });

  test("to a URL that breaks the rules, or of nothing at all, asks for nothing", async () => {
    const house = await openHouse();
    for (const line of ["update 7 --url http://example.com/", "update 7", "update 7 --events ,"]) {
      expect((await house.play(line)).code).toBe(2);
    }
    expect(house.sandbox.requests()).toEqual([]);
  });

  test.each(["x", "-1", "1.5", "99999999999999999999"])(
    "and no other command about %s asks for anything: that is no id",
    async (id) => {
      const house = await openHouse();
      for (const line of [`update --active off -- ${id}`, `rotate -- ${id}`, `delete --yes -- ${id}`]) {
        const { code, stderr } = await house.play(line);
        expect(code).toBe(2);
        expect(stderr).toContain("is not the id of a subscription");
      }
      expect(house.sandbox.requests()).toEqual([]);
    },
  );
});

describe("delete", () => {
  test("asks at a terminal, naming what goes; anything but yes keeps it", async () => {
    const house = await openHouse();
    const { subscription } = await house.json("create");
    for (const answer of ["", "n", "yesterday"]) {
      const { ask, questions } = answering(answer);
      expect((await house.play(`delete ${subscription.id}`, { ask })).code).toBe(1);
      expect(questions).toEqual([expect.stringContaining(publicUrl)]);
    }
    expect(writesOf(house.sandbox)).toHaveLength(1);
    expect((await house.play(`delete ${subscription.id}`, answering(" Y "))).code).toBe(0);
    expect((await subscriptionsOf(house)).some(({ here }) => here)).toBe(false);
  });

  test("without a terminal needs --yes", async () => {
    const house = await openHouse();
    const { subscription } = await house.json("create");
    const { code, stderr } = await house.play(`delete ${subscription.id}`);
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(await house.json(`delete ${subscription.id} --yes`)).toMatchObject({ deleted: subscription.id });
  });
});

describe("a question", () => {
  test("gives the line that is typed; an input that ends is an empty one", async () => {
    const first = asked();
    first.input.write("yes\nmore\n");
    expect(await first.answer).toBe("yes");
    expect(String(first.output.read())).toBe("Really? ");
    const second = asked();
    second.input.end();
    expect(await second.answer).toBe("");
  });

  test("ends with the program", async () => {
    const stop = new AbortController();
    const { answer } = asked(stop.signal);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ kind: "stopped" });
  });
});
