import { expect, onTestFinished } from "vitest";
import type { FintoroClient } from "../../../connectors/fintoro/client/client.ts";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import type { Sandbox } from "../sandbox/control.ts";
import { Reference, referencePresent } from "../sandbox/reference.ts";
import { connect, type Connection, type ConnectOptions } from "../../../src/connect.ts";
import { openSandbox } from "../sandbox/sandbox.ts";

/** The library as its user has it, over real HTTP, and the service it talks to, which may not stumble. */
export interface Live {
  readonly sandbox: Sandbox;
  /** May write; every answer is held to the type that its method promises, those to writes to the vendor's reference, too. */
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
  return heldToTypes(connectTo(sandbox, options).client);
}

type AnyMethod = (...args: unknown[]) => Promise<unknown>;
type AnyGroup = Readonly<Record<string, AnyMethod>>;

/** The same client, whose methods fail when an answer is not what its operation's type says. */
function heldToTypes(client: FintoroClient): FintoroClient {
  const groups = Object.entries(client).map(([name, group]) => [
    name,
    typeof group === "function" ? held(`token.${name}`, group as AnyMethod) : heldGroup(name, group),
  ]);
  return Object.fromEntries(groups) as FintoroClient;
}

function heldGroup(name: string, group: object): AnyGroup {
  const methods = Object.entries(group as AnyGroup).map(([key, method]) => {
    const paging = key === "pages" || key === "all";
    return [key, paging ? method : held(`${name}.${key}`, method)];
  });
  return Object.fromEntries(methods) as AnyGroup;
}

function held(name: string, method: AnyMethod): AnyMethod {
  const operation = manifest.operations.find((one) => one.name === name);
  if (!operation) throw new Error(`no operation is called ${name}`);
  const { answer } = operation;
  return async (...args) => {
    const given = await method(...args);
    if (answer.kind === "record") answer.schema.parse(given);
    if (answer.kind === "record" && operation.method !== "GET")
      expect(complaintsOf(operation, given), name).toEqual([]);
    if (answer.kind === "list") answer.schema.array().parse(answer.paged ? dataOf(given) : given);
    return given;
  };
}

let reference: Reference | null = null;

/** How a record that was made or changed is unlike the one that the vendor publishes. */
function complaintsOf({ method, path }: { method: string; path: string }, record: unknown): string[] {
  if (!referencePresent) return [];
  reference ??= new Reference();
  const verb = method.toLowerCase();
  const status = reference.isJson(verb, path, 201) ? 201 : 200;
  return reference.complaints(verb, path, status, record);
}

const dataOf = (page: unknown): unknown => (page as { readonly data: unknown }).data;

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

export async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of records) all.push(one);
  return all;
}

/** The first of them; a test that needs one cannot do without. */
export function first<T>(records: readonly T[]): T {
  const [one] = records;
  if (one === undefined) throw new Error("there is none");
  return one;
}

/** What every document says of how it is paid. */
export const terms = {
  transferTaxLiability: false,
  paymentMethodId: 1,
  currencyId: 1,
  currencyRate: 1,
  languageId: 1,
};

/** One hour of work at 40 and 23 % VAT. */
export const work = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 1 };

/** By their numbers, as ISO 3166-1 has them. */
export const slovakia = 703;

export const newClient = (client: FintoroClient, name = "Pekáreň u Ďura") =>
  client.clients.create({ name, countryId: slovakia });

/** A warehouse of its own with so much of one new item in it. */
export async function stockedItem(client: FintoroClient, quantity: number) {
  const warehouse = await client.warehouses.create({
    name: "Sklad pri rieke",
    code: "RIEKA",
    inboundNumericalSeriesPattern: "PR(CCC)",
    inboundNumericalSeriesNextNumber: 1,
    outboundNumericalSeriesPattern: "VR(CCC)",
    outboundNumericalSeriesNextNumber: 1,
  });
  const item = await client.priceListItems.create({
    name: "Skrutka M8",
    unitPrice: 0.05,
    unitId: 1,
    vatRate: 23,
    useWarehouse: true,
    warehouseCode: "M8",
  });
  const receipt = await client.warehouseInboundReceipts.create(
    receiptOf(warehouse.id, "PR-1", { priceListItemId: item.id, quantity }),
  );
  return { warehouse, item, receipt };
}

/** A receipt of one line. */
export function receiptOf(
  warehouseId: number,
  number: string,
  line: { readonly priceListItemId: number; readonly quantity: number },
) {
  const items = [{ unitPrice: 0.05, vatRate: 23, ...line }];
  return { number, warehouseId, languageId: 1, issueDate: "2026-11-20", items };
}
