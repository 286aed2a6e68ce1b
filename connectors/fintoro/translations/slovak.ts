import type { Translation } from "../../../src/connector/translation.ts";
import { headings, prefixes, suffixes } from "./slovak-headings.ts";
import { titles } from "./slovak-titles.ts";

const party = { person: "fyzická osoba", company: "firma" };

const documents = {
  invoice: "faktúra",
  "credit-note": "dobropis",
  credit_note: "dobropis",
  proforma: "zálohová faktúra",
  order: "objednávka",
  quotation: "cenová ponuka",
  "received-invoice": "prijatá faktúra",
  "received-receipt": "prijatý doklad",
  "warehouse-inbound-receipt": "príjemka",
  "warehouse-outbound-receipt": "výdajka",
};

/** What exports with `--language sk` show. */
export const slovak: Translation = {
  titles,
  columns: headings,
  prefixes,
  suffixes,
  values: {
    document_type: documents,
    metadata_related_document_document_type: documents,
    client_type: party,
    supplier_type: party,
    type: {
      ...party,
      ...documents,
      payment_receipt: "daňový doklad k prijatej platbe",
      note: "poznámka",
      email: "e-mail",
      phone_call: "telefonát",
      document_linked: "doklad pripojený",
      document_created: "doklad vytvorený",
      document_updated: "doklad zmenený",
      document_deleted: "doklad zmazaný",
      document_payment_added: "úhrada pridaná",
    },
    contact_type: { client: "odberateľ", supplier: "dodávateľ" },
    discount_type: { percentage: "percentá", fixed: "suma" },
    auto_pairing_strategy: {
      none: "žiadne",
      by_variable_symbol: "podľa variabilného symbolu",
      by_price: "podľa sumy",
      by_variable_symbol_and_price: "podľa variabilného symbolu a sumy",
      by_all_symbols: "podľa všetkých symbolov",
      by_all_symbols_and_price: "podľa všetkých symbolov a sumy",
    },
    status: {
      paid: "uhradená",
      unpaid: "neuhradená",
      partially_paid: "čiastočne uhradená",
      overdue: "po splatnosti",
      will_not_be_paid: "nebude uhradená",
      waiting: "čaká",
      accepted: "prijatá",
      rejected: "odmietnutá",
    },
    state: { slow: "pomaly sa predáva", dead: "nepredáva sa", never_moved: "bez pohybu" },
    age: {
      "not due": "pred splatnosťou",
      "1 to 30": "1 až 30 dní",
      "31 to 60": "31 až 60 dní",
      "61 to 90": "61 až 90 dní",
      "over 90": "nad 90 dní",
    },
    settlement: Object.fromEntries([
      ["not paid", "neuhradená"],
      ["advance", "záloha"],
      ["partly settled", "čiastočne zúčtovaná"],
      ["settled", "zúčtovaná"],
    ]),
    outcome: { accepted: "prijatá", rejected: "odmietnutá", waiting: "čaká", expired: "vypršala" },
    month_rule: { delivery_date: "dátumu dodania", issue_date: "dátumu vystavenia" },
  },
  yes: "áno",
  no: "nie",
  total: "Spolu",
};
