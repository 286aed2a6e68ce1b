import type { ClientSnapshot, CompanySnapshot, DocumentKind, Party, Stamped } from "./company-records.ts";

export interface Warehouse {
  readonly id: number;
  readonly name: string;
  readonly code: string;
  readonly inboundNumericalSeriesPattern: string;
  readonly inboundNumericalSeriesNextNumber: number;
  readonly outboundNumericalSeriesPattern: string;
  readonly outboundNumericalSeriesNextNumber: number;
}

export interface ReceiptLine {
  readonly id: number;
  readonly priceListItemId: number;
  readonly itemName: string;
  readonly itemCode: string | null;
  readonly unitId: number;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly vatRate: number;
}

/** Goods coming in (partner: a supplier) or going out (partner: a client). */
export interface Receipt extends Stamped {
  readonly id: number;
  readonly uuid: string;
  readonly number: string;
  readonly company: CompanySnapshot;
  readonly warehouseId: number;
  readonly partnerId: number | null;
  readonly partner: Party | ClientSnapshot | null;
  readonly languageId: number;
  readonly issueDate: string;
  readonly note: string | null;
  readonly lines: readonly ReceiptLine[];
  /** The document whose warehouse allocations made it. */
  readonly madeBy: { readonly kind: DocumentKind; readonly id: number } | null;
}

export interface PriceListItem {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly unitId: number;
  readonly unitPrice: number;
  readonly vatRate: number;
  readonly ean: string | null;
  readonly useWarehouse: boolean;
  readonly warehouseCode: string | null;
  readonly enableNegativeStock: boolean;
  readonly maxStock: number | null;
  readonly purchasePrice: number | null;
  readonly purchaseVatRate: number | null;
}
