import { z } from "zod";
import { discountTypes } from "../resources/documents/document-fields.ts";
import { clientOverride } from "./contacts.ts";
import {
  amount,
  constantSymbol,
  day,
  id,
  limits,
  maybe,
  oneOrOther,
  positive,
  price,
  variableSymbol,
  characters,
} from "./input-types.ts";

/** With `clientId` the object overrides the snapshot; without, the service finds or creates the client by it. */
const clientChoice = { clientId: maybe(id), client: maybe(clientOverride) };
export const needsClient = oneOrOther(["clientId"], ["client"]);

export const discountType = maybe(z.enum(discountTypes));

const line = {
  name: maybe(characters(255)),
  description: maybe(characters(1000)),
  unitPrice: maybe(price),
  unitId: maybe(id),
  quantity: positive(limits.quantity),
  vatRate: maybe(amount(0, 23)),
  discountType,
  discountValue: maybe(price),
  discountName: maybe(characters(255)),
  priceListItemId: maybe(id),
};

const isWhole = oneOrOther(["priceListItemId"], ["name", "unitPrice", "vatRate"]);

const allocation = z.strictObject({ warehouseId: id, quantity: positive(limits.quantity) });
const stockedLine = { ...line, warehouseAllocations: z.array(allocation).min(1).max(50).optional() };

const lines = <T extends z.ZodType>(type: T) => z.array(type).min(1).max(100);

/** Lines of orders and quotations. */
export const plainItems = lines(z.strictObject(line).refine(...isWhole));
/** Lines of invoices, credit notes and proformas. */
export const stockedItems = lines(z.strictObject(stockedLine).refine(...isWhole));
/** In an update a line may carry its `uuid`, which keeps its stock links. */
export const keptItems = lines(z.strictObject({ ...stockedLine, uuid: maybe(z.uuid()) }).refine(...isWhole));

/** A number, or a series that gives one; never both. */
const numbering = { number: maybe(characters(20, 1)), numericalSeriesId: maybe(id) };

const symbols = {
  variableSymbol: variableSymbol.optional(),
  constantSymbol: maybe(constantSymbol),
  specificSymbol: maybe(variableSymbol),
};

const discount = { discountType, discountValue: maybe(amount(0)) };
export const texts = { note: maybe(characters(3000)), textAboveItems: maybe(characters(3000)) };
export const currencyRate = amount(0.00001, 10_000_000);

export const common = {
  ...clientChoice,
  ...numbering,
  businessCaseId: maybe(id),
  issueDate: day.optional(),
  ...discount,
  transferTaxLiability: z.boolean().optional(),
  currencyId: id.optional(),
  languageId: id.optional(),
  ...texts,
};

export const methods = { deliveryMethodId: id.optional(), paymentMethodId: id.optional() };
export const payable = {
  bankAccountId: id.optional(),
  dueDateDays: z.int().min(0).max(1000).optional(),
  ...symbols,
  qrTypeId: id.optional(),
};

export const totalRange = { totalFrom: z.number().optional(), totalTo: z.number().optional() };
export const issueRange = { issueDateFrom: day.optional(), issueDateTo: day.optional() };
export const dueRange = { dueDateFrom: day.optional(), dueDateTo: day.optional() };
export const documentFilters = { number: z.string().optional(), clientId: id.optional() };
