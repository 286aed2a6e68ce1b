import { dateOf, dayOf } from "../base/calendar.ts";
import { variableSymbol } from "../base/identifiers.ts";
import { everyKey, pick } from "../base/values.ts";
import { languageById } from "../lookups/languages.ts";
import { discountLabel, euro, rateOn } from "../lookups/lookup-lists.ts";
import { kindFacts } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import type { Client, Document, DocumentKind, Item } from "../model/records.ts";
import { clientSnapshot, overlaid, resolveClient } from "../collections/partners.ts";
import { collection } from "../collections/collection.ts";
import { primaryAccount } from "../collections/own-settings.ts";
import { check, refuse } from "../rules/problems.ts";
import { parse, sentOnly } from "../rules/request-shape.ts";
import { expectAllocated, syncAllocations } from "./allocations.ts";
import { paymentsOf, totalsOf } from "./balance.ts";
import { expectCase, expectDates, expectDocument } from "./checks.ts";
import { documentList } from "./document-list.ts";
import { documentView } from "./document-view.ts";
import { expectNumber, takeNumber } from "./number-series.ts";
import { payments } from "./payments.ts";
import { creditShape, documentShape, type DocumentWrite, type ItemInput } from "./shapes.ts";

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
    factsFrom: (company, input, own) => factsFrom(company, kind, input, own),
    view: documentView,
    list: documentList(kind),
    beforeRemove: (company, own) => {
      for (const payment of paymentsOf(company, own)) payments.drop(company, payment);
    },
    afterChange: (company, before, after) => {
      const document = after ?? before;
      if (document && kindFacts[kind].movesStock) syncAllocations(company, document, after === null);
    },
  });
}

type Facts = Omit<Document, "id">;

function factsFrom(company: Company, kind: DocumentKind, input: unknown, own: Document | null): Facts {
  const sent = parse(documentShape(kind), input);
  const write = { company, kind, sent, own };
  check((problems) => expectDocument(problems, write));
  const facts = kind === "credit-note" ? creditNoteFacts(write) : saleFacts(write);
  return { ...facts, ...(own ? pick(own, ["uuid", "type", "willBePaid", "answer"]) : {}) };
}

/** The company's settings for documents, where neither request nor client says otherwise. */
const defaults = { languageId: 1, currencyId: euro, deliveryMethodId: 1, paymentMethodId: 1, qrTypeId: 2 };
const usualDays = { due: 14, validity: 30 };

/** An invoice, proforma, order or quotation. The client may be created on the way. */
function saleFacts(write: DocumentWrite): Facts {
  const { company, kind, sent, own } = write;
  const known = company.tables.clients.get(sent.clientId ?? 0);
  const languageId = sent.languageId ?? known?.preferredLanguageId ?? defaults.languageId;
  const items = sent.items.map((line) => itemFrom(write, line, languageId));
  if (kind === "invoice") expectAllocated(company, items, own);
  const client = known ?? resolveClient(company, sent.client ?? {});
  if (!known) check((problems) => expectCase(company, problems, sent.businessCaseId, client.id));
  const head = headOf(write, sent.dueDateDays ?? client.preferredDueDays ?? usualDays.due);
  return {
    ...head,
    clientId: client.id,
    client: overlaid(snapshotOf(client), known ? (sent.client ?? null) : null),
    ...termsOf(write, preferencesOf(client, head.number)),
    languageId,
    items,
  };
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
  const invoice = documentsOf(company, "invoice").get(sent.invoiceId ?? 0) as Document;
  const { languageId = defaults.languageId } = sent;
  const facts = {
    ...headOf(write, 0),
    ...pick(invoice, ["clientId", "client"]),
    ...termsOf(write, { ...pick(invoice, methodNames), ...everyKey(textNames, null) }),
    items: sent.items.map((line) => itemFrom(write, line, languageId)),
  };
  expectNegative(facts);
  return facts;
}

