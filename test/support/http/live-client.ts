import { expect, onTestFinished } from "vitest";
import type { FintoroClient } from "../../../connectors/fintoro/client/client.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { Sandbox } from "../sandbox/control.ts";
import { connect, type Connection, type ConnectOptions } from "../../../src/connect.ts";
import { openSandbox } from "../sandbox/sandbox.ts";

/** The library as its user has it, over real HTTP, and the service it talks to, which may not stumble. */
export async function openLive(options: SandboxOptions = {}) {
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
export function asked(sandbox: Sandbox): string[] {
  return sandbox.requests().map(({ method, path, status }) => `${method} ${path} ${status}`);
}
