import { z } from "zod";
import { discountTypes } from "../resources/documents/document-fields.ts";
import { clientOverride } from "./contacts.ts";
import * as is from "./input-types.ts";

/** With `clientId` the object overrides the snapshot; without, the service finds or creates the client by it. */
const clientChoice = { clientId: is.maybe(is.id), client: is.maybe(clientOverride) };
export const needsClient = is.oneOrOther(["clientId"], ["client"]);

export const discountType = is.maybe(z.enum(discountTypes));

const line = {
  name: is.maybe(is.characters(255)),
  description: is.maybe(is.characters(1000)),
  unitPrice: is.maybe(is.price),
  unitId: is.maybe(is.id),
  quantity: is.positive(is.limits.quantity),
  vatRate: is.maybe(is.amount(0, 23)),
  discountType,
  discountValue: is.maybe(is.price),
  discountName: is.maybe(is.characters(255)),
  priceListItemId: is.maybe(is.id),
};

const isWhole = is.oneOrOther(["priceListItemId"], ["name", "unitPrice", "vatRate"]);

const allocation = z.strictObject({ warehouseId: is.id, quantity: is.positive(is.limits.quantity) });
const stockedLine = { ...line, warehouseAllocations: z.array(allocation).min(1).max(50).optional() };

const lines = <T extends z.ZodType>(type: T) => z.array(type).min(1).max(100);

/** Lines of orders and quotations. */
export const plainItems = lines(z.strictObject(line).refine(...isWhole));
/** Lines of invoices, credit notes and proformas. */
export const stockedItems = lines(z.strictObject(stockedLine).refine(...isWhole));
/** In an update a line may carry its `uuid`, which keeps its stock links. */
export const keptItems = lines(
  z.strictObject({ ...stockedLine, uuid: is.maybe(z.uuid()) }).refine(...isWhole),
);

/** A number, or a series that gives one; never both. */
const numbering = { number: is.maybe(is.characters(20, 1)), numericalSeriesId: is.maybe(is.id) };

const symbols = {
  variableSymbol: is.variableSymbol.optional(),
  constantSymbol: is.maybe(is.constantSymbol),
  specificSymbol: is.maybe(is.variableSymbol),
};

const discount = { discountType, discountValue: is.maybe(is.amount(0)) };
export const texts = { note: is.maybe(is.characters(3000)), textAboveItems: is.maybe(is.characters(3000)) };
export const currencyRate = is.amount(0.00001, 10_000_000);

export const common = {
  ...clientChoice,
  ...numbering,
  businessCaseId: is.maybe(is.id),
  issueDate: is.day.optional(),
  ...discount,
  transferTaxLiability: z.boolean().optional(),
  currencyId: is.id.optional(),
  languageId: is.id.optional(),
  ...texts,
};

export const methods = { deliveryMethodId: is.id.optional(), paymentMethodId: is.id.optional() };
export const payable = {
  bankAccountId: is.id.optional(),
  dueDateDays: z.int().min(0).max(1000).optional(),
  ...symbols,
  qrTypeId: is.id.optional(),
};

export const totalRange = { totalFrom: z.number().optional(), totalTo: z.number().optional() };
export const issueRange = { issueDateFrom: is.day.optional(), issueDateTo: is.day.optional() };
export const dueRange = { dueDateFrom: is.day.optional(), dueDateTo: is.day.optional() };
export const documentFilters = { number: z.string().optional(), clientId: is.id.optional() };
