import path from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/base/secret.ts";
import { createKeyring } from "../../src/webhook/keys/keyring.ts";
import { WoundClock } from "../support/sandbox/sandbox.ts";
import { about, aReceiver, post, sign } from "../support/webhook/webhook.ts";
import { openWebhookSetup } from "../support/webhook/webhooks-cli.ts";

const dayMs = 86_400_000;

test("a receiver that runs takes both secrets from the moment of a rotation, and the old one for a day", async () => {
  const cli = await openWebhookSetup();
  const clock = new WoundClock(Date.now());
  const { subscription, secret: old } = await cli.json("create", { clock });
  const learned: string[] = [];
  const keyring = createKeyring({
    secrets: [Secret.of(old)],
    places: [{ kind: "file", path: path.join(cli.cwd, "hook") }],
    file: path.join(cli.cwd, "data/acme.secrets.json"),
    clock,
    onSecrets: (secrets) => learned.push(...secrets),
  });
  const receiver = await aReceiver({ keyring });
  const statusWith = async (key: string) => {
    const body = about(1);
    return (await receiver.deliver(post(body, { "webhook-signature": sign(body, key) }))).status;
  };
  expect(await statusWith(old)).toBe(204);

  const { secret } = await cli.json(`rotate ${subscription.id}`, { clock });
  clock.wind(1000);
  expect([await statusWith(old), await statusWith(secret), await statusWith("guessed")]).toEqual([
    204, 204, 401,
  ]);

  clock.wind(dayMs - 1001);
  expect([await statusWith(old), await statusWith(secret)]).toEqual([204, 204]);
  clock.wind(1);
  expect([await statusWith(old), await statusWith(secret)]).toEqual([401, 204]);
  expect(learned).toContain(secret);
  expect(JSON.stringify(receiver.lines)).not.toContain(secret);
});
