/** Drafts of electronic invoices, made of a report's tables, and the published rules that judge them. Nothing of the views is used. */
import type { Row } from "../../support/export/recount.ts";

export const partyFields = [
  "name",
  "subject_id",
  "tax_id",
  "vat_id",
  "street",
  "city",
  "zip",
  "email",
  "country",
] as const;
export type Party = Readonly<Record<(typeof partyFields)[number], string | null>>;

/** The terms of EN 16931 that these rules look at, as UBL carries them; null: the element is not written. */
interface Draft {
  readonly seller: Party;
  readonly buyer: Party;
  readonly buyerReference: string | null;
  readonly lines: readonly { name: string | null; unitCode: string | null; category: string | null }[];
  /** By category of VAT. */
  readonly exemptionReasons: Readonly<Record<string, string | null>>;
}

/** UN/ECE Recommendation 20, in the order of the service's units: pcs, hrs, day, cm, m, m², m³, km, l, g, kg, t. */
const unitCodes = "H87 HUR DAY CMT MTR MTK MTQ KMT LTR GRM KGM TNE".split(" ");
/** Countries whose VAT numbers have a scheme of electronic addresses (EAS). */
const withVatScheme = "AT BE BG CY CZ DE DK EE EL ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK";
const isTaxed = (line: Row) => Number(line["vat_rate"]) > 0;
const given = (value: Row[string] | undefined) => String(value ?? "").trim() || null;

/** Category: what rate and reverse charge say; "not subject to VAT" (O) from one who is no VAT payer; null where they do not say it. */
export function draftOf(document: Row, lines: readonly Row[], seller: Party, buyer: Party): Draft {
  const categoryOf = (line: Row) => {
    if (document["transfer_tax_liability"]) return "AE";
    if (isTaxed(line)) return "S";
    return given(seller.vat_id) === null && !lines.some(isTaxed) ? "O" : null;
  };
  const parts = lines.map((line) => ({
    name: given(line["name"]),
    unitCode: unitCodes[Number(line["unit_id"] ?? 0) - 1] ?? null,
    category: categoryOf(line),
  }));
  const isUntaxed = parts.some(({ category }) => category === "O");
  const partyOf = (party: Party) => {
    const texts = Object.fromEntries(partyFields.map((field) => [field, given(party[field])])) as Party;
    return { ...texts, vat_id: isUntaxed ? null : texts.vat_id };
  };
  const texts = given(`${document["text_above_items"] ?? ""} ${document["note"] ?? ""}`);
  return {
    seller: partyOf(seller),
    buyer: partyOf(buyer),
    buyerReference: "of the order",
    lines: parts,
    exemptionReasons: { AE: texts, O: "Not subject to VAT" },
  };
}

const hasEndpoint = ({ country, tax_id: taxId, vat_id: vatId, email }: Party) =>
  (country === "SK" && /^\d{10}$/.test(taxId ?? "")) ||
  withVatScheme.split(" ").includes(vatId?.slice(0, 2) ?? "") ||
  email !== null;
const hasAddress = ({ street, city, zip, country }: Party) => (street ?? city ?? zip ?? country) !== null;
const regions = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
const isCountry = (code: string) =>
  code === "EL" || code === "XI" || (/^[A-Z]{2}$/.test(code) && regions.of(code) !== undefined);
const hasCountry = ({ vat_id: vatId }: Party) => vatId === null || isCountry(vatId.slice(0, 2));
const isIn = ({ lines }: Draft, id: string) => lines.some(({ category }) => category === id);
const isReasoned = (id: string) => (draft: Draft) => !isIn(draft, id) || draft.exemptionReasons[id] !== null;
const taxNumber = ({ vat_id: vatId, tax_id: taxId }: Party) => vatId ?? taxId;

/** EN 16931 (artefacts of April 2026) and Peppol BIS Billing 3.0: whether a draft keeps the rule, by its text. */
const rules: Readonly<Record<string, (draft: Draft) => boolean>> = {
  "BR-06": ({ seller }) => seller.name !== null,
  "BR-07": ({ buyer }) => buyer.name !== null,
  "BR-08": ({ seller }) => hasAddress(seller),
  "BR-09": ({ seller }) => seller.country !== null,
  "BR-10": ({ buyer }) => hasAddress(buyer),
  "BR-11": ({ buyer }) => buyer.country !== null,
  "BR-16": ({ lines }) => lines.length > 0,
  "BR-23": ({ lines }) => lines.every(({ unitCode }) => unitCode !== null),
  "BR-25": ({ lines }) => lines.every(({ name }) => name !== null),
  "BR-CO-04": ({ lines }) => lines.every(({ category }) => category !== null),
  "BR-CO-09": ({ seller, buyer }) => hasCountry(seller) && hasCountry(buyer),
  "BR-CO-26": ({ seller }) => (seller.vat_id ?? seller.subject_id) !== null,
  "BR-S-02": (draft) => !isIn(draft, "S") || taxNumber(draft.seller) !== null,
  "BR-AE-02": (draft) =>
    !isIn(draft, "AE") ||
    (taxNumber(draft.seller) !== null && (draft.buyer.vat_id ?? draft.buyer.subject_id) !== null),
  "BR-AE-10": isReasoned("AE"),
  "BR-O-02": (draft) => !isIn(draft, "O") || (draft.seller.vat_id ?? draft.buyer.vat_id) === null,
  "BR-O-10": isReasoned("O"),
  "BR-O-11": (draft) => !isIn(draft, "O") || draft.lines.every(({ category }) => category === "O"),
  "PEPPOL-EN16931-R003": ({ buyerReference }) => buyerReference !== null,
  "PEPPOL-EN16931-R010": ({ buyer }) => hasEndpoint(buyer),
  "PEPPOL-EN16931-R020": ({ seller }) => hasEndpoint(seller),
};

export function brokenRules(draft: Draft): string[] {
  return Object.keys(rules)
    .filter((rule) => rules[rule]?.(draft) === false)
    .toSorted();
}
