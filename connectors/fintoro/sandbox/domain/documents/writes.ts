import { dateOf, dayOf } from "../../base/calendar.ts";
import { variableSymbol } from "../../base/identifiers.ts";
import { pick } from "../../base/values.ts";
import { euro, rateOn } from "../../lookups/currencies.ts";
import { languageById } from "../../lookups/languages.ts";
import { discountLabel } from "../../lookups/lookup-lists.ts";
import { documentTable, kindFacts } from "../../model/catalogue.ts";
import type { Document, DocumentKind, Item } from "../../model/company-records.ts";
import type { Client } from "../../model/contact-records.ts";
import { check, refuse } from "../../rules/problems.ts";
import { parse, sentOnly } from "../../rules/request-shape.ts";
import { primaryAccount } from "../settings-writes.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { addRecord, deleteRecord, saveRecord, type Writes } from "../record-writes.ts";
import { clientSnapshot, overlaid, resolveClient } from "../crm/contact-rules.ts";
import { dropAllocations, expectAllocated, syncAllocations } from "../warehouse/allocations.ts";
import { expectCase, expectDates, expectDocument } from "./checks.ts";
import { creditShape, documentShape, type DocumentWrite, type ItemInput } from "./shapes.ts";
import { totalsOf } from "./totals.ts";
import { expectNumber, takeNumber } from "./number-series.ts";
import { removePaymentsOf } from "./payment-rules.ts";

/** Creating, replacing and removing documents of a kind. */
export function documentWrites(kind: DocumentKind): Writes<Document> {
  return {
    create: (company, input) => {
      const facts = factsFrom(company, kind, input, null);
      return addDocument(company, { uuid: company.random.uuid(), ...facts });
    },
    // What is left out gets the default of a new document.
    update: (company, own, input) => {
      const { id, uuid, type, willBePaid, answer } = own;
      const changed = { ...factsFrom(company, kind, input, own), id, uuid, type, willBePaid, answer };
      saveRecord(company, documentTable[kind], changed);
      syncAllocations(company, changed);
      return changed;
    },
    remove: (company, own) => {
      removePaymentsOf(company, own);
      deleteRecord(company, documentTable[kind], own);
      dropAllocations(company, own);
    },
  };
}

/** Adds a document and the receipts of its warehouse allocations. */
function addDocument(company: Company, facts: Omit<Document, "id">): Document {
  const document = addRecord(company, documentTable[facts.kind], facts);
  syncAllocations(company, document);
  return document;
}

type Facts = Omit<Document, "id" | "uuid">;

function factsFrom(company: Company, kind: DocumentKind, input: unknown, own: Document | null): Facts {
  const sent = parse(documentShape(kind), input);
  const write = { company, kind, sent, own };
  check((problems) => expectDocument(problems, write));
  return kind === "credit-note" ? creditNoteFacts(write) : saleFacts(write);
}

/** The company's settings for documents, where neither request nor client says otherwise. */
const defaults = {
  languageId: 1,
  currencyId: euro,
  deliveryMethodId: 1,
  paymentMethodId: 1,
  qrTypeId: 2,
  dueDays: 14,
  validityDays: 30,
};

/** An invoice, proforma, order or quotation. The client may be created on the way. */
function saleFacts(write: DocumentWrite): Facts {
  const { company, kind, sent, own } = write;
  const known = sent.clientId ? company.tables.clients.get(sent.clientId) : undefined;
  const languageId = sent.languageId ?? known?.preferredLanguageId ?? defaults.languageId;
  const items = sent.items.map((line) => itemFrom(write, line, languageId));
  expectAllocated(company, kind, items, own);
  const client = known ?? resolveClient(company, sent.client ?? {});
  if (!known) check((problems) => expectCase(company, problems, sent.businessCaseId, client.id));
  const head = headOf(write, sent.dueDateDays ?? client.preferredDueDays ?? defaults.dueDays);
  return {
    ...head,
    clientId: client.id,
    client: overlaid(clientSnapshot(client), known ? (sent.client ?? null) : null),
    ...termsOf(write, preferencesOf(client, head.number)),
    languageId,
    items,
  };
}

