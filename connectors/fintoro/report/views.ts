import type { ReportView } from "../../../src/connector/report-view.ts";
import { clientBalance } from "./client-balance.ts";
import { clientSummary } from "./client-summary.ts";
import { daysToPay, invoiceList, writeOffs } from "./documents/invoice-views.ts";
import { orderList, quotationList } from "./documents/offer-views.ts";
import { proformaList } from "./documents/proforma-views.ts";
import { numberGaps } from "./number-gaps.ts";
import { paymentsByDay } from "./payments-by-day.ts";
import { casesByStatus, pipeline } from "./pipeline.ts";
import { openInvoices, receivables, unpaidProformas } from "./receivables.ts";
import { revenueByMonth, revenueByYear } from "./revenue.ts";
import { salesLines } from "./sales-lines.ts";
import { purchasesBySupplier, slowStock, stock } from "./stock-views.ts";
import { vatByMonth, vatDocuments } from "./vat.ts";

/** The views of every report: what people ask first, and what their accountants ask next. */
export const views: readonly ReportView[] = [
  clientBalance,
  receivables,
  openInvoices,
  invoiceList,
  writeOffs,
  daysToPay,
  revenueByMonth,
  revenueByYear,
  vatByMonth,
  vatDocuments,
  clientSummary,
  salesLines,
  stock,
  slowStock,
  paymentsByDay,
  proformaList,
  unpaidProformas,
  pipeline,
  quotationList,
  orderList,
  casesByStatus,
  purchasesBySupplier,
  numberGaps,
];
