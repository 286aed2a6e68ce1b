import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { decimal, divide } from "../base/decimal-money.ts";
import { variableSymbol } from "../base/identifiers.ts";
import { everyKey, pick } from "../base/values.ts";
import { languageById } from "../lookups/languages.ts";
import { discountLabel, euro, rateOn } from "../lookups/lookup-lists.ts";
import { kindFacts } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import { documentShape } from "../model/records.ts";
import type { Client, Document, DocumentInput, DocumentKind, Item } from "../model/records.ts";
import { clients, clientSnapshot } from "../collections/partners.ts";
import { collection } from "../collections/collection.ts";
import type { ListRules } from "../collections/record-list.ts";
import { primaryAccount } from "../collections/own-settings.ts";
import { refuse } from "../rules/problems.ts";
import { optional, parse, sentOnly } from "../rules/request-shape.ts";
import { balanceOf, paymentsOf, totalsOf } from "./balance.ts";
import { documentPreview, documentView } from "./document-view.ts";
import { takeNumber } from "./number-series.ts";
import { payments } from "./payments.ts";
/** How the lists of documents differ from others. */
const documentList: ListRules<Document> = {
  filters: {
    status: ({ answer }, wanted) => answer === wanted,
    paymentStatus: (one, wanted, company) =>
      !kindFacts[one.kind].payable || balanceOf(company, one).status === wanted,
  },
  sorts: {
    total: (document) => Number(totalsOf(document).net),
    totalWithVat: (document) => Number(totalsOf(document).gross),
    totalWithVatEur: (document) =>
      Number(divide(totalsOf(document).gross * 1_000_000n, decimal(document.currencyRate))),
  },
  usualOrder: ["issueDate", "desc"],
  pageSize: [10, 500],
  preview: documentPreview,
  shufflesTies: true,
};

/** The documents of each kind. A change leaves nothing as it was: what is not sent gets its default. */
export const documents = {
  invoice: documentsAs("invoice"),
  "credit-note": documentsAs("credit-note"),
  proforma: documentsAs("proforma"),
  order: documentsAs("order"),
  quotation: documentsAs("quotation"),
} satisfies Record<DocumentKind, unknown>;

function documentsAs(kind: DocumentKind) {
  return collection(kindFacts[kind].table, {
    shape: documentShape,
    unique: ["number"],
    facts: ({ company, sent, own }) => {
      const write = { company, kind, sent, own };
      const facts = kind === "credit-note" ? creditNoteFacts(write) : saleFacts(write);
      return { ...facts, ...(own ? pick(own, ["uuid", "type", "willBePaid", "answer"]) : {}) };
    },
    view: documentView,
    list: documentList,
    beforeRemove: (company, own) => {
      for (const payment of paymentsOf(company, own)) payments.drop(company, payment);
    },
  });
}

type Facts = Omit<Document, "id">;

/** One write of a document: what was sent, and the document that it replaces. */
interface DocumentWrite {
  readonly company: Company;
  readonly kind: DocumentKind;
  readonly sent: DocumentInput;
  readonly own: Document | null;
}

/** The company's settings for documents, where neither request nor client says otherwise. */
const defaults = { languageId: 1, currencyId: euro, deliveryMethodId: 1, paymentMethodId: 1, qrTypeId: 2 };
const usualDays = { due: 14, validity: 30 };

/** An invoice, proforma, order or quotation. The client may be created on the way. */
function saleFacts(write: DocumentWrite): Facts {
  const { company, sent } = write;
  const client =
    company.tables.clients.get(sent.clientId ?? 0) ??
    clients.create(company, sent.client ?? refuse("clientId", "required"));
  const languageId = sent.languageId ?? client.preferredLanguageId ?? defaults.languageId;
  const items = sent.items.map((line) => itemFrom(write, line, languageId));
  const head = headOf(write, sent.dueDateDays ?? client.preferredDueDays ?? usualDays.due);
  const usual = { ...defaults, variableSymbol: variableSymbol(head.number), ...preferencesOf(client) };
  const terms = termsOf(write, usual, head.deliveryDate ?? head.issueDate);
  return { ...head, clientId: client.id, client: snapshotOf(client), ...terms, items };
}

/** What the client prefers: `preferredNote` -> `note`. */
function preferencesOf(client: Client): Partial<Terms> {
  const own = Object.entries(client).filter(
    ([field, value]) => field.startsWith("preferred") && value !== null,
  );
  return Object.fromEntries(
    own.map(([field, value]) => [`${field.charAt(9).toLowerCase()}${field.slice(10)}`, value]),
  );
}

/** One copy for all documents of a client: large companies keep many. */
const snapshots = new WeakMap<Client, Document["client"]>();

function snapshotOf(client: Client): Document["client"] {
  const snapshot = snapshots.get(client) ?? clientSnapshot(client);
  snapshots.set(client, snapshot);
  return snapshot;
}

