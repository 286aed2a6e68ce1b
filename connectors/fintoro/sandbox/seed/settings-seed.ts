import { seededRandom } from "../base/seeded-random.ts";
import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { documentKinds } from "../model/catalogue.ts";
import type { BankAccount, DocumentKind, Series, Subscription, Warehouse } from "../model/company-records.ts";
import type { Timeline } from "./timeline.ts";
import { iban } from "../base/identifiers.ts";
import type { Plan } from "./seed-plan.ts";

/** The company's own few things: accounts, warehouses, number series, subscriptions. */
export function seededAccounts(plan: Plan): BankAccount[] {
  const rows = [
    ["Hlavný účet", 23, "SK", "1100", "TATRSKBX"],
    ["Korunový účet", 38, "CZ", "0100", "KOMBSKBA"],
    ["Sporenie", 20, "SK", "0900", "GIBASKBX"],
    ["Účet bez väzby na banku", null, "SK", "8330", "FIOZSKBA"],
  ] as const;
  return rows.slice(0, plan.volumes.bank_accounts).map(([name, bankId, country, bank, swift], index) => {
    const random = seededRandom(plan.seed, "account", index);
    const createdAtMs = momentOf(plan.firstDay + index, 600 + index * 7);
    const synced = {
      balance: random.int(100, 9_000_000) / 100,
      syncedAtMs: momentOf(plan.today - 1, 300),
      until: dateOf(plan.today + 60),
    };
    return {
      id: plan.firstIds.bank_accounts + index,
      bankId,
      name,
      swift,
      isPrimary: index === 0,
      iban: iban(country, bank, random.digits(10)),
      autoPairingStrategy: index === 0 ? "by_variable_symbol_and_price" : "by_variable_symbol",
      openBanking: index === 0 ? synced : null,
      createdAtMs,
      updatedAtMs: createdAtMs + index * 3_600_000,
    };
  });
}

export function seededWarehouses(plan: Plan): Warehouse[] {
  const rows = [
    ["Hlavný sklad", "HL"],
    ["Predajňa Žilina", "ZA"],
    ["Sklad Brno – Líšeň", "BR"],
  ] as const;
  const counters = receiptCounters(plan);
  return rows.slice(0, plan.volumes.warehouses).map(([name, code], index) => ({
    id: plan.firstIds.warehouses + index,
    name,
    code,
    inboundNumericalSeriesPattern: `PR-${code}-(RR)(CCCCC)`,
    inboundNumericalSeriesNextNumber: counters.inbound,
    outboundNumericalSeriesPattern: `VY-${code}-(RR)(CCCCC)`,
    outboundNumericalSeriesNextNumber: counters.outbound,
  }));
}

/** One running count over all warehouses keeps every seeded number unique. */
function receiptCounters(plan: Plan) {
  return {
    inbound: plan.volumes.warehouse_inbound_receipts + 1,
    outbound: plan.volumes.warehouse_outbound_receipts + 1,
  };
}

const seriesNames: Readonly<Record<DocumentKind, string>> = {
  invoice: "Faktúry",
  "credit-note": "Dobropisy",
  proforma: "Zálohové faktúry",
  order: "Objednávky",
  quotation: "Cenové ponuky",
};

/** One default series for each kind, and a second one for export. */
export function seededSeries(plan: Plan, timelines: Readonly<Record<DocumentKind, Timeline>>): Series[] {
  const first = plan.firstIds.numerical_series;
  const year = yearOf(plan.today);
  const defaults = documentKinds.map((kind, index) => ({
    id: first + index,
    documentKind: kind,
    name: `${seriesNames[kind]} ${year}`,
    pattern: timelines[kind].pattern,
    nextNumber: timelines[kind].nextCounter(),
    isDefault: true,
  }));
  const exports = documentKinds.map((kind, index) => ({
    id: first + documentKinds.length + index,
    documentKind: kind,
    name: `${seriesNames[kind]} – export`,
    pattern: `EX${index + 1}-(RRRR)-(MM)(CCCC)`,
    nextNumber: 1,
    isDefault: false,
  }));
  return [...defaults, ...exports];
}

/** Inactive: an example must never send anything anywhere. */
export function seededSubscriptions(plan: Plan): Subscription[] {
  const at = momentOf(plan.today - 40, 700);
  const rows = [
    [
      "ERP",
      "https://hooks.example.com/erp",
      ["invoices.created", "invoices.updated", "invoices.paid"],
      at + 86_400_000,
    ],
    [null, "https://hooks.example.org/sklad?source=fintoro", ["price-list-items.stock-updated"], null],
  ] as const;
  return rows
    .slice(0, plan.volumes.webhook_subscriptions)
    .map(([name, url, subscribedEvents, lastSuccessAtMs], index) => ({
      id: plan.firstIds.webhook_subscriptions + index,
      name,
      url,
      isActive: false,
      subscribedEvents,
      lastSuccessAtMs,
      lastFailureAtMs: null,
      secret: `whsec_${seededRandom(plan.seed, "secret", index).hex(32)}`,
      createdAtMs: at,
      updatedAtMs: at + index * 60_000,
    }));
}
