import { wordTable } from "./slovak-titles.ts";

/** Before the heading of what stands behind it in a name: `client_name`. */
export const prefixes = wordTable(`
  metadata_related_document Súvisiaci doklad
  metadata_document Doklad
  metadata Udalosť
  client Odberateľ
  company Firma
  supplier Dodávateľ
  preferred Predvolené
  inbound_numerical_series Rad príjemok
  outbound_numerical_series Rad výdajok
  price_list_item Položka cenníka
  credit_notes Dobropisy
`);

/** Behind the heading of what stands before it: `total_eur`. */
export const suffixes = wordTable(`
  eur v EUR
  id (ID)
`);

/** By column. */
export const headings = wordTable(`
  id ID
  name Názov
  swift SWIFT
  code Kód
  eu EÚ
  symbol Kód meny
  mark Znak
  document_type Druh dokladu
  pattern Vzor
  next_number Ďalšie číslo
  next_document_number Číslo ďalšieho dokladu
  next_variable_symbol Ďalší variabilný symbol
  is_default Predvolené
  type Typ
  subject_id IČO
  tax_id DIČ
  vat_id IČ DPH
  is_vat_payer Platiteľ DPH
  vat_payer_type_id Druh platiteľa DPH
  legal_form Právna forma
  logo Logo
  signature Podpis
  registration_court Registrový súd
  registration_number Číslo zápisu
  email E-mail
  phone Telefón
  web Web
  street Ulica
  city Mesto
  zip PSČ
  country Krajina
  has_delivery_address Má dodaciu adresu
  delivery_street Dodacia ulica
  delivery_city Dodacie mesto
  delivery_zip Dodacie PSČ
  delivery_country Dodacia krajina
  created_at Vytvorené
  updated_at Zmenené
  delivery_method Spôsob dodania
  payment_method Spôsob úhrady
  currency Mena
  language Jazyk
  due_days Dní splatnosti
  note Poznámka
  variable_symbol Variabilný symbol
  constant_symbol Konštantný symbol
  specific_symbol Špecifický symbol
  text_above_items Text nad položkami
  bank Banka
  is_primary Hlavný
  auto_payment_matching Automatické párovanie
  iban IBAN
  auto_pairing_strategy Spôsob párovania
  balance Zostatok
  last_synced_at Naposledy synchronizované
  open_banking_valid_until Open banking platí do
  color Farba
  url Adresa
  is_active Aktívny
  subscribed_events Odoberané udalosti
  last_success_at Posledný úspech
  last_failure_at Posledné zlyhanie
  disabled_at Vypnuté
  disabled_reason Dôvod vypnutia
  contact_type Druh kontaktu
  contact Kontakt
  buyer Kľúč odberateľa
  client Odberateľ
  supplier Dodávateľ
  company Firma
  description Popis
  status Stav
  status_id Stav (ID)
  board_position Poradie na nástenke
  unit Merná jednotka
  unit_name Merná jednotka
  unit_price Jednotková cena bez DPH
  unit_price_with_vat Jednotková cena s DPH
  vat_rate Sadzba DPH
  stock Na sklade
  ean EAN
  use_warehouse Vedie sa na sklade
  warehouse_code Skladový kód
  enable_negative_stock Povolený záporný stav
  max_stock Najvyšší stav
  purchase_price Nákupná cena bez DPH
  purchase_vat_rate Sadzba DPH pri nákupe
  purchase_price_with_vat Nákupná cena s DPH
  price_list_item Položka cenníka
  position Poradie
  warehouse Sklad
  warehouse_name Sklad
  stock_quantity Množstvo na sklade
  uuid UUID
  number Číslo
  web_doklad_url Webová adresa dokladu
  pdf_download_url Adresa PDF
  issue_date Dátum vystavenia
  has_vat S DPH
  total Spolu bez DPH
  total_with_vat Spolu s DPH
  warehouse_inbound_receipt Príjemka
  warehouse_outbound_receipt Výdajka
  quantity Množstvo
  bank_account Bankový účet
  due_date Dátum splatnosti
  delivery_date Dátum dodania
  business_case Obchodný prípad
  discount_type Druh zľavy
  discount_value Zľava
  discount_name Názov zľavy
  transfer_tax_liability Prenos daňovej povinnosti
  numerical_series Číselný rad
  currency_rate Kurz
  qr_type Typ QR kódu
  items_total Položky bez DPH
  items_total_with_vat Položky s DPH
  to_be_paid Na úhradu
  sum_total_with_vat Spolu s DPH
  invoice Faktúra
  already_paid Uhradené
  credit_note Dobropis
  will_be_paid Bude uhradená
  proforma Zálohová faktúra
  order Objednávka
  validity_date Platnosť do
  quotation Cenová ponuka
  document Doklad
  payment_date Dátum úhrady
  amount Suma
  receipt_invoice Doklad k úhrade
  content Obsah
  person_name Meno osoby
  phone_number Telefónne číslo
  number_snapshot Číslo
  price_snapshot Suma
  currency_snapshot Mena
  paid_amount Uhradená suma
  contact_activity_log Udalosť CRM
  mime_type Typ súboru
  invoices Faktúry
  credit_notes Dobropisy
  advances Zálohy
  net Saldo
  age Po splatnosti
  credit_open Neuhradené dobropisy
  oldest_due_date Najstaršia splatnosť
  most_days_overdue Najviac dní po splatnosti
  days_overdue Dní po splatnosti
  month Mesiac
  year Rok
  payment_receipts Doklady k prijatej platbe
  revenue Tržby bez DPH
  revenue_with_vat Tržby s DPH
  receipted_advances Zdanené zálohy bez DPH
  receipted_advances_with_vat Zdanené zálohy s DPH
  documents Doklady
  base Základ dane
  vat DPH
  reverse_charge Prenos daňovej povinnosti
  advance_base Základ dane zo záloh
  advance_vat DPH zo záloh
  base_by_issue Základ dane podľa vystavenia
  vat_by_issue DPH podľa vystavenia
  corrects Opravuje doklad
  month_rule Mesiac podľa
  issue_month Mesiac vystavenia
  of_advance Zo zálohy
  overdue Po splatnosti
  first_issue_date Prvý doklad
  last_issue_date Posledný doklad
  document_number Číslo dokladu
  value Hodnota
  last_sold Naposledy predané
  last_received Naposledy prijaté
  idle_days Dní bez pohybu
  state Stav
  payments Úhrady
  quotations Cenové ponuky
  quoted Ponúknuté
  accepted Prijaté
  rejected Odmietnuté
  waiting Čakajúce
  expired Vypršané
  accepted_total Prijaté ponuky bez DPH
  conversion Úspešnosť v %
  orders Objednávky
  ordered Objednané
  business_cases Obchodné prípady
  invoiced Fakturované
  receipts Príjemky
  series Číselný rad
  after_number Po čísle
  before_number Pred číslom
  first_missing Prvé chýbajúce
  last_missing Posledné chýbajúce
  missing Chýba
  credited Dobropisované
  document_total Základ dane podľa dokladov
  base_difference Rozdiel základu
  document_vat DPH podľa dokladov
  vat_difference Rozdiel DPH
  as_of Ku dňu
  paid_date Dátum úhrady
  days_to_pay Dní do úhrady
  written_off Nebude uhradené
  average_days Priemer dní
  shortest_days Najmenej dní
  longest_days Najviac dní
  paid_late Uhradené po splatnosti
  average_days_late Priemer dní po splatnosti
  last_paid_date Naposledy uhradené
  settlement Zúčtovanie
  rate Kurz
  rate_date Dátum kurzu
  paid Uhradené
  last_payment_date Posledná úhrada
  business_case_status Stav obchodného prípadu
  outcome Výsledok
  orders_in_case Objednávky v prípade
  invoices_in_case Faktúry v prípade
  first_invoice_date Prvá faktúra
  resource Tabuľka
  record Záznam
  date Dátum
  deleted_at Zmazané
  cause Dôkaz
`);
