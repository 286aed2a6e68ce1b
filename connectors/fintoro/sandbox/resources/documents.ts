import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { each, omit, pick, nameList, type AnsweredRecord } from "../base/values.ts";
import { euro, rateOn } from "../lookups/lookup-lists.ts";
import { documentKinds, kindFacts, type DocumentKind } from "../model/catalogue.ts";
import { documentsOf, type Company, type BookRow } from "../model/company.ts";
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
      ...documentFacts(write, kind),
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

/** A document that a request sends: kind, number and dates, whose it is, terms and lines. */
function documentFacts(write: Write<SentDocument>, kind: DocumentKind): Partial<BookRow> {
  const { usual, dueDays, ...party } = partyOf(write, kind);
  const head = headOf(write, kind, dueDays);
  const terms = termsOf(write, kind, { variableSymbol: variableSymbol(head.number), ...usual }, head);
  return { ...head, ...party, ...terms, items: itemsFrom(write, kind) };
}

/** The client, who may be created on the way, and what is usual for it. A credit note has that of its invoice. */
function partyOf({ company, sent }: Write<SentDocument>, kind: DocumentKind) {
  const { clients: known, invoices } = company.tables;
  if (kind === "credit-note") {
    const invoice = invoices.get(sent.invoiceId) ?? refuse("invoiceId", "required");
    const usual = pick(invoice, ["deliveryMethodId", "paymentMethodId", "qrTypeId"]);
    return { ...pick(invoice, ["clientId", "client"]), usual, dueDays: 0 };
  }
  const client =
    known.get(sent.clientId) ?? clients.create(company, sent.client ?? refuse("clientId", "required"));
  const dueDays = sent.dueDateDays ?? client.preferredDueDays ?? usualDays.due;
  return { clientId: client.id, client: snapshotOf(client), usual: preferencesOf(client), dueDays };
}

/** What the client prefers: `preferredNote` -> `note`. */
function preferencesOf(client: BookRow): Partial<BookRow> {
  const own = Object.entries(client).flatMap(([field, value]) => {
    const [, first, rest] = /^preferred(.)(.*)/.exec(field) ?? [];
    return first === undefined || value === null ? [] : [[`${first.toLowerCase()}${rest}`, value]];
  });
  return Object.fromEntries(own) as Partial<BookRow>;
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

const termFields =
  "deliveryMethodId paymentMethodId currencyId languageId qrTypeId variableSymbol constantSymbol specificSymbol invoiceId proformaId orderId quotationId businessCaseId discountType discountValue note textAboveItems";

/** Everything that a request may set and that needs no more than what is usual; else it is null. */
function termsOf(
  { company, sent }: Write<SentDocument>,
  kind: DocumentKind,
  usual: Partial<BookRow>,
  { issueDate, deliveryDate }: Pick<BookRow, "issueDate" | "deliveryDate">,
) {
  const given = sentOnly(pick(sent, nameList(termFields)));
  const terms = { ...each(termFields, null), ...defaults, ...usual, ...given } as typeof given &
    typeof defaults;
  const { currencyRate = rateOn(terms.currencyId, dayOf(deliveryDate ?? issueDate) - 1) } = sent;
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
  return documents["credit-note"].add(company, documentFacts({ company, sent, own: null }, "credit-note"));
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

/** `FA(RRRR)(CCC)` -> `FA2026007`: fills in the tokens for year, month and counter. */
export function formatNumber(pattern: string, day: number, counter: number): string {
  const [year = "", month = ""] = dateOf(day).split("-");
  return pattern.replace(/\((RRRR|YYYY|RR|YY|MM|C+)\)/g, (_, token: string) => {
    if (token.startsWith("C")) return String(counter).padStart(token.length, "0");
    if (token === "MM") return month;
    return token.length === 4 ? year : year.slice(-2);
  });
}

/** The variable symbol of a document number: its last ten digits. */
const variableSymbol = (number: string) => Number(number.replace(/\D/g, "").slice(-10) || "0");

/** A number series, with the number that it gives next. */
export function seriesView({ today }: Company, series: BookRow): AnsweredRecord {
  const nextDocumentNumber = formatNumber(series.pattern, today, series.nextNumber);
  const nextVariableSymbol = variableSymbol(nextDocumentNumber);
  const { documentKind: documentType } = series;
  return { ...omit(series, ["documentKind"]), documentType, nextDocumentNumber, nextVariableSymbol };
}
