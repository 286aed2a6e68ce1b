import { systemRandom, type Random } from "../../../src/base/random.ts";
import type { CallOptions } from "../../../src/connector/call-types.ts";
import { methodsOf } from "../../../src/connector/methods.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { operationGroups as operations } from "../operations/index.ts";

export type FintoroClient = ReturnType<typeof createClient>;

/**
 * The whole public API as typed methods. What the service would refuse is refused here first (kind
 * `usage`); its answers are handed on as they came; its errors are the transport's ServiceErrors.
 */
export function createClient(transport: Transport, parts: { readonly random?: Random } = {}) {
  const random = parts.random ?? systemRandom;
  const { upload } = methodsOf(operations.contactActivityAttachments, transport, random);
  return Object.freeze({
    whoami: methodsOf(operations.token, transport, random).whoami,
    lookups: methodsOf(operations.lookups, transport, random),
    numericalSeries: methodsOf(operations.numericalSeries, transport, random),
    subjects: methodsOf(operations.subjects, transport, random),
    clients: methodsOf(operations.clients, transport, random),
    suppliers: methodsOf(operations.suppliers, transport, random),
    bankAccounts: methodsOf(operations.bankAccounts, transport, random),
    businessCaseStatuses: methodsOf(operations.businessCaseStatuses, transport, random),
    businessCases: methodsOf(operations.businessCases, transport, random),
    contactActivityAttachments: {
      /** First step of two: the tokens it gives are named when an event is created or updated. */
      upload: (files: readonly File[], options?: CallOptions) => upload({ files: [...files] }, options),
    },
    contactActivityLogs: methodsOf(operations.contactActivityLogs, transport, random),
    warehouses: methodsOf(operations.warehouses, transport, random),
    warehouseInboundReceipts: methodsOf(operations.warehouseInboundReceipts, transport, random),
    warehouseOutboundReceipts: methodsOf(operations.warehouseOutboundReceipts, transport, random),
    priceListItems: methodsOf(operations.priceListItems, transport, random),
    webhookSubscriptions: methodsOf(operations.webhookSubscriptions, transport, random),
    invoices: methodsOf(operations.invoices, transport, random),
    creditNotes: methodsOf(operations.creditNotes, transport, random),
    proformas: methodsOf(operations.proformas, transport, random),
    orders: methodsOf(operations.orders, transport, random),
    quotations: methodsOf(operations.quotations, transport, random),
    documentPayments: methodsOf(operations.documentPayments, transport, random),
    documentMails: methodsOf(operations.documentMails, transport, random),
  });
}
