import { z } from "zod";
import {
  allStated,
  each,
  eventName,
  integer,
  record,
  text,
  oneOf,
  orNull,
} from "../../../src/connector/record-schema.ts";
import { client, contactTypes, supplier } from "../resources/clients-and-suppliers.ts";
import * as own from "../resources/company-settings.ts";
import { businessCase, businessCaseStatus, contactActivityLog, writtenLogTypes } from "../resources/crm.ts";
import { inboundReceipt, outboundReceipt, priceListItem, warehouse } from "../resources/goods.ts";
import * as lookup from "../resources/lookups.ts";
import * as op from "./operation-builders.ts";

const { characters, id, maybe, sorted } = op;

const legalForms = ["freelancer", "company"] as const;

/** A company of the public registry; the mirror does not hold these. */
const subject = record({
  id: integer(),
  name: text(),
  ...each("taxId vatId", orNull(text())),
  legalForm: oneOf(legalForms),
  ...each("city street zip", orNull(text())),
});

const subjectSearch = z.strictObject({
  searchQuery: z.string().min(3),
  legalForm: z.enum(legalForms).optional(),
  limit: z.int().min(1).max(20).optional(),
});

const accountInput = z.strictObject({
  bankId: maybe(id),
  ...each("name swift", characters(255)),
  iban: z.string(),
  autoPairingStrategy: z.enum(own.pairingStrategies).optional(),
});
const accountUpdate = accountInput.extend({ isPrimary: z.boolean() }).partial();

const { webhookSubscription: hook, webhookSubscriptionWithSecret: newHook } = own;
const hookInput = z.strictObject({
  name: maybe(characters(255)),
  url: z.url({ protocol: /^https?$/, error: "must be a web address" }).max(2048),
  isActive: z.boolean(),
  subscribedEvents: z.array(eventName()).min(1),
});

/** Name and address of a client, a supplier or the party of a receipt. */
const partyInput = {
  name: characters(255),
  type: z.enum(contactTypes).optional(),
  ...each("subjectId taxId vatId", maybe(characters(40))),
  isVatPayer: z.boolean().optional(),
  email: maybe(op.email(255)),
  ...each("street city", maybe(characters(255))),
  zip: maybe(characters(10)),
  countryId: maybe(id),
};

const deliveryInput = (zipLength: number) => ({
  ...each("deliveryStreet deliveryCity", maybe(characters(255))),
  deliveryZip: maybe(characters(zipLength)),
  deliveryCountryId: maybe(id),
});

export const clientOverride = z.strictObject({
  ...partyInput,
  name: partyInput.name.optional(),
  ...each("taxId vatId zip", maybe(characters(20))),
  hasDeliveryAddress: z.boolean().optional(),
  ...deliveryInput(20),
});

const clientInput = z.strictObject({
  ...partyInput,
  ...deliveryInput(10),
  ...each("preferredDeliveryMethodId preferredPaymentMethodId", maybe(id)),
  ...each("preferredCurrencyId preferredLanguageId", maybe(id)),
  preferredDueDays: maybe(z.int().min(0).max(365)),
  preferredNote: maybe(z.string()),
  stripeCustomerId: maybe(characters(255)),
  systemeioContactId: maybe(id),
  ...each("preferredVariableSymbol preferredSpecificSymbol", maybe(op.variableSymbol)),
  preferredConstantSymbol: maybe(op.constantSymbol),
  preferredTextAboveItems: maybe(characters(3000)),
});

const clientFilters = z.strictObject({
  ...each("search subjectId taxId vatId", z.string().optional()),
  ...sorted(["name", "city", "zip", "countryId", "createdAt", "updatedAt"]),
  type: z.enum(contactTypes).optional(),
  countryId: id.optional(),
});

const supplierFilters = z.strictObject({
  search: z.string().optional(),
  ...sorted(["name", "city", "zip", "createdAt", "updatedAt"]),
});

const statusInput = z.strictObject({ name: characters(255), color: characters(7) });
const caseInput = { statusId: maybe(id), name: characters(255), description: maybe(z.string()) };
const caseCreateInput = z
  .strictObject({ ...each("clientId supplierId", maybe(id)), ...caseInput })
  .refine(...op.exactlyOne("clientId", "supplierId"));
