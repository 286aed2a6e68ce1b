import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { formatNumber, variableSymbol } from "../base/document-numbers.ts";
import { each, everyKey, omit, pick, nameList, type AnsweredRecord } from "../base/values.ts";
import { euro, rateOn } from "../lookups/lookup-lists.ts";
import { documentKinds, kindFacts } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company.ts";
import type { DocumentKind, BookRow } from "../model/rows.ts";
import { parse, refuse, sentOnly } from "../rules/rules.ts";
import { collection, type ListRules, type Write } from "./collection.ts";
import { balanceOf, paymentsOf } from "./balance.ts";
import { documentPreview, documentView } from "./document-view.ts";
import { primaryAccount } from "./own-settings.ts";
import { clients, snapshotOf } from "./partners.ts";
import { payments } from "./payments.ts";

const [id, text] = [z.int(), z.string()];

const discountShape = z.object({
  discountType: z.enum(["percentage", "fixed"]).nullish(),
  discountValue: z.number().nullish(),
});

/** All that a request may send of any kind of document; a kind that does not have a field never shows it. */
const documentShape = discountShape.extend({
  ...each("clientId businessCaseId numericalSeriesId", id.nullish()),
  ...each("invoiceId proformaId orderId quotationId", id.nullish()),
  ...each("constantSymbol specificSymbol", id.nullish()),
  ...each("note textAboveItems number validityDate", text.nullish()),
  ...each("currencyId languageId deliveryMethodId paymentMethodId qrTypeId", id.optional()),
  ...each("bankAccountId variableSymbol dueDateDays", id.optional()),
  ...each("issueDate dueDate deliveryDate", text.optional()),
  currencyRate: z.number().optional(),
  transferTaxLiability: z.boolean().optional(),
  client: z.looseObject({}).nullish(),
  items: z
    .array(
      discountShape.extend({
        ...each("uuid name description discountName", text.nullish()),
        ...each("unitPrice vatRate", z.number().nullish()),
        ...each("unitId priceListItemId", id.nullish()),
        quantity: z.number(),
      }),
    )
    .min(1),
});
type SentDocument = z.output<typeof documentShape>;

const documentList: ListRules = {
  filters: {
    paymentStatus: (one, wanted, company) =>
      !kindFacts[one.kind].payable || balanceOf(company, one).status === wanted,
  },
  usualOrder: ["issueDate", "desc"],
  pageSize: [10, 500],
  preview: documentPreview,
};

/** The documents of each kind. A change leaves nothing as it was: what is not sent gets its default. */
export const documents = Object.fromEntries(
  documentKinds.map((kind) => [kind, documentsAs(kind)] as const),
) as Readonly<Record<DocumentKind, ReturnType<typeof documentsAs>>>;

function documentsAs(kind: DocumentKind) {
  return collection(kindFacts[kind].table, {
    shape: documentShape,
    unique: ["number"],
    facts: (write) => ({
      ...(kind === "credit-note" ? creditNoteFacts(write) : saleFacts(write, kind)),
      ...(write.own && pick(write.own, ["uuid", "type", "willBePaid", "status"])),
    }),
    view: documentView,
    list: documentList,
    beforeRemove: (company, own) => {
      for (const payment of paymentsOf(company, own)) payments.remove(company, payment);
    },
  });
}

/** The company's settings for documents, where neither request nor client says otherwise. */
const defaults = { languageId: 1, currencyId: euro, deliveryMethodId: 1, paymentMethodId: 1, qrTypeId: 2 };
const usualDays = { due: 14, validity: 30 };

/** An invoice, proforma, order or quotation. The client may be created on the way. */
function saleFacts(write: Write<SentDocument>, kind: DocumentKind): Partial<BookRow> {
  const { company, sent } = write;
  const client =
    company.tables.clients.get(sent.clientId) ??
    clients.create(company, sent.client ?? refuse("clientId", "required"));
  const head = headOf(write, kind, sent.dueDateDays ?? client.preferredDueDays ?? usualDays.due);
  const usual = { variableSymbol: variableSymbol(head.number), ...preferencesOf(client) };
  const terms = termsOf(write, kind, usual, head.deliveryDate ?? head.issueDate);
  const items = itemsFrom(write, kind);
  return { ...head, clientId: client.id, client: snapshotOf(client), ...terms, items };
}

/** What the client prefers: `preferredNote` -> `note`. */
function preferencesOf(client: BookRow): Partial<BookRow> {
  const own = Object.entries(client).flatMap(([field, value]) => {
    const [, first, rest] = /^preferred(.)(.*)/.exec(field) ?? [];
    return first === undefined || value === null ? [] : [[`${first.toLowerCase()}${rest}`, value]];
  });
  return Object.fromEntries(own) as Partial<BookRow>;
}

/** A credit note. Its client is always that of the invoice. */
function creditNoteFacts(write: Write<SentDocument>): Partial<BookRow> {
  const { company, sent } = write;
  const invoice = company.tables.invoices.get(sent.invoiceId) ?? refuse("invoiceId", "required");
  const head = headOf(write, "credit-note", 0);
  const methods = pick(invoice, ["deliveryMethodId", "paymentMethodId", "qrTypeId"]);
  const usual = { ...methods, variableSymbol: variableSymbol(head.number) };
  const terms = termsOf(write, "credit-note", usual, head.issueDate);
  const items = itemsFrom(write, "credit-note");
  return { ...head, ...pick(invoice, ["clientId", "client"]), ...terms, items };
}

