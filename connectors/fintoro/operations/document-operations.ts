import { z } from "zod";
import { each } from "../../../src/connector/record-schema.ts";
import { seriesDocumentTypes } from "../resources/company-settings.ts";
import { discountTypes, paymentStatuses, quotationStatuses } from "../resources/document-fields.ts";
import * as documents from "../resources/issued-documents.ts";
import * as op from "./operation-builders.ts";
import { clientOverride, recordOperations } from "./record-operations.ts";

const { day, id, maybe } = op;

/** With `clientId` the object overrides the snapshot; without, the service finds or creates the client by it. */
const clientChoice = { clientId: maybe(id), client: maybe(clientOverride) };
const needsClient = op.oneOrOther(["clientId"], ["client"]);

const discountType = maybe(z.enum(discountTypes));

const line = {
  ...each("name discountName", maybe(op.characters(255))),
  description: maybe(op.characters(1000)),
  ...each("unitPrice discountValue", maybe(op.price)),
  ...each("unitId priceListItemId", maybe(id)),
  quantity: op.positive(op.limits.quantity),
  vatRate: maybe(op.amount(0, 23)),
  discountType,
};
const isWhole = op.oneOrOther(["priceListItemId"], ["name", "unitPrice", "vatRate"]);

const allocation = z.strictObject({ warehouseId: id, quantity: op.positive(op.limits.quantity) });
const stockedLine = { ...line, warehouseAllocations: z.array(allocation).min(1).max(50).optional() };
const lines = <T extends z.ZodType>(type: T) => z.array(type).min(1).max(100);

/** Lines of orders and quotations. */
const plainItems = lines(z.strictObject(line).refine(...isWhole));
/** Lines of invoices, credit notes and proformas. */
const stockedItems = lines(z.strictObject(stockedLine).refine(...isWhole));
/** In an update a line may carry its `uuid`, which keeps its stock links. */
const keptItems = lines(z.strictObject({ ...stockedLine, uuid: maybe(z.uuid()) }).refine(...isWhole));

const texts = each("note textAboveItems", maybe(op.characters(3000)));
const currencyRate = op.amount(0.00001, 10_000_000);

const common = {
  ...clientChoice,
  // A number, or a series that gives one; never both.
  number: maybe(op.characters(20, 1)),
  ...each("numericalSeriesId businessCaseId", maybe(id)),
  issueDate: day.optional(),
  discountType,
  discountValue: maybe(op.amount(0)),
  transferTaxLiability: z.boolean().optional(),
  ...each("currencyId languageId", id.optional()),
  ...texts,
};

const methods = each("deliveryMethodId paymentMethodId", id.optional());
const payable = {
  ...each("bankAccountId qrTypeId", id.optional()),
  dueDateDays: z.int().min(0).max(1000).optional(),
  variableSymbol: op.variableSymbol.optional(),
  constantSymbol: maybe(op.constantSymbol),
  specificSymbol: maybe(op.variableSymbol),
};

const documentFilters = {
  number: z.string().optional(),
  clientId: id.optional(),
  ...each("issueDateFrom issueDateTo", day.optional()),
  ...each("totalFrom totalTo", z.number().optional()),
};
const paidFilters = {
  ...documentFilters,
  paymentStatus: z.enum(paymentStatuses).optional(),
  ...each("dueDateFrom dueDateTo", day.optional()),
};
const flag = z.boolean().optional();

const invoiceShape = {
  ...common,
  ...each("proformaId orderId quotationId", maybe(id)),
  ...payable,
  deliveryDate: day.optional(),
  ...methods,
  currencyRate: currencyRate.optional(),
};
const invoiceInput = z.strictObject({ ...invoiceShape, items: stockedItems }).refine(...needsClient);
const invoiceUpdate = z.strictObject({ ...invoiceShape, items: keptItems }).refine(...needsClient);

/** The service takes everything else from the invoice. */
const creditOfInvoice = z.strictObject({
  number: op.characters(20, 1).optional(),
  numericalSeriesId: maybe(id),
  ...each("issueDate dueDate deliveryDate", day.optional()),
  ...texts,
});

/** The client is always that of the corrected invoice. */
const creditNoteShape = {
  ...each("invoiceId bankAccountId paymentMethodId currencyId languageId", id),
  ...each("businessCaseId numericalSeriesId", maybe(id)),
  number: op.characters(20, 1),
  ...each("issueDate dueDate deliveryDate", day),
  variableSymbol: op.variableSymbol,
  constantSymbol: maybe(op.constantSymbol),
  specificSymbol: maybe(op.variableSymbol),
  discountType,
  discountValue: maybe(op.amount()),
  transferTaxLiability: z.boolean(),
  currencyRate,
  ...texts,
};
const creditNoteInput = z.strictObject({ ...creditNoteShape, items: stockedItems });
const creditNoteUpdate = z.strictObject({ ...creditNoteShape, items: keptItems });

