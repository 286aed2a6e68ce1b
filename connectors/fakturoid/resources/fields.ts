import { z } from "zod";
import * as t from "../../../src/connector/record-schema.ts";
import { defineResource, type Resource } from "../../../src/connector/resource.ts";

/** Fields of one type that may be null or left out, from their names. */
export const nullable = (type: () => z.ZodType, names: string) => t.each(names, t.orNull(type()));

export const created = nullable(t.timestamp, "created_at updated_at");
export const tags = { tags: t.orNull(t.json(z.array(z.string()))) };
/** A page has 40 records (introduction of the vendor's documents). */
const pageSize = 40;

type WalkedDetails = Pick<Resource, "record"> & Partial<Resource>;

/**
 * A resource in pages without a total, each record in full, and the list of what changed. The bound of `updated_since` is
 * by the service's clock; an hour is longer than any of its transactions.
 */
export function walkedResource(name: string, title: string, details: WalkedDetails) {
  const changes = { since: "updated_since", stamp: "updated_at", overlapMs: 3_600_000 };
  return defineResource({
    name,
    title,
    list: { kind: "walked", path: `/${name}.json`, pageSize, changes },
    detail: `/${name}/{id}.json`,
    ...details,
  });
}

/** A resource that one answer holds, and whose records have no route of their own. */
export function smallResource(
  name: string,
  title: string,
  { path, ...details }: Pick<Resource, "record" | "doc"> & { readonly path: string },
) {
  const list = { kind: "whole", path, body: "array" } as const;
  return defineResource({ name, title, list, ...details });
}

/** A line; those of templates lack the totals. */
const line = t.record({
  id: t.integer(),
  name: t.orNull(t.text()),
  quantity: t.orNull(t.decimal()),
  unit_name: t.orNull(t.text()),
  ...nullable(t.decimal, "unit_price vat_rate"),
  ...nullable(t.decimal, "unit_price_without_vat unit_price_with_vat total_price_without_vat total_vat"),
  ...nullable(t.decimal, "native_total_price_without_vat native_total_vat"),
  inventory: t.orNull(t.json(z.looseObject({}))),
});

export const lines = (of: string) => ({ lines: t.children(`${of}_lines`, line) });

const vatRate = t.record({
  ...nullable(t.decimal, "vat_rate base vat"),
  currency: t.orNull(t.text()),
  ...nullable(t.decimal, "native_base native_vat"),
  native_currency: t.orNull(t.text()),
});

const payment = (more: z.ZodRawShape) =>
  t.record({
    id: t.integer(),
    paid_on: t.orNull(t.date()),
    currency: t.orNull(t.text()),
    ...nullable(t.decimal, "amount native_amount"),
    variable_symbol: t.orNull(t.text()),
    bank_account_id: t.orNull(t.idOf("bank_accounts")),
    ...more,
    ...created,
  });

const attachment = t.record({ id: t.integer(), ...nullable(t.text, "filename content_type download_url") });

/** What invoices and expenses contain: `invoice_lines`, `invoice_payments` and so on. */
export const documentParts = (of: string, ofPayment: z.ZodRawShape = {}) => ({
  ...lines(of),
  vat_rates_summary: t.orNull(t.children(`${of}_vat_rates`, vatRate)),
  payments: t.orNull(t.children(`${of}_payments`, payment(ofPayment))),
  attachments: t.orNull(t.children(`${of}_attachments`, attachment)),
});

/** Amounts of documents and templates; `native_`: in the account's currency. */
export const money = {
  currency: t.orNull(t.text()),
  ...nullable(t.decimal, "exchange_rate subtotal total native_subtotal native_total rounding_adjustment"),
};
