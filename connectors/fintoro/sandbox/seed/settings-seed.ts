import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { iban } from "../base/identifiers.ts";
import { randomFor } from "../base/seeded-random.ts";
import { documentsOf } from "../domain/company-state.ts";
import { documentKinds } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/company-records.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { numberPattern } from "./document-seed.ts";
import { accounts, subscriptions, warehouses } from "./sample-words.ts";
import { fill, type Seeding } from "./seed-plan.ts";

/** Fills in the bank accounts; the first is the primary one and connected to its bank. */
export function seedAccounts({ plan, company: { tables } }: Seeding): void {
  const { seed, today, firstDay, volumes } = plan;
  fill(tables.bank_accounts, volumes.bank_accounts, (id, index) => {
    const [name, bankId, country, bank, swift] = accounts[index]!;
    const random = randomFor(seed, "account", index);
    const isPrimary = index === 0;
    const createdAtMs = momentOf(firstDay + index, 600 + index * 7);
    const balance = random.int(100, 9_000_000) / 100;
    const openBanking = { balance, syncedAtMs: momentOf(today - 1, 300), until: dateOf(today + 60) };
    return {
      id,
      bankId,
      name,
      swift,
      isPrimary,
      iban: iban(country, bank, random.digits(10)),
      autoPairingStrategy: isPrimary ? "by_variable_symbol_and_price" : "by_variable_symbol",
      openBanking: isPrimary ? openBanking : null,
      createdAtMs,
      updatedAtMs: createdAtMs + index * 3_600_000,
    };
  });
}

/** Fills in the warehouses. Their receipts share one count, so that every number is unique. */
export function seedWarehouses({ plan: { volumes }, company: { tables } }: Seeding): void {
  fill(tables.warehouses, volumes.warehouses, (id, index) => {
    const [name, code] = warehouses[index]!;
    return {
      id,
      name,
      code,
      inboundNumericalSeriesPattern: `PR-${code}-(RR)(CCCCC)`,
      inboundNumericalSeriesNextNumber: volumes.warehouse_inbound_receipts + 1,
      outboundNumericalSeriesPattern: `VY-${code}-(RR)(CCCCC)`,
      outboundNumericalSeriesNextNumber: volumes.warehouse_outbound_receipts + 1,
    };
  });
}

/** Fills in the number series: a default one for each kind, and one for export. Documents come first. */
export function seedSeries({ plan, company }: Seeding): void {
  const year = yearOf(plan.today);
  const written = (kind: DocumentKind) =>
    documentsOf(company, kind).where(({ issueDate }) => issueDate >= `${year}`).length;
  fill(company.tables.numerical_series, 2 * documentKinds.length, (id, index) => {
    const isDefault = index < documentKinds.length;
    const number = index % documentKinds.length;
    const documentKind = documentKinds[number]!;
    const name = `${texts[documentKind].series} ${isDefault ? year : "– export"}`;
    const pattern = isDefault ? numberPattern(plan, documentKind) : `EX${number + 1}-(RRRR)-(MM)(CCCC)`;
    const nextNumber = isDefault ? written(documentKind) + 1 : 1;
    return { id, documentKind, name, pattern, nextNumber, isDefault };
  });
}

/** Fills in inactive webhook subscriptions: seeded records must never send anything anywhere. */
export function seedSubscriptions({ plan, company: { tables } }: Seeding): void {
  const createdAtMs = momentOf(plan.today - 40, 700);
  fill(tables.webhook_subscriptions, plan.volumes.webhook_subscriptions, (id, index) => {
    return {
      id,
      ...subscriptions[index]!,
      isActive: false,
      lastSuccessAtMs: index === 0 ? createdAtMs + 86_400_000 : null,
      lastFailureAtMs: null,
      secret: `whsec_${randomFor(plan.seed, "secret", index).hex(32)}`,
      createdAtMs,
      updatedAtMs: createdAtMs + index * 60_000,
    };
  });
}
