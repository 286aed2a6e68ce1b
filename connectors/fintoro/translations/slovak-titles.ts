/** Reads lines such as `due_date Dátum splatnosti`. */
export function wordTable(lines: string): Readonly<Record<string, string>> {
  const rows = lines.trim().split("\n");
  return Object.fromEntries(rows.map((row) => row.trim().split(/ (.*)/s).slice(0, 2)));
}

/** What tables and views are called, in at most 31 characters: they are names of sheets. */
export const titles = wordTable(`
  company Firma
  banks Banky
  countries Krajiny
  languages Jazyky
  currencies Meny
  delivery_methods Spôsoby dodania
  payment_methods Spôsoby úhrady
  qr_types Typy QR kódov
  units Merné jednotky
  numerical_series Číselné rady
  clients Odberatelia
  suppliers Dodávatelia
  bank_accounts Bankové účty
  business_case_statuses Stavy obchodných prípadov
  warehouses Sklady
  webhook_subscriptions Odbery webhookov
  business_cases Obchodné prípady
  price_list_items Cenník
  price_list_item_stocks Stavy na skladoch
  warehouse_inbound_receipts Príjemky
  warehouse_inbound_receipt_items Položky príjemok
  warehouse_outbound_receipts Výdajky
  warehouse_outbound_receipt_items Položky výdajok
  invoices Faktúry
  invoice_items Položky faktúr
  credit_notes Dobropisy
  credit_note_items Položky dobropisov
  proformas Zálohové faktúry
  proforma_items Položky zálohových faktúr
  orders Objednávky
  order_items Položky objednávok
  quotations Cenové ponuky
  quotation_items Položky cenových ponúk
  document_payments Úhrady dokladov
  contact_activity_logs Udalosti CRM
  contact_activity_log_attachments Prílohy udalostí CRM
  deleted_records Zmazané záznamy
  v_client_balance Saldo odberateľov
  v_receivables Pohľadávky
  v_open_invoices Neuhradené faktúry
  v_revenue_by_month Tržby po mesiacoch
  v_revenue_by_year Tržby po rokoch
  v_vat_by_month DPH na výstupe po mesiacoch
  v_vat_documents DPH na výstupe po dokladoch
  v_client_summary Odberatelia v číslach
  v_sales_lines Predané položky
  v_stock Zásoby
  v_slow_stock Ležiaky
  v_payments_by_day Úhrady po dňoch
  v_unpaid_proformas Neuhradené zálohové faktúry
  v_pipeline Ponuky a objednávky
  v_business_cases_by_status Obchodné prípady podľa stavu
  v_purchases_by_supplier Nákupy podľa dodávateľov
  month_invoices Vystavené faktúry
  month_credit_notes Vystavené dobropisy
  month_vat_rates DPH podľa sadzieb
  month_vat_documents DPH podľa dokladov
  month_control Kontrolné súčty
  month_payments Prijaté úhrady
  month_open_items Neuhradené na konci mesiaca
  v_invoices Faktúry prehľadne
  v_proformas Zálohové faktúry prehľadne
  v_write_offs Nebude uhradené
  v_days_to_pay Dni do úhrady
  v_quotations Čo sa stalo s ponukami
  v_orders Čo sa stalo s objednávkami
  v_number_gaps Medzery v číslovaní
`);
