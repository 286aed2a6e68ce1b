import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import {
  all,
  get,
  idOf,
  one,
  openSandbox,
  post,
  put,
  remove,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";
import { stocked, receipt } from "../support/sandbox/trade.ts";

/** Millionths, so that sums are exact. */
const exact = (value: unknown) => Math.round(Number(value) * 1e6);

/** Inbound minus outbound, by item and warehouse, out of the receipts themselves. */
async function summed(sandbox: Sandbox): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  for (const [path, sign] of [
    ["/warehouse-inbound-receipts", 1],
    ["/warehouse-outbound-receipts", -1],
  ] as const) {
    for (const record of await all(sandbox, path)) {
      for (const line of record["items"] as Dict[]) {
        const key = `${String(line["priceListItemId"])}@${idOf(record["warehouse"] as Dict)}`;
        levels.set(key, (levels.get(key) ?? 0) + sign * exact(line["quantity"]));
      }
    }
  }
  return levels;
}

/** What the items say of themselves, in the same form. */
async function shown(sandbox: Sandbox): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  for (const item of await all(sandbox, "/price-list-items")) {
    const { json } = await get(sandbox, `/price-list-items/${idOf(item)}`);
    for (const { warehouseId, stockQuantity } of json["stocks"] as Dict[]) {
      levels.set(`${idOf(item)}@${String(warehouseId)}`, exact(stockQuantity));
    }
  }
  return levels;
}

function nonZero(levels: Map<string, number>): string[] {
  return [...levels]
    .filter(([, level]) => level !== 0)
    .map(([place, level]) => `${place}=${level}`)
    .toSorted();
}

async function expectSum(sandbox: Sandbox): Promise<void> {
  const [receipts, items] = [await summed(sandbox), await shown(sandbox)];
  expect(nonZero(items)).toEqual(nonZero(receipts));
}

describe("stock adds up", () => {
  test("every seeded level is what came in minus what went out, and none is negative", async () => {
    const sandbox = await openSandbox({ records: 2_000 });
    await expectSum(sandbox);
    for (const [place, level] of await shown(sandbox)) expect(level, place).toBeGreaterThanOrEqual(0);
  });

  test("it still does after receipts were created, changed and deleted", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const came = await post(
      sandbox,
      "/warehouse-inbound-receipts",
      receipt(warehouseId, "P-1", [item["id"], 3.25]),
    );
    const left = await post(
      sandbox,
      "/warehouse-outbound-receipts",
      receipt(warehouseId, "V-1", [item["id"], 2]),
    );
    expect([came.status, left.status]).toEqual([201, 201]);
    await expectSum(sandbox);
    await put(
      sandbox,
      `/warehouse-inbound-receipts/${idOf(came.json)}`,
      receipt(warehouseId, "P-1", [item["id"], 7.5]),
    );
    await expectSum(sandbox);
    const seeded = await one(sandbox, "/warehouse-outbound-receipts?perPage=1");
    await remove(sandbox, `/warehouse-outbound-receipts/${idOf(seeded)}`);
    await remove(sandbox, `/warehouse-outbound-receipts/${idOf(left.json)}`);
    await expectSum(sandbox);
  });

  test("each change of a level is one event, of the item", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId } = await stocked(sandbox);
    const made = await post(
      sandbox,
      "/warehouse-inbound-receipts",
      receipt(warehouseId, "P-1", [item["id"], 1], [item["id"], 2]),
    );
    const path = `/warehouse-inbound-receipts/${idOf(made.json)}`;
    await put(sandbox, path, { ...receipt(warehouseId, "P-1", [item["id"], 3]), note: "to isté množstvo" });
    await remove(sandbox, path);
    expect(typesOf(sandbox)).toEqual([
      "warehouse-inbound-receipts.created",
      "price-list-items.stock-updated",
      "warehouse-inbound-receipts.updated",
      "warehouse-inbound-receipts.deleted",
      "price-list-items.stock-updated",
    ]);
  });

  test("an item that may go negative may", async () => {
    const sandbox = await openSandbox();
    const { item, warehouseId, level } = await stocked(sandbox);
    const {
      stock: _s,
      stocks: _t,
      id,
      unit: _u,
      unitPriceWithVat: _v,
      purchasePriceWithVat: _w,
      ...facts
    } = item;
    await put(sandbox, `/price-list-items/${String(id)}`, { ...facts, enableNegativeStock: true });
    const made = await post(
      sandbox,
      "/warehouse-outbound-receipts",
      receipt(warehouseId, "V-1", [id, level + 4]),
    );
    expect(made.status).toBe(201);
    await expectSum(sandbox);
  });
});
