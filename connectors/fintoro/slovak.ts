import type { Translation } from "../../src/connector/translation.ts";

/** Reads entries such as `due_date: Dátum splatnosti`, with commas between them. */
function words(entries: string): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.split(",").map((entry) => entry.trim().split(": ")));
}

const party = words("person: fyzická osoba, company: firma");

const documents = words(`
  invoice: faktúra, credit-note: dobropis, credit_note: dobropis, proforma: zálohová faktúra,
  order: objednávka, quotation: cenová ponuka, received-invoice: prijatá faktúra,
  received-receipt: prijatý doklad, warehouse-inbound-receipt: príjemka, warehouse-outbound-receipt: výdajka
`);

/** What exports with `--language sk` show. */
export const slovak: Translation = {
  // In at most 31 characters: they are names of sheets.
  titles: words(`
    company: Firma, banks: Banky, countries: Krajiny, languages: Jazyky, currencies: Meny,
    delivery_methods: Spôsoby dodania, payment_methods: Spôsoby úhrady, qr_types: Typy QR kódov,
    units: Merné jednotky, numerical_series: Číselné rady, clients: Odberatelia, suppliers: Dodávatelia,
    bank_accounts: Bankové účty, business_case_statuses: Stavy obchodných prípadov, warehouses: Sklady,
    webhook_subscriptions: Odbery webhookov, business_cases: Obchodné prípady, price_list_items: Cenník,
    price_list_item_stocks: Stavy na skladoch, warehouse_inbound_receipts: Príjemky,
    warehouse_inbound_receipt_items: Položky príjemok, warehouse_outbound_receipts: Výdajky,
    warehouse_outbound_receipt_items: Položky výdajok, invoices: Faktúry, invoice_items: Položky faktúr,
    credit_notes: Dobropisy, credit_note_items: Položky dobropisov, proformas: Zálohové faktúry,
    proforma_items: Položky zálohových faktúr, orders: Objednávky, order_items: Položky objednávok,
    quotations: Cenové ponuky, quotation_items: Položky cenových ponúk, document_payments: Úhrady dokladov,
    contact_activity_logs: Udalosti CRM, contact_activity_log_attachments: Prílohy udalostí CRM,
    deleted_records: Zmazané záznamy, v_client_balance: Saldo odberateľov, v_receivables: Pohľadávky,
    v_open_invoices: Neuhradené faktúry, v_revenue_by_month: Tržby po mesiacoch,
    v_revenue_by_year: Tržby po rokoch, v_vat_by_month: DPH na výstupe po mesiacoch,
    v_vat_documents: DPH na výstupe po dokladoch, v_client_summary: Odberatelia v číslach,
    v_sales_lines: Predané položky, v_stock: Zásoby, v_slow_stock: Ležiaky,
    v_payments_by_day: Úhrady po dňoch, v_unpaid_proformas: Neuhradené zálohové faktúry,
    v_pipeline: Ponuky a objednávky, v_business_cases_by_status: Obchodné prípady podľa stavu,
    v_purchases_by_supplier: Nákupy podľa dodávateľov, month_invoices: Vystavené faktúry,
    month_credit_notes: Vystavené dobropisy, month_vat_rates: DPH podľa sadzieb,
    month_vat_documents: DPH podľa dokladov, month_control: Kontrolné súčty, month_payments: Prijaté úhrady,
    month_changes: Zmeny od odovzdania, month_vat_corrections: Opravy DPH,
    month_open_items: Neuhradené na konci mesiaca, v_invoices: Faktúry prehľadne,
    v_proformas: Zálohové faktúry prehľadne, v_write_offs: Nebude uhradené, v_days_to_pay: Dni do úhrady,
    v_quotations: Čo sa stalo s ponukami, v_orders: Čo sa stalo s objednávkami,
    v_number_gaps: Medzery v číslovaní, v_einvoice_gaps: Chýba pre e-faktúry,
    month_einvoice_gaps: Chýba pre e-faktúry
  `),
  prefixes: words(`
    metadata_related_document: Súvisiaci doklad, metadata_document: Doklad, metadata: Udalosť,
    client: Odberateľ, company: Firma, supplier: Dodávateľ, preferred: Predvolené,
    inbound_numerical_series: Rad príjemok, outbound_numerical_series: Rad výdajok,
    price_list_item: Položka cenníka, credit_notes: Dobropisy
  `),
  suffixes: words("eur: v EUR, id: (ID)"),
  columns: words(`
    id: ID, name: Názov, swift: SWIFT, code: Kód, eu: EÚ, symbol: Kód meny, mark: Znak,
    document_type: Druh dokladu, pattern: Vzor, next_number: Ďalšie číslo,
    next_document_number: Číslo ďalšieho dokladu, next_variable_symbol: Ďalší variabilný symbol,
    is_default: Predvolené, type: Typ, subject_id: IČO, tax_id: DIČ, vat_id: IČ DPH,
    is_vat_payer: Platiteľ DPH, vat_payer_type_id: Druh platiteľa DPH, legal_form: Právna forma, logo: Logo,
    signature: Podpis, registration_court: Registrový súd, registration_number: Číslo zápisu, email: E-mail,
    phone: Telefón, web: Web, street: Ulica, city: Mesto, zip: PSČ, country: Krajina,
    has_delivery_address: Má dodaciu adresu, delivery_street: Dodacia ulica, delivery_city: Dodacie mesto,
    delivery_zip: Dodacie PSČ, delivery_country: Dodacia krajina, created_at: Vytvorené,
    updated_at: Zmenené, delivery_method: Spôsob dodania, payment_method: Spôsob úhrady, currency: Mena,
    language: Jazyk, due_days: Dní splatnosti, note: Poznámka, variable_symbol: Variabilný symbol,
    constant_symbol: Konštantný symbol, specific_symbol: Špecifický symbol,
    text_above_items: Text nad položkami, bank: Banka, is_primary: Hlavný,
    auto_payment_matching: Automatické párovanie, iban: IBAN, auto_pairing_strategy: Spôsob párovania,
    balance: Zostatok, last_synced_at: Naposledy synchronizované,
    open_banking_valid_until: Open banking platí do, color: Farba, url: Adresa, is_active: Aktívny,
    subscribed_events: Odoberané udalosti, last_success_at: Posledný úspech,
    last_failure_at: Posledné zlyhanie, disabled_at: Vypnuté, disabled_reason: Dôvod vypnutia,
    contact_type: Druh kontaktu, contact: Kontakt, buyer: Kľúč odberateľa, client: Odberateľ,
    supplier: Dodávateľ, company: Firma, description: Popis, status: Stav, status_id: Stav (ID),
    board_position: Poradie na nástenke, unit: Merná jednotka, unit_name: Merná jednotka,
    unit_price: Jednotková cena bez DPH, unit_price_with_vat: Jednotková cena s DPH, vat_rate: Sadzba DPH,
    stock: Na sklade, ean: EAN, use_warehouse: Vedie sa na sklade, warehouse_code: Skladový kód,
    enable_negative_stock: Povolený záporný stav, max_stock: Najvyšší stav,
    purchase_price: Nákupná cena bez DPH, purchase_vat_rate: Sadzba DPH pri nákupe,
    purchase_price_with_vat: Nákupná cena s DPH, price_list_item: Položka cenníka, position: Poradie,
    warehouse: Sklad, warehouse_name: Sklad, stock_quantity: Množstvo na sklade, uuid: UUID, number: Číslo,
    web_doklad_url: Webová adresa dokladu, pdf_download_url: Adresa PDF, issue_date: Dátum vystavenia,
    has_vat: S DPH, total: Spolu bez DPH, total_with_vat: Spolu s DPH, warehouse_inbound_receipt: Príjemka,
    warehouse_outbound_receipt: Výdajka, quantity: Množstvo, bank_account: Bankový účet,
    due_date: Dátum splatnosti, delivery_date: Dátum dodania, business_case: Obchodný prípad,
    discount_type: Druh zľavy, discount_value: Zľava, discount_name: Názov zľavy,
    transfer_tax_liability: Prenos daňovej povinnosti, numerical_series: Číselný rad, currency_rate: Kurz,
    qr_type: Typ QR kódu, items_total: Položky bez DPH, items_total_with_vat: Položky s DPH,
    to_be_paid: Na úhradu, sum_total_with_vat: Spolu s DPH, invoice: Faktúra, already_paid: Uhradené,
    credit_note: Dobropis, will_be_paid: Bude uhradená, proforma: Zálohová faktúra, order: Objednávka,
    validity_date: Platnosť do, quotation: Cenová ponuka, document: Doklad, payment_date: Dátum úhrady,
    amount: Suma, receipt_invoice: Doklad k úhrade, content: Obsah, person_name: Meno osoby,
    phone_number: Telefónne číslo, number_snapshot: Číslo, price_snapshot: Suma, currency_snapshot: Mena,
    paid_amount: Uhradená suma, contact_activity_log: Udalosť CRM, mime_type: Typ súboru, invoices: Faktúry,
    credit_notes: Dobropisy, advances: Zálohy, net: Saldo, age: Po splatnosti,
    credit_open: Neuhradené dobropisy, oldest_due_date: Najstaršia splatnosť,
    most_days_overdue: Najviac dní po splatnosti, days_overdue: Dní po splatnosti, month: Mesiac, year: Rok,
    payment_receipts: Doklady k prijatej platbe, revenue: Tržby bez DPH, revenue_with_vat: Tržby s DPH,
    receipted_advances: Zdanené zálohy bez DPH, receipted_advances_with_vat: Zdanené zálohy s DPH,
    documents: Doklady, base: Základ dane, vat: DPH, reverse_charge: Prenos daňovej povinnosti,
    advance_base: Základ dane zo záloh, advance_vat: DPH zo záloh,
    base_by_issue: Základ dane podľa vystavenia, vat_by_issue: DPH podľa vystavenia,
    corrects: Opravuje doklad, month_rule: Mesiac podľa, issue_month: Mesiac vystavenia,
    of_advance: Zo zálohy, overdue: Po splatnosti, first_issue_date: Prvý doklad,
    last_issue_date: Posledný doklad, document_number: Číslo dokladu, value: Hodnota,
    last_sold: Naposledy predané, last_received: Naposledy prijaté, idle_days: Dní bez pohybu, state: Stav,
    payments: Úhrady, quotations: Cenové ponuky, quoted: Ponúknuté, accepted: Prijaté, rejected: Odmietnuté,
    waiting: Čakajúce, expired: Vypršané, accepted_total: Prijaté ponuky bez DPH, conversion: Úspešnosť v %,
    orders: Objednávky, ordered: Objednané, business_cases: Obchodné prípady, invoiced: Fakturované,
    receipts: Príjemky, series: Číselný rad, after_number: Po čísle, before_number: Pred číslom,
    first_missing: Prvé chýbajúce, last_missing: Posledné chýbajúce, missing: Chýba,
    credited: Dobropisované, document_total: Základ dane podľa dokladov, base_difference: Rozdiel základu,
    document_vat: DPH podľa dokladov, vat_difference: Rozdiel DPH, as_of: Ku dňu, change: Zmena, field: Pole, old: Pôvodne, new: Teraz, seen_at: Zistené, paid_date: Dátum úhrady,
    days_to_pay: Dní do úhrady, written_off: Nebude uhradené, average_days: Priemer dní,
    shortest_days: Najmenej dní, longest_days: Najviac dní, paid_late: Uhradené po splatnosti,
    average_days_late: Priemer dní po splatnosti, last_paid_date: Naposledy uhradené,
    settlement: Zúčtovanie, rate: Kurz, rate_date: Dátum kurzu, paid: Uhradené,
    last_payment_date: Posledná úhrada, business_case_status: Stav obchodného prípadu, outcome: Výsledok,
    orders_in_case: Objednávky v prípade, invoices_in_case: Faktúry v prípade,
    first_invoice_date: Prvá faktúra, resource: Tabuľka, record: Záznam, date: Dátum, deleted_at: Zmazané,
    cause: Príčina, party: Strana, term: Údaj, rule: Pravidlo, severity: Závažnosť, turnover: Obrat bez DPH
  `),
  values: {
    document_type: documents,
    metadata_related_document_document_type: documents,
    client_type: party,
    supplier_type: party,
    type: {
      ...party,
      ...documents,
      ...words(`
        payment_receipt: daňový doklad k prijatej platbe, note: poznámka, email: e-mail,
        phone_call: telefonát, document_linked: doklad pripojený, document_created: doklad vytvorený,
        document_updated: doklad zmenený, document_deleted: doklad zmazaný,
        document_payment_added: úhrada pridaná
      `),
    },
    contact_type: words("client: odberateľ, supplier: dodávateľ"),
    discount_type: words("percentage: percentá, fixed: suma"),
    auto_pairing_strategy: words(`
      none: žiadne, by_variable_symbol: podľa variabilného symbolu, by_price: podľa sumy,
      by_variable_symbol_and_price: podľa variabilného symbolu a sumy,
      by_all_symbols: podľa všetkých symbolov, by_all_symbols_and_price: podľa všetkých symbolov a sumy
    `),
    status: words(`
      paid: uhradená, unpaid: neuhradená, partially_paid: čiastočne uhradená, overdue: po splatnosti,
      will_not_be_paid: nebude uhradená, waiting: čaká, accepted: prijatá, rejected: odmietnutá
    `),
    state: words("slow: pomaly sa predáva, dead: nepredáva sa, never_moved: bez pohybu"),
    age: words(`
      not due: pred splatnosťou, 1 to 30: 1 až 30 dní, 31 to 60: 31 až 60 dní, 61 to 90: 61 až 90 dní,
      over 90: nad 90 dní
    `),
    settlement: words(`
      not paid: neuhradená, advance: záloha, partly settled: čiastočne zúčtovaná, settled: zúčtovaná
    `),
    outcome: words(`
      accepted: prijatá, rejected: odmietnutá, waiting: čaká, expired: vypršala
    `),
    party: words("client: odberateľ, company: firma"),
    document: words("invoices: faktúra, credit_notes: dobropis"),
    term: words(`
      name: názov, street: ulica, city: mesto, zip: PSČ, country: krajina, vat_id: IČ DPH, subject_id: IČO, tax_id: DIČ,
      electronic_address: elektronická adresa, buyer_reference: referencia odberateľa, unit: merná jednotka,
      line_name: názov položky, vat_category: kategória DPH, reverse_charge_reason: dôvod prenosu daňovej povinnosti,
      reverse_charge_numbers: čísla pri prenose daňovej povinnosti, delivery_date: dátum dodania
    `),
    severity: words("fails: neprejde, hint: upozornenie"),
    change: words("added: pridaný, changed: zmenený, deleted: zmazaný, moved: presunutý"),
    month_rule: words("delivery_date: dátumu dodania, issue_date: dátumu vystavenia"),
  },
  yes: "áno",
  no: "nie",
  total: "Spolu",
};
