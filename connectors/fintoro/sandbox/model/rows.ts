import type { Each } from "../base/values.ts";

export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

export type Discount = Each<"discountType", string | null> & Each<"discountValue", number | null>;

/**
 * A record of any collection as the sandbox keeps it: lookup values by id, money as the number that was sent,
 * moments as epoch ms. Which of the fields it has, its collection says; how it looks in an answer, its view.
 */
export type BookRow = Discount &
  Each<"id createdAtMs updatedAtMs currencyId currencyRate languageId warehouseId boardPosition", number> &
  Each<"deliveryMethodId paymentMethodId qrTypeId unitPrice unitId vatRate nextNumber documentId", number> &
  Each<"inboundNumericalSeriesNextNumber outboundNumericalSeriesNextNumber", number> &
  Each<"uuid name number type issueDate paymentDate code url secret pattern iban swift", string> &
  Each<"autoPairingStrategy inboundNumericalSeriesPattern outboundNumericalSeriesPattern", string> &
  Each<"description note textAboveItems dueDate deliveryDate validityDate ean warehouseCode", string | null> &
  Each<"city zip street vatId subjectId taxId", string | null> &
  Each<"clientId supplierId businessCaseId invoiceId proformaId numericalSeriesId", number | null> &
  Each<"bankAccountId statusId purchasePrice purchaseVatRate bankId receiptInvoiceId", number | null> &
  Each<"variableSymbol constantSymbol specificSymbol lastSuccessAtMs lastFailureAtMs", number | null> &
  Each<"countryId deliveryCountryId preferredLanguageId", number | null> &
  Each<"preferredCurrencyId preferredDueDays", number | null> &
  Each<"isActive isDefault isVatPayer isPrimary useWarehouse willBePaid transferTaxLiability", boolean> &
  Each<"kind documentKind", DocumentKind> & {
    readonly subscribedEvents: readonly string[];
    /** Of all types of CRM events together. */
    readonly metadata: Partial<
      Each<"content email personName phoneNumber", string | null> &
        Each<"documentId priceSnapshot currencySnapshotId paidAmount", number> &
        Each<"numberSnapshot", string> &
        Each<"documentKind", DocumentKind>
    >;
    readonly attachments: readonly Attachment[];
    readonly partner: BookRow | null;
    /** Of a quotation; that of documents with payments follows from these. */
    readonly status: "waiting" | "accepted" | "rejected";
    readonly company: object;
    readonly client: BookRow;
    readonly items: readonly Line[];
    readonly amountCents: bigint;
    /** What the bank last reported of an account. */
    readonly openBanking: (Each<"balance syncedAtMs", number> & Each<"until", string>) | null;
  };

/** A line of a document, or of a receipt with the item's name, code and unit of that time. */
type Line = Discount &
  Each<"id unitPrice unitId quantity vatRate", number> &
  Each<"uuid", string> &
  Partial<Each<"name itemName", string>> &
  Each<"itemCode", string | null> &
  Each<"priceListItemId", number | null>;

export type Upload = Each<"name mimeType", string> & { readonly content: Buffer };
export type Attachment = Upload & Each<"id", number>;

type Key = string | number;
/** The ids of each value of a field. */
type FieldIndex = Map<Key, number[]>;

export const compareKeys = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0);

/** The live records of one kind in the order of their ids. Ids count up and are never used again. */
export class RowTable {
  readonly firstId: number;
  nextId: number;
  readonly #rows = new Map<number, BookRow>();
  /** By field, made when it is first asked for. */
  readonly #indexes = new Map<keyof BookRow, FieldIndex>();
  /** Sorted records by the name of the order; dropped at each write. */
  readonly #orders = new Map<string, readonly BookRow[]>();

  constructor(firstId: number) {
    this.firstId = this.nextId = firstId;
  }

  get(id: number | null | undefined): BookRow | undefined {
    return this.#rows.get(id ?? 0);
  }

  add(fields: Omit<Partial<BookRow>, "id">): BookRow {
    return this.replace({ id: this.nextId++, ...fields } as BookRow);
  }

  replace(row: BookRow): BookRow {
    this.#index(this.#rows.get(row.id), row);
    this.#rows.set(row.id, row);
    return row;
  }

  remove(id: number): void {
    this.#index(this.#rows.get(id), undefined);
    this.#rows.delete(id);
  }

  values(): MapIterator<BookRow> {
    return this.#rows.values();
  }

  where(test: (row: BookRow) => boolean): BookRow[] {
    return [...this.values()].filter(test);
  }

  findBy(field: keyof BookRow, key: Key | undefined): BookRow[] {
    const index = this.#indexes.get(field) ?? new Map<Key, number[]>();
    if (!this.#indexes.has(field)) for (const row of this.values()) move(index, field, undefined, row);
    this.#indexes.set(field, index);
    return (index.get(key ?? "") ?? []).flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** The live records by key, ascending, and equal keys by tie. An order with a name is kept until the next write. */
  sorted(name: string | null, keyOf: (row: BookRow) => Key, tieOf: (row: BookRow) => number) {
    const known = this.#orders.get(name ?? "");
    if (known) return known;
    const keyed = Array.from(this.values(), (row) => [row, keyOf(row), tieOf(row)] as const);
    keyed.sort(([, a, tie], [, b, otherTie]) => compareKeys(a, b) || tie - otherTie);
    const rows: readonly BookRow[] = keyed.map(([row]) => row);
    if (name !== null) this.#orders.set(name, rows);
    return rows;
  }

  /** Brings the indexes in line with what will stand in place of a record. */
  #index(before: BookRow | undefined, after: BookRow | undefined): void {
    this.#orders.clear();
    for (const [field, index] of this.#indexes) move(index, field, before, after);
  }
}

/** A record whose field is null, zero or empty stands in no index. */
function move(index: FieldIndex, field: keyof BookRow, before?: BookRow, after?: BookRow): void {
  const [from, to] = [before?.[field], after?.[field]] as (Key | null | undefined)[];
  if (from === to) return;
  if (before && from) index.set(from, index.get(from)?.filter((one) => one !== before.id) ?? []);
  if (after && to && !index.get(to)?.push(after.id)) index.set(to, [after.id]);
}