/** Kind, number and dates. A date that the kind does not have is null. */
function headOf({ company, sent }: Write<SentDocument>, kind: DocumentKind, dueDays: number) {
  const issueDate = sent.issueDate ?? dateOf(company.today);
  const issueDay = dayOf(issueDate);
  const dated = (field: "dueDate" | "deliveryDate" | "validityDate", usual: string) =>
    kindFacts[kind].shown.includes(field) ? (sent[field] ?? usual) : null;
  return {
    kind,
    uuid: company.random.uuid(),
    type: kind,
    ...takeNumber(company, kind, sent, issueDay),
    company: company.snapshot,
    issueDate,
    dueDate: dated("dueDate", dateOf(issueDay + dueDays)),
    deliveryDate: dated("deliveryDate", issueDate),
    validityDate: dated("validityDate", dateOf(issueDay + usualDays.validity)),
    willBePaid: true,
    status: "waiting" as const,
  };
}

const termFields = nameList(
  "deliveryMethodId paymentMethodId currencyId languageId qrTypeId variableSymbol constantSymbol specificSymbol invoiceId proformaId orderId quotationId businessCaseId discountType discountValue note textAboveItems",
);

/** Everything that a request may set and that needs no more than what is usual; else it is null. */
function termsOf(
  { company, sent }: Write<SentDocument>,
  kind: DocumentKind,
  usual: Partial<BookRow>,
  rateDate: string,
) {
  const given = sentOnly(pick(sent, termFields));
  const usualTerms = pick(usual, termFields.filter((field) => field in usual) as (keyof BookRow)[]);
  const terms = { ...everyKey(termFields, null), ...defaults, ...usualTerms, ...given } as unknown as Pick<
    BookRow,
    "currencyId" | "languageId"
  >;
  const { currencyRate = rateOn(terms.currencyId, dayOf(rateDate) - 1) } = sent;
  const { bankAccountId = primaryAccount(company)?.id ?? null } = sent;
  return {
    ...terms,
    bankAccountId: kindFacts[kind].payable ? bankAccountId : null,
    transferTaxLiability: sent.transferTaxLiability ?? false,
    currencyRate: terms.currencyId === euro ? 1 : currencyRate,
  };
}

/** Lines as they are kept: what was left out comes from the price list, then from the defaults. */
function itemsFrom({ company, sent, own }: Write<SentDocument>, kind: DocumentKind) {
  return sent.items.map((line) => {
    const listed = company.tables.price_list_items.get(line.priceListItemId);
    const isKept = kindFacts[kind].keepsLines && line.uuid;
    const same = isKept ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
    const { discountName = null, discountType = null, discountValue = null } = line;
    return {
      id: same?.id ?? company.nextPartId(),
      uuid: same?.uuid ?? company.random.uuid(),
      name: line.name ?? listed?.name ?? "",
      description: line.description ?? listed?.description ?? null,
      unitPrice: line.unitPrice ?? listed?.unitPrice ?? 0,
      unitId: line.unitId ?? listed?.unitId ?? 1,
      quantity: line.quantity,
      vatRate: line.vatRate ?? listed?.vatRate ?? 0,
      discountName,
      discountType,
      discountValue,
      priceListItemId: line.priceListItemId ?? null,
    };
  }) as unknown as BookRow["items"];
}

const creditShape = documentShape
  .pick({ number: true, numericalSeriesId: true, note: true, textAboveItems: true })
  .extend(each("issueDate dueDate deliveryDate", text.optional()));

/** Fields of an invoice that its credit note does not take over. */
const ownOfInvoice = nameList(
  "number numericalSeriesId issueDate dueDate deliveryDate variableSymbol proformaId orderId quotationId",
);

/** Creates a credit note over a whole invoice: its terms, and its lines with the sign turned. @throws Invalid */
export function creditInvoice(company: Company, invoice: BookRow, input: unknown): BookRow {
  const wish = sentOnly(parse(creditShape, input));
  const items = invoice.items.map((item) => ({ ...item, unitPrice: -item.unitPrice }));
  const sent = { ...omit(invoice, ownOfInvoice), ...wish, items, invoiceId: invoice.id } as SentDocument;
  return documents["credit-note"].add(company, creditNoteFacts({ company, sent, own: null }));
}

/** Takes the number that the request names, or the next free one of a series, which then counts on. */
function takeNumber(company: Company, kind: DocumentKind, sent: Partial<SentDocument>, issueDay: number) {
  const { number: wanted, numericalSeriesId } = sent;
  if (typeof wanted === "string") return { number: wanted, numericalSeriesId: null };
  const { numerical_series: table } = company.tables;
  const [series] = table.where(
    (one) => one.documentKind === kind && (numericalSeriesId ? one.id === numericalSeriesId : one.isDefault),
  );
  if (!series) throw new Error(`broken promise: there is a number series for ${kind}`);
  let { nextNumber } = series;
  let number = "";
  do number = formatNumber(series.pattern, issueDay, nextNumber++);
  while (documentsOf(company, kind).findBy("number", number).length > 0);
  table.replace({ ...series, nextNumber });
  return { number, numericalSeriesId: series.id };
}

/** A number series, with the number that it gives next. */
export function seriesView({ today }: Company, series: BookRow): AnsweredRecord {
  const nextDocumentNumber = formatNumber(series.pattern, today, series.nextNumber);
  const nextVariableSymbol = variableSymbol(nextDocumentNumber);
  const { documentKind: documentType } = series;
  return { ...omit(series, ["documentKind"]), documentType, nextDocumentNumber, nextVariableSymbol };
}
