import { expect, onTestFinished } from "vitest";
import type { FintoroClient } from "../../../connectors/fintoro/client/client.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { Sandbox } from "../sandbox/control.ts";
import { connect, type Connection, type ConnectOptions } from "../../../src/connect.ts";
import { openSandbox } from "../sandbox/sandbox.ts";

/** The library as its user has it, over real HTTP, and the service it talks to, which may not stumble. */
export interface Live {
  readonly sandbox: Sandbox;
  /** May write. */
  readonly client: FintoroClient;
}

export async function openLive(options: SandboxOptions = {}): Promise<Live> {
  const sandbox = await openSandbox(options);
  onTestFinished(() => expect(sandbox.control.failures()).toEqual([]));
  return { sandbox, client: clientOf(sandbox) };
}

export function connectTo(sandbox: Sandbox, options: Partial<ConnectOptions> = {}): Connection {
  const connection = connect({ token: sandbox.token, baseUrl: sandbox.url, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

export function clientOf(sandbox: Sandbox, options: Partial<ConnectOptions> = {}): FintoroClient {
  return connectTo(sandbox, options).client;
}

/** What was asked of the service since the test began: `POST /orders 201`; 0 where no answer was given. */
export function asked(sandbox: Sandbox, method?: string): string[] {
  return sandbox
    .requests()
    .filter((request) => method === undefined || request.method === method)
    .map((request) => `${request.method} ${request.path} ${request.status}`);
}

/** What a call was refused with; a call that is not refused is a broken test. */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (!thrown) throw new Error("the call was not refused");
  return thrown.error;
}

/** The first of them; a test that needs one cannot do without. */
export function first<T>(records: readonly T[]): T {
  const [one] = records;
  if (one === undefined) throw new Error("there is none");
  return one;
}

export const newClient = (client: FintoroClient) =>
  client.clients.create({ name: "Pekáreň u Ďura", countryId: 703 });