/** Refuses a credit note whose total is not negative. */
function expectNegative(document: Parameters<typeof totalsOf>[0]): void {
  if (totalsOf(document).gross >= 0n) refuse("items", "not_negative");
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
    ...takeNumber(write, issueDay),
    company: company.snapshot,
    issueDate,
    dueDate: dated("dueDate", dateOf(issueDay + dueDays)),
    deliveryDate: dated("deliveryDate", issueDate),
    validityDate: dated("validityDate", dateOf(issueDay + usualDays.validity)),
    proformaId: sent.proformaId ?? null,
    orderId: sent.orderId ?? null,
    quotationId: sent.quotationId ?? null,
    willBePaid: true,
    answer: "waiting" as const,
  };
}

const methodNames = ["deliveryMethodId", "paymentMethodId", "currencyId", "languageId", "qrTypeId"] as const;
const textNames = ["variableSymbol", "constantSymbol", "specificSymbol", "note", "textAboveItems"] as const;
type Fallback = Pick<Document, (typeof methodNames)[number] | (typeof textNames)[number]>;

/** What a document has where the request leaves it out. */
function preferencesOf(client: Client, number: string): Fallback {
  return {
    deliveryMethodId: client.preferredDeliveryMethodId ?? defaults.deliveryMethodId,
    paymentMethodId: client.preferredPaymentMethodId ?? defaults.paymentMethodId,
    currencyId: client.preferredCurrencyId ?? defaults.currencyId,
    languageId: client.preferredLanguageId ?? defaults.languageId,
    qrTypeId: defaults.qrTypeId,
    variableSymbol: client.preferredVariableSymbol ?? variableSymbol(number),
    constantSymbol: client.preferredConstantSymbol,
    specificSymbol: client.preferredSpecificSymbol,
    note: client.preferredNote,
    textAboveItems: client.preferredTextAboveItems,
  };
}

/** Everything that a request may set and that needs no more than a fallback. */
function termsOf({ company, kind, sent }: DocumentWrite, fallback: Fallback) {
  const terms = { ...fallback, ...sentOnly(pick(sent, [...methodNames, ...textNames])) };
  const rateDate = sent.deliveryDate ?? sent.issueDate ?? dateOf(company.settings.today);
  const { currencyRate = rateOn(terms.currencyId, dayOf(rateDate) - 1) } = sent;
  const { bankAccountId = primaryAccount(company)?.id ?? null } = sent;
  return {
    ...terms,
    invoiceId: sent.invoiceId ?? null,
    bankAccountId: kindFacts[kind].payable ? bankAccountId : null,
    businessCaseId: sent.businessCaseId ?? null,
    discountType: sent.discountType ?? null,
    discountValue: sent.discountValue ?? null,
    transferTaxLiability: sent.transferTaxLiability ?? false,
    currencyRate: terms.currencyId === euro ? 1 : currencyRate,
  };
}

/** Most lines move no stock; one list for all of them. */
const noAllocations: Item["allocations"] = [];

/** A line as it is kept: what was left out comes from the price list, then from the defaults. */
function itemFrom({ company, kind, own }: DocumentWrite, line: ItemInput, languageId: number): Item {
  const { movesStock } = kindFacts[kind];
  const listed = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  const same = movesStock && line.uuid ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
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
    allocations: (movesStock && line.warehouseAllocations) || noAllocations,
  };
}

/**
 * Creates a credit note over a whole invoice: its terms, and its lines with the sign turned.
 *
 * @throws Invalid
 */
export function creditInvoice(company: Company, invoice: Document, input: unknown): Document {
  const { note = invoice.note, textAboveItems = invoice.textAboveItems, ...sent } = parse(creditShape, input);
  const { issueDate = dateOf(company.settings.today) } = sent;
  const { dueDate = issueDate, deliveryDate = issueDate } = sent;
  const numbered = { company, kind: "credit-note", sent } as const;
  check((problems) => {
    expectNumber(problems, numbered, null);
    expectDates(problems, { issueDate, dueDate, deliveryDate });
  });
  const items = invoice.items.map((item) => {
    const id = company.settings.nextPartId++;
    return { ...item, id, uuid: company.random.uuid(), unitPrice: -item.unitPrice };
  });
  expectNegative({ ...invoice, items });
  const taken = takeNumber(numbered, dayOf(issueDate));
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