const paidSort = op.sorted(["number", "issueDate", "dueDate", "total", "totalWithVat"]);

const proformaShape = { ...common, ...each("orderId quotationId", maybe(id)), ...payable, ...methods };
const proformaInput = z.strictObject({ ...proformaShape, items: stockedItems }).refine(...needsClient);

const orderInput = z
  .strictObject({ ...common, quotationId: maybe(id), ...methods, items: plainItems })
  .refine(...needsClient);

const quotationInput = z
  .strictObject({ ...common, validityDate: maybe(day), items: plainItems })
  .refine(...needsClient);

const documentType = z.enum(documents.paidDocumentTypes).meta({ unlisted: documents.unlistedPaidTypes });

const paymentInput = z.strictObject({
  documentType,
  documentId: id,
  ...each("currencyId paymentMethodId", id.optional()),
  ...each("currencyRate amount", z.number().optional()),
  paymentDate: day.optional(),
});

const mailInput = z.strictObject({
  documentType: z.enum(seriesDocumentTypes),
  documentId: id,
  to: z.array(op.email()).min(1),
  body: maybe(op.characters(1000)),
  type: z.enum(["regular", "reminder", "overdue_reminder", "confirmation"]),
});

const documentOperations = {
  invoices: {
    list: op.pagedList("/invoices", documents.invoicePreview, 500, {
      ...paidFilters,
      ...op.sorted(["number", "issueDate", "dueDate", "deliveryDate", "totalWithVatEur"]),
    }),
    ...op.records("/invoices", "invoice", documents.invoice, invoiceInput),
    update: op.writeRecord("PUT", "/invoices/{invoice}", invoiceUpdate, documents.invoice),
    createCreditNote: op.create("/invoices/{invoice}/credit-notes", creditOfInvoice, documents.creditNote),
    pdf: op.pdf("/invoices/{invoice}/pdf"),
  },
  creditNotes: {
    list: op.pagedList("/credit-notes", documents.creditNotePreview, 500, { ...paidFilters, ...paidSort }),
    ...op.records("/credit-notes", "creditNote", documents.creditNote, creditNoteInput),
    update: op.writeRecord("PUT", "/credit-notes/{creditNote}", creditNoteUpdate, documents.creditNote),
    pdf: op.pdf("/credit-notes/{creditNote}/pdf"),
  },
  proformas: {
    list: op.pagedList("/proformas", documents.proformaPreview, 500, {
      ...paidFilters,
      withoutInvoice: flag,
      ...paidSort,
    }),
    ...op.records("/proformas", "proforma", documents.proforma, proformaInput),
    pdf: op.pdf("/proformas/{proforma}/pdf"),
  },
  orders: {
    list: op.pagedList("/orders", documents.orderPreview, 500, {
      ...documentFilters,
      ...each("withoutInvoice withoutProforma", flag),
      ...op.sorted(["number", "issueDate", "total", "totalWithVat"]),
    }),
    ...op.records("/orders", "order", documents.order, orderInput),
    pdf: op.pdf("/orders/{order}/pdf"),
  },
  quotations: {
    list: op.pagedList("/quotations", documents.quotationPreview, 500, {
      ...documentFilters,
      ...each("validityDateFrom validityDateTo", day.optional()),
      status: z.enum(quotationStatuses).optional(),
      ...each("withoutInvoice withoutProforma withoutOrder", flag),
      ...op.sorted(["number", "issueDate", "validityDate", "total", "totalWithVat"]),
    }),
    ...op.records("/quotations", "quotation", documents.quotation, quotationInput),
    pdf: op.pdf("/quotations/{quotation}/pdf"),
  },
  documentPayments: {
    list: {
      ...op.wholeList("/document-payments", documents.documentPayment),
      query: z.strictObject({ documentType, documentId: id }),
    },
    create: op.create("/document-payments", paymentInput, documents.documentPayment),
    show: op.show("/document-payments/{documentPayment}", documents.documentPayment),
    delete: op.remove("/document-payments/{documentPayment}"),
  },
  documentMails: {
    // 202: the mail is queued, the answer has no body.
    send: {
      method: "POST",
      path: "/document-mails",
      body: mailInput,
      status: 202,
      answer: { kind: "nothing" },
      idempotent: true,
    },
  },
} as const;

export const operationGroups = op.named({ ...recordOperations, ...documentOperations });
