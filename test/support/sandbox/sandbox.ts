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

export async function all(sandbox: Sandbox, path: string): Promise<Dict[]> {
  const records: Dict[] = [];
  for (let page = 1; page <= 500; page++) {
    const { json } = await get(sandbox, `${path}${path.includes("?") ? "&" : "?"}page=${page}&perPage=200`);
    records.push(...(json["data"] as Dict[]));
    const paginator = json["paginator"] as Dict | undefined;
    if (!paginator || page >= Number(paginator["totalPages"])) return records;
  }
  throw new Error(`${path} has more than 500 pages`);
}
