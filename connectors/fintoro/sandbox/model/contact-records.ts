import { z } from "zod";
import { email, id, symbol, text, type Filled } from "../rules/request-shape.ts";

/** When a record was made and last changed, epoch ms. */
export interface Stamped {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What a request sends of a supplier. Fields of a record are declared here once, for both. */
export const supplierShape = z.object({
  name: text().min(1),
  type: z.enum(["person", "company"]).optional(),
  subjectId: text(40).nullish(),
  taxId: text(40).nullish(),
  vatId: text(40).nullish(),
  isVatPayer: z.boolean().optional(),
  email: email().nullish(),
  street: text().nullish(),
  city: text().nullish(),
  zip: text(10).nullish(),
  countryId: id().nullish(),
});

/** Where a client's goods go, if not to its own address. */
export const deliveryShape = z.object({
  hasDeliveryAddress: z.boolean().optional(),
  deliveryStreet: text().nullish(),
  deliveryCity: text().nullish(),
  deliveryZip: text(10).nullish(),
  deliveryCountryId: id().nullish(),
});

/** What a client's documents have where a request leaves it out. */
export const preferenceShape = z.object({
  preferredDeliveryMethodId: id().nullish(),
  preferredPaymentMethodId: id().nullish(),
  preferredCurrencyId: id().nullish(),
  preferredLanguageId: id().nullish(),
  preferredDueDays: z.int().min(0).max(365).nullish(),
  preferredNote: text(3000).nullish(),
  preferredVariableSymbol: symbol(10).nullish(),
  preferredConstantSymbol: symbol(4).nullish(),
  preferredSpecificSymbol: symbol(10).nullish(),
  preferredTextAboveItems: text(3000).nullish(),
});

type Fields<T extends z.ZodType> = Readonly<Filled<z.output<T>>>;

/** A person or company, as clients and suppliers have it and as documents keep a copy of it. */
export type Party = Fields<typeof supplierShape> & {
  readonly type: "person" | "company";
  readonly isVatPayer: boolean;
};
export type DeliveryAddress = Fields<typeof deliveryShape> & { readonly hasDeliveryAddress: boolean };
export type Preferences = Fields<typeof preferenceShape>;

/** The copy of a client that a document keeps. */
export type ClientSnapshot = Party & DeliveryAddress;
export type Supplier = { readonly id: number } & Party & Stamped;
export type Client = { readonly id: number } & ClientSnapshot & Preferences & Stamped;

/** A company of the public register. */
export type Subject = { readonly id: number; readonly legalForm: "freelancer" | "company" } & Party;
