import type { ReportView } from "../../../src/connector/report-view.ts";
import { numberGaps, paymentsByDay, vatByMonth, vatDocuments } from "./bookkeeping.ts";
import * as list from "./document-lists.ts";
import { einvoiceGaps } from "./einvoice-gaps.ts";
import { casesByStatus, pipeline } from "./pipeline.ts";
import { clientBalance, openInvoices, receivables, unpaidProformas } from "./receivables.ts";
import { clientSummary, revenueByMonth, revenueByYear, salesLines } from "./sales.ts";
import { purchasesBySupplier, slowStock, stock } from "./stock-views.ts";

/** The views of every report: what people ask first, and what their accountants ask next. */
export const views: readonly ReportView[] = [
  clientBalance,
  receivables,
  openInvoices,
  list.invoiceList,
  list.writeOffs,
  list.daysToPay,
  revenueByMonth,
  revenueByYear,
  vatByMonth,
  vatDocuments,
  clientSummary,
  salesLines,
  stock,
  slowStock,
  paymentsByDay,
  list.proformaList,
  unpaidProformas,
  pipeline,
  list.quotationList,
  list.orderList,
  casesByStatus,
  purchasesBySupplier,
  numberGaps,
  einvoiceGaps,
];
