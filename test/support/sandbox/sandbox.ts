import { untilTheEnd } from "../http/http.ts";
import { startSandbox, testDay, type Sandbox } from "./control.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";

export type Dict = Record<string, unknown>;

/** A sandbox that ends with the test; its budget is wide unless the test says otherwise. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return untilTheEnd(await startSandbox({ today: testDay, limit: 100_000, ...options }));
}

/** One request to the sandbox; the parsed body of its answer, an empty object for none. */
export async function get({ url, token }: Sandbox, path: string) {
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? {} : JSON.parse(text)) as Dict };
}