/** A credit note. Its client is always that of the invoice. */
function creditNoteFacts(write: DocumentWrite): Facts {
  const { company, sent } = write;
  const invoice = documentsOf(company, "invoice").get(sent.invoiceId ?? 0) ?? refuse("invoiceId", "required");
  const head = headOf(write, 0);
  const usual = pick(invoice, ["deliveryMethodId", "paymentMethodId", "qrTypeId"]);
  const terms = termsOf(write, usual, head.issueDate);
  const items = sent.items.map((line) => itemFrom(write, line, terms.languageId));
  return { ...head, ...pick(invoice, ["clientId", "client"]), ...terms, items };
}

/** Kind, number and dates. A date that the kind does not have is null. */
function headOf(write: DocumentWrite, dueDays: number) {
  const { company, kind, sent } = write;
  const issueDate = sent.issueDate ?? dateOf(company.settings.today);
  const issueDay = dayOf(issueDate);
  const dated = (field: "dueDate" | "deliveryDate" | "validityDate", usual: string) =>
    kindFacts[kind].shown.includes(field) ? (sent[field] ?? usual) : null;
  return {
    kind,
    uuid: company.random.uuid(),
    type: kind as string,
    ...takeNumber(company, kind, sent, issueDay),
    company: company.snapshot,
    issueDate,
    dueDate: dated("dueDate", dateOf(issueDay + dueDays)),
    deliveryDate: dated("deliveryDate", issueDate),
    validityDate: dated("validityDate", dateOf(issueDay + usualDays.validity)),
    willBePaid: true,
    answer: "waiting" as const,
  };
}

const numbers = ["deliveryMethodId", "paymentMethodId", "currencyId", "languageId", "qrTypeId"] as const;
const symbols = ["variableSymbol", "constantSymbol", "specificSymbol"] as const;
const links = ["invoiceId", "proformaId", "orderId", "quotationId", "businessCaseId"] as const;
const discount = ["discountType", "discountValue"] as const;
const termFields = [...numbers, ...symbols, ...links, ...discount, "note", "textAboveItems"] as const;
type Terms = Pick<Document, (typeof termFields)[number]>;

/** Everything that a request may set and that needs no more than what is usual; else it is null. */
function termsOf({ company, kind, sent }: DocumentWrite, usual: Partial<Terms>, rateDate: string) {
  const terms = {
    ...everyKey(termFields, null),
    ...defaults,
    ...usual,
    ...sentOnly(pick(sent, termFields)),
  } as Terms;
  const { currencyRate = rateOn(terms.currencyId, dayOf(rateDate) - 1) } = sent;
  const { bankAccountId = primaryAccount(company)?.id ?? null } = sent;
  return {
    ...terms,
    bankAccountId: kindFacts[kind].payable ? bankAccountId : null,
    transferTaxLiability: sent.transferTaxLiability ?? false,
    currencyRate: terms.currencyId === euro ? 1 : currencyRate,
  };
}

/** A line as it is kept: what was left out comes from the price list, then from the defaults. */
function itemFrom(
  { company, kind, own }: DocumentWrite,
  line: DocumentInput["items"][number],
  languageId: number,
): Item {
  const { keepsLines } = kindFacts[kind];
  const listed = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  const same = keepsLines && line.uuid ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
  const { discountType = null, discountValue = null } = line;
  return {
    id: same?.id ?? company.settings.nextPartId++,
    uuid: same?.uuid ?? company.random.uuid(),
    name: line.name ?? listed?.name ?? "",
    description: line.description ?? listed?.description ?? null,
    unitPrice: line.unitPrice ?? listed?.unitPrice ?? 0,
    unitId: line.unitId ?? listed?.unitId ?? 1,
    quantity: line.quantity,
    vatRate: line.vatRate ?? listed?.vatRate ?? 0,
    discountName:
      line.discountName ?? (discountType === null ? null : discountLabel(languageById(languageId))),
    discountType,
    discountValue,
    priceListItemId: line.priceListItemId ?? null,
  };
}

const creditShape = documentShape
  .pick({ number: true, numericalSeriesId: true, note: true, textAboveItems: true })
  .extend(optional(["issueDate", "dueDate", "deliveryDate"], z.string()));

/**
 * Creates a credit note over a whole invoice: its terms, and its lines with the sign turned.
 *
 * @throws Invalid
 */
export function creditInvoice(company: Company, invoice: Document, input: unknown): Document {
  const { note = invoice.note, textAboveItems = invoice.textAboveItems, ...sent } = parse(creditShape, input);
  const { issueDate = dateOf(company.settings.today) } = sent;
  const { dueDate = issueDate, deliveryDate = issueDate } = sent;
  const items = invoice.items.map((item) => {
    const id = company.settings.nextPartId++;
    return { ...item, id, uuid: company.random.uuid(), unitPrice: -item.unitPrice };
  });
  const taken = takeNumber(company, "credit-note", sent, dayOf(issueDate));
  const { id: invoiceId, ...terms } = invoice;
  return documents["credit-note"].add(company, {
    ...terms,
    kind: "credit-note",
    type: "credit-note",
    uuid: company.random.uuid(),
    ...taken,
    issueDate,
    dueDate,
    deliveryDate,
    note,
    textAboveItems,
    invoiceId,
    items,
    variableSymbol: variableSymbol(taken.number),
    willBePaid: true,
    ...everyKey(["proformaId", "orderId", "quotationId"], null),
  });
}
