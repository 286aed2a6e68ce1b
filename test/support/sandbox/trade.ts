import type { Sandbox } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { all, get, post, testDay, type Dict } from "./sandbox.ts";

/** Two hours of work at 50, with 23 % VAT: 100 and 123. */
export const line = { name: "Konzultácia", quantity: 2, unitPrice: 50, vatRate: 23 };

/** A client without preferences, so that the company's defaults show. */
export async function plainClient(sandbox: Sandbox, more: Dict = {}): Promise<Dict> {
  const facts = { name: "Obyčajný, s.r.o.", vatId: "SK2020202020", countryId: 703, ...more };
  return (await post(sandbox, "/clients", facts)).json;
}

export interface Stocked {
  readonly item: Dict;
  readonly warehouseId: unknown;
  /** At least five. */
  readonly level: number;
}

/** An item with stock, and where it lies; it may not go negative. */
export async function stocked(sandbox: Sandbox): Promise<Stocked> {
  for (const { id, enableNegativeStock } of await all(
    sandbox,
    "/price-list-items?onlyWarehouseItems=true&stockFrom=5",
  )) {
    const item = (await get(sandbox, `/price-list-items/${String(id)}`)).json;
    const split = (item["stocks"] as Dict[]).find(({ stockQuantity }) => Number(stockQuantity) >= 5);
    if (split && enableNegativeStock === false) {
      return { item, warehouseId: split["warehouseId"], level: Number(split["stockQuantity"]) };
    }
  }
  throw new Error("nothing is on stock");
}

/** A receipt of `[item id, quantity]` lines. */
export function receipt(warehouseId: unknown, number: string, ...lines: [unknown, number][]): Dict {
  const items = lines.map(([priceListItemId, quantity]) => ({
    priceListItemId,
    quantity,
    unitPrice: 1.5,
    vatRate: 23,
  }));
  return { number, warehouseId, languageId: 1, issueDate: testDay, items };
}