/** The linked contact cannot be changed. */
const caseUpdateInput = z.strictObject(caseInput).partial();

const metadata = z.strictObject({
  ...each("content personName phoneNumber", maybe(z.string())),
  email: maybe(op.email()),
  documentType: maybe(z.enum(own.seriesDocumentTypes)),
  documentId: maybe(id),
});

const target = each("businessCaseId clientId supplierId", maybe(id));
const oneTarget = op.exactlyOne(...Object.keys(target));
const logInput = { metadata, attachmentUploadTokens: z.array(z.string()).optional() };
const logCreateInput = z
  .strictObject({ ...target, type: z.enum(writtenLogTypes), ...logInput })
  .refine(...oneTarget);
/** Type and target of an event cannot be changed. */
const logUpdateInput = z.strictObject({ ...logInput, deletedAttachmentIds: z.array(id).optional() });

const oneLog = "/contact-activity-logs/{contactActivityLog}";
const logList = op.pagedList("/contact-activity-logs", contactActivityLog, 200, {
  ...each("businessCaseId clientId supplierId", id.optional()),
  type: z.enum(writtenLogTypes).optional(),
});

/** The answer to an upload; its token is given when an event is created or updated. */
const attachmentUpload = record(
  allStated({ ...each("uploadToken fileName mimeType", text()), size: integer() }),
);

const warehouseInput = z.strictObject({
  ...each("name code inboundNumericalSeriesPattern outboundNumericalSeriesPattern", characters(255)),
  ...each("inboundNumericalSeriesNextNumber outboundNumericalSeriesNextNumber", z.int().min(1)),
});

const line = z.strictObject({
  priceListItemId: id,
  quantity: op.positive(op.limits.tenTrillion),
  unitPrice: op.price,
  vatRate: op.amount(0, 100),
});

const receipt = {
  number: characters(20, 1),
  ...each("warehouseId languageId", id),
  issueDate: op.day,
  note: maybe(characters(3000)),
  items: z.array(line).min(1),
};

/** With an id the object overrides the snapshot; without, the service finds or creates the party by it. */
const party = z.strictObject(partyInput);
const inboundInput = z.strictObject({ ...receipt, supplierId: maybe(id), supplier: maybe(party) });
const outboundInput = z.strictObject({ ...receipt, clientId: maybe(id), client: maybe(party) });

const receiptFilters = {
  warehouseId: id.optional(),
  number: z.string().optional(),
  ...sorted(["number", "issue_date", "created_at", "updated_at"]),
};

const itemInput = z.strictObject({
  name: characters(255),
  description: maybe(characters(1000)),
  unitPrice: op.price,
  unitId: id,
  vatRate: op.amount(0, 23),
  ...each("ean warehouseCode", maybe(characters(255))),
  ...each("useWarehouse enableNegativeStock", z.boolean().optional()),
  maxStock: maybe(op.amount(0, op.limits.tenTrillion)),
  purchasePrice: maybe(op.price),
  purchaseVatRate: maybe(op.amount(0, 23)),
});

