import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { Sandbox } from "../sandbox/control.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { Secret } from "../../../src/base/secret.ts";
import type { Subscription } from "../../../src/webhook/subscriptions/subscription-client.ts";
import { createKeyring } from "../../../src/webhook/keys/keyring.ts";
import { jsonLines, runCommand, temporaryFolder, type InvocationParts } from "../program/cli.ts";
import { openSandbox } from "../sandbox/sandbox.ts";

export const publicUrl = "http://127.0.0.1:8787/webhooks/acme";

export type WebhookSetup = Awaited<ReturnType<typeof openWebhookSetup>>;

interface SubscriptionJson extends Subscription {
  readonly id: number;
  readonly here: boolean;
  readonly missing_events: readonly string[];
}

interface Answer {
  readonly secret: string;
  readonly stored: string | null;
  readonly old_accepted_until?: string | null;
  readonly next: readonly string[];
  readonly subscription: SubscriptionJson;
  readonly companies: Readonly<Record<string, { readonly subscriptions: readonly SubscriptionJson[] }>>;
  readonly error?: { readonly kind: string; readonly message: string; readonly hint: string };
}

export interface WebhookSetupOptions extends SandboxOptions {
  /** Of `webhook:`; the public URL and a file that is not there yet without it. */
  readonly webhook?: string;
  readonly token?: (sandbox: Sandbox) => string;
  readonly files?: Readonly<Record<string, string>>;
}

/** A sandbox and a folder with a config that mirrors it. */
export async function openWebhookSetup({ webhook, token, files = {}, ...options }: WebhookSetupOptions = {}) {
  const sandbox = await openSandbox({ allowLoopbackWebhooks: true, ...options });
  const section = webhook ?? `{ secrets: ["\${file:hook}"], public_url: "${publicUrl}" }`;
  const acme = `{ token: "\${env:TOKEN}", webhook: ${section} }`;
  const others = sandbox.companies.slice(1).map((one, index) => `, other${index}: { token: "${one.token}" }`);
  const config = `base_url: ${sandbox.url}\ndata_dir: data\ncompanies: { acme: ${acme}${others.join("")} }\n`;
  const cwd = temporaryFolder({ "config.yaml": config, ...files });
  const env = { TOKEN: token?.(sandbox) ?? sandbox.token };
  /** `fintoro-mirror webhooks …` in this folder. */
  const run = (line: string, parts: InvocationParts = {}) =>
    runCommand(["-v", "webhooks", ...line.split(" ")], {
      cwd,
      // each call has an idempotency key of its own
      random: systemRandom,
      ...parts,
      env: { ...env, ...parts.env },
    });
  const at = (file: string) => path.join(cwd, file);
  return {
    sandbox,
    cwd,
    run,
    /** The same with `--json`: its document. */
    json: async (line: string, parts?: InvocationParts) => {
      const { code, stdout } = await run(`${line} --json`, parts);
      return { code, ...(jsonLines(stdout)[0] as unknown as Answer) };
    },
    text: (file: string) => readFileSync(at(file), "utf8"),
    mode: (file: string) => statSync(at(file)).mode & 0o777,
    has: (file: string) => existsSync(at(file)),
  };
}

/** What the service has by now. */
export async function subscriptionsOf(setup: WebhookSetup): Promise<readonly SubscriptionJson[]> {
  const { companies } = await setup.json("list --company acme");
  return companies["acme"]?.subscriptions ?? [];
}

/** Requests other than those that look. */
export function writesOf({ requests }: Pick<Sandbox, "requests">): string[] {
  return requests()
    .filter(({ method }) => method !== "GET")
    .map(({ method, path: asked }) => `${method} ${asked.replace(/^.*\/webhook-/, "/webhook-")}`);
}

/** The secrets that a receiver of this setup accepts, started now, on the clock of the commands. */
export function ringOf(setup: WebhookSetup, clock: Clock) {
  return createKeyring({
    secrets: [new Secret(new Error("it is in the file"))],
    places: [{ kind: "file", path: path.join(setup.cwd, "hook") }],
    file: path.join(setup.cwd, "data/acme.secrets.json"),
    clock,
  });
}

/** A subscription that delivers here. */
export async function created(setup: WebhookSetup) {
  const { subscription, secret } = await setup.json("create");
  return { id: subscription.id, secret };
}