/** A credit note. Its client is always that of the invoice. */
function creditNoteFacts(write: DocumentWrite): Facts {
  const { company, sent } = write;
  const invoice = documentsOf(company, "invoice").get(sent.invoiceId ?? 0) as Document;
  const { languageId = defaults.languageId } = sent;
  const facts = {
    ...headOf(write, 0),
    ...pick(invoice, ["clientId", "client"]),
    ...termsOf(write, { ...pick(invoice, methodNames), ...noTexts }),
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
  const { dueDate = dateOf(issueDay + dueDays), deliveryDate = issueDate } = sent;
  const validityDate = sent.validityDate ?? dateOf(issueDay + defaults.validityDays);
  const dated = (field: "dueDate" | "deliveryDate" | "validityDate", date: string) =>
    kindFacts[kind].shown.includes(field) ? date : null;
  return {
    kind,
    type: kind as string,
    ...takeNumber(write, issueDay),
    company: company.snapshot,
    issueDate,
    dueDate: dated("dueDate", dueDate),
    deliveryDate: dated("deliveryDate", deliveryDate),
    validityDate: dated("validityDate", validityDate),
    proformaId: sent.proformaId ?? null,
    orderId: sent.orderId ?? null,
    quotationId: sent.quotationId ?? null,
  };
}

const methodNames = ["deliveryMethodId", "paymentMethodId", "currencyId", "languageId", "qrTypeId"] as const;
const textNames = ["variableSymbol", "constantSymbol", "specificSymbol", "note", "textAboveItems"] as const;
type TextName = (typeof textNames)[number];
type Fallback = Pick<Document, (typeof methodNames)[number] | TextName>;

const noTexts = Object.fromEntries(textNames.map((name) => [name, null])) as Record<TextName, null>;

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
    willBePaid: true,
    answer: "waiting" as const,
  };
}

/** A line as it is kept: what was left out comes from the price list, then from the defaults. */
function itemFrom({ company, kind, own }: DocumentWrite, line: ItemInput, languageId: number): Item {
  const { movesStock } = kindFacts[kind];
  const listed = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  const same = movesStock && line.uuid ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
  const { discountType = null, discountValue = null } = line;
  const defaultName = discountType === null ? null : discountLabel(languageById(languageId).code);
  return {
    id: same?.id ?? company.settings.nextPartId++,
    uuid: same?.uuid ?? company.random.uuid(),
    name: line.name ?? listed?.name ?? "",
    description: line.description ?? listed?.description ?? null,
    unitPrice: line.unitPrice ?? listed?.unitPrice ?? 0,
    unitId: line.unitId ?? listed?.unitId ?? 1,
    quantity: line.quantity,
    vatRate: line.vatRate ?? listed?.vatRate ?? 0,
    discountName: line.discountName ?? defaultName,
    discountType,
    discountValue,
    priceListItemId: line.priceListItemId ?? null,
    allocations: movesStock ? (line.warehouseAllocations ?? []) : [],
  };
}

/** Creates a credit note over a whole invoice: its terms, and its lines with the sign turned. */
export function creditInvoice(company: Company, invoice: Document, input: unknown): Document {
  const { note = invoice.note, textAboveItems = invoice.textAboveItems, ...sent } = parse(creditShape, input);
  const { issueDate = dateOf(company.settings.today) } = sent;
  const { dueDate = issueDate, deliveryDate = issueDate } = sent;
  const dates = { issueDate, dueDate, deliveryDate };
  const numbered = { company, kind: "credit-note", sent } as const;
  check((problems) => {
    expectNumber(problems, numbered, null);
    expectDates(problems, dates);
  });
  const items = invoice.items.map((item) => turned(company, item));
  expectNegative({ ...invoice, items });
  const taken = takeNumber(numbered, dayOf(issueDate));
  const { id: invoiceId, ...terms } = invoice;
  return addDocument(company, {
    ...terms,
    kind: "credit-note",
    type: "credit-note",
    uuid: company.random.uuid(),
    ...taken,
    ...dates,
    invoiceId,
    note,
    textAboveItems,
    items,
    variableSymbol: variableSymbol(taken.number),
    willBePaid: true,
    proformaId: null,
    orderId: null,
    quotationId: null,
  });
}

function turned(company: Company, item: Item): Item {
  const id = company.settings.nextPartId++;
  return { ...item, id, uuid: company.random.uuid(), unitPrice: -item.unitPrice };
}