/** Operations on the token, the service's lists, the company's settings, contacts, the CRM, and goods. */
export const recordOperations = {
  token: { whoami: op.show("/whoami", own.identity) },
  lookups: {
    banks: op.wholeList("/banks", lookup.bank),
    countries: op.wholeList("/countries", lookup.country),
    languages: op.wholeList("/languages", lookup.language),
    currencies: op.wholeList("/currencies", lookup.currency),
    deliveryMethods: op.wholeList("/delivery-methods", lookup.deliveryMethod),
    paymentMethods: op.wholeList("/payment-methods", lookup.paymentMethod),
    qrTypes: op.wholeList("/qr-types", lookup.qrType),
    units: op.wholeList("/units", lookup.unit),
  },
  numericalSeries: {
    list: {
      ...op.wholeList("/numerical-series", own.series),
      query: z.strictObject({ documentType: z.enum(own.seriesDocumentTypes) }),
    },
    show: op.show("/numerical-series/{numericalSeries}", own.series),
  },
  subjects: {
    search: { ...op.wholeList("/subjects", subject), query: subjectSearch },
    show: op.show("/subjects/{subject}", subject),
  },
  bankAccounts: {
    list: op.wholeList("/bank-accounts", own.bankAccount),
    ...op.records("/bank-accounts", "bankAccount", own.bankAccount, accountInput),
    // Creating an account takes no `Idempotency-Key`.
    create: op.writeRecord("POST", "/bank-accounts", accountInput, own.bankAccount),
    update: op.writeRecord("PATCH", "/bank-accounts/{bankAccount}", accountUpdate, own.bankAccount),
  },
  clients: {
    list: { ...op.wholeList("/clients", client), query: clientFilters },
    ...op.records("/clients", "client", client, clientInput),
  },
  suppliers: {
    list: { ...op.wholeList("/suppliers", supplier), query: supplierFilters },
    ...op.records("/suppliers", "supplier", supplier, party),
  },
  businessCaseStatuses: {
    list: op.wholeList("/business-case-statuses", businessCaseStatus),
    ...op.records("/business-case-statuses", "businessCaseStatus", businessCaseStatus, statusInput),
  },
  businessCases: {
    list: op.pagedList("/business-cases", businessCase, 200, {
      ...each("clientId supplierId", id.optional()),
      statusId: maybe(id),
      search: characters(255).optional(),
      ...sorted(["name", "createdAt", "updatedAt", "boardPosition"]),
    }),
    ...op.records("/business-cases", "businessCase", businessCase, caseCreateInput),
    update: op.writeRecord("PATCH", "/business-cases/{businessCase}", caseUpdateInput, businessCase),
  },
  contactActivityLogs: {
    list: { ...logList, query: logList.query.refine(...oneTarget) },
    ...op.records("/contact-activity-logs", "contactActivityLog", contactActivityLog, logCreateInput),
    update: op.writeRecord("PATCH", oneLog, logUpdateInput, contactActivityLog),
    attachments: op.download(`${oneLog}/attachments`, "application/zip"),
  },
  contactActivityAttachments: {
    upload: {
      ...op.wholeList("/contact-activity-attachments", attachmentUpload),
      method: "POST",
      body: z.strictObject({ files: z.array(z.file()).min(1) }),
      bodyType: "multipart",
      status: 201,
    },
  },
  warehouses: {
    list: op.wholeList("/warehouses", warehouse),
    ...op.records("/warehouses", "warehouse", warehouse, warehouseInput),
    // Creating a warehouse takes no `Idempotency-Key`.
    create: op.writeRecord("POST", "/warehouses", warehouseInput, warehouse),
  },
  warehouseInboundReceipts: {
    list: op.pagedList("/warehouse-inbound-receipts", inboundReceipt, 200, {
      supplierId: id.optional(),
      ...receiptFilters,
    }),
    ...op.records("/warehouse-inbound-receipts", "warehouseInboundReceipt", inboundReceipt, inboundInput),
    pdf: op.pdf("/warehouse-inbound-receipts/{warehouseInboundReceipt}/pdf"),
  },
  warehouseOutboundReceipts: {
    list: op.pagedList("/warehouse-outbound-receipts", outboundReceipt, 200, {
      clientId: id.optional(),
      ...receiptFilters,
    }),
    ...op.records("/warehouse-outbound-receipts", "warehouseOutboundReceipt", outboundReceipt, outboundInput),
    pdf: op.pdf("/warehouse-outbound-receipts/{warehouseOutboundReceipt}/pdf"),
  },
  priceListItems: {
    list: op.pagedList("/price-list-items", priceListItem, 200, {
      name: characters(255).optional(),
      ...each("priceFrom priceTo stockFrom stockTo", z.number().optional()),
      onlyWarehouseItems: z.boolean().optional(),
      ...sorted(["name", "unit_price", "stock"]),
    }),
    ...op.records("/price-list-items", "priceListItem", priceListItem, itemInput),
  },
  webhookSubscriptions: {
    list: op.wholeList("/webhook-subscriptions", hook),
    ...op.records("/webhook-subscriptions", "webhookSubscription", hook, hookInput),
    create: op.create("/webhook-subscriptions", hookInput, newHook),
    rotateSecret: {
      ...op.show("/webhook-subscriptions/{webhookSubscription}/rotate-secret", newHook),
      method: "POST",
    },
  },
} as const;
