import type { Random } from "../../../src/base/random.ts";
import { seededRandom } from "../seeded-random.ts";

/** How letters beyond ASCII are written: as they are, or `\u010d` as PHP does by default. */
export type Escaping = "utf8" | "escaped";

/** One page of a list of invoices, much like the service's own: 40 fields, a client, 3 lines each. */
export function invoicePage(count: number, escaping: Escaping, seed = 1): Buffer {
  const random = seededRandom(seed);
  const data = Array.from({ length: count }, (_, index) => invoice(random, 1000 + index));
  const paginator = { currentPage: 1, perPage: count, totalPages: 1, totalResults: count, nextPageUrl: null };
  const text = JSON.stringify({ data, paginator });
  return Buffer.from(escaping === "utf8" ? text : escapeLetters(text));
}

function escapeLetters(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

const clientNames = [
  "Kováč a syn, s.r.o.",
  "ACME Slovakia, a.s.",
  "Ing. Mária Horváthová",
  "Stavby Žilina, k.s.",
];
const lineNames = [
  "Konzultácia",
  "Licencia na rok",
  "Doprava",
  "Čistenie a údržba strojov",
  "Papier A4, 80 g",
];

function invoice(random: Random, id: number): Record<string, unknown> {
  const lines = [0, 1, 2].map((line) => invoiceLine(random, id * 3 + line));
  const totalCents = lines.reduce((sum, line) => sum + Math.round(line.total * 100), 0);
  const withVat = Math.round(totalCents * 1.23) / 100;
  return {
    id,
    uuid: random.uuid(),
    type: "invoice",
    number: `2026${id}`,
    webDokladUrl: `https://service.example/doc/${random.uuid()}`,
    pdfDownloadUrl: `https://service.example/api/public/v1/invoices/${id}/pdf`,
    clientId: upTo(random, 5000),
    client: client(random),
    bankAccountId: 3,
    iban: "SK3112000000198742637541",
    swift: "TATRSKBX",
    variableSymbol: 2_026_000_000 + id,
    constantSymbol: null,
    specificSymbol: null,
    issueDate: day(random),
    dueDate: day(random),
    deliveryDate: day(random),
    businessCaseId: null,
    discountType: null,
    discountValue: null,
    transferTaxLiability: false,
    numericalSeriesId: 4,
    deliveryMethodId: 1,
    paymentMethodId: 2,
    currencyId: 1,
    currencyRate: 1,
    languageId: 1,
    qrTypeId: 1,
    hasVat: true,
    isCanceled: false,
    orderNumber: null,
    introText: "",
    note: "Ďakujeme za váš nákup.\nFaktúra slúži aj ako dodací list.",
    createdBy: "Jana Nováková",
    total: totalCents / 100,
    totalWithVat: withVat,
    toBePaid: random.next() < 0.7 ? 0 : withVat,
    status: random.next() < 0.7 ? "paid" : "unpaid",
    items: lines,
    payments: [],
  };
}

function client(random: Random): Record<string, unknown> {
  const businessId = String(10_000_000 + upTo(random, 89_999_999));
  return {
    name: pick(random, clientNames),
    type: "company",
    subjectId: businessId,
    taxId: `20${businessId}`,
    vatId: `SK20${businessId}`,
    isVatPayer: true,
    email: "uctaren@example.sk",
    street: "Hlavná 12/3",
    city: "Košice",
    zip: "040 01",
    countryId: 703,
    hasDeliveryAddress: false,
    deliveryStreet: null,
  };
}

function invoiceLine(random: Random, id: number) {
  const [unitCents, quantity] = [upTo(random, 40_000), upTo(random, 9)];
  return {
    id,
    uuid: random.uuid(),
    name: pick(random, lineNames),
    description: null,
    unitPrice: unitCents / 100,
    unitId: 1,
    quantity,
    vatRate: 23,
    discountName: null,
    discountType: null,
    discountValue: null,
    priceListItemId: null,
    total: (unitCents * quantity) / 100,
    totalWithVat: Math.round(unitCents * quantity * 1.23) / 100,
  };
}

function upTo(random: Random, most: number): number {
  return 1 + Math.floor(random.next() * most);
}

function pick(random: Random, list: readonly string[]): string {
  return list[upTo(random, list.length) - 1] ?? "";
}

function day(random: Random): string {
  return `2026-0${upTo(random, 9)}-1${upTo(random, 9)}`;
}
