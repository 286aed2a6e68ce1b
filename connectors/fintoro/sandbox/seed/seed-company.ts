import { openCompany, type Company, type CompanyInput } from "../domain/company-state.ts";
import { seedActivities, seedCases, seedStatuses } from "./crm-seed.ts";
import { seedClients, seedSuppliers } from "./contact-seed.ts";
import { seedDocuments, seedPayments } from "./document-seed.ts";
import { seedPriceList, seedReceipts } from "./warehouse-seed.ts";
import type { Plan } from "./seed-plan.ts";
import { seedAccounts, seedSeries, seedSubscriptions, seedWarehouses } from "./settings-seed.ts";

/** In this order: a step reads what the steps before it have filled in. */
const steps = [
  seedAccounts,
  seedWarehouses,
  seedSubscriptions,
  seedClients,
  seedSuppliers,
  seedPriceList,
  seedReceipts,
  seedStatuses,
  seedCases,
  seedDocuments,
  seedSeries,
  seedPayments,
  seedActivities,
];

/** Opens a company and fills its tables with the records of the plan. */
export function seedCompany(
  plan: Plan,
  input: Omit<CompanyInput, "index" | "snapshot" | "firstIds">,
): Company {
  const { index, company: snapshot, firstIds } = plan;
  const company = openCompany({ ...input, index, snapshot, firstIds });
  for (const step of steps) step({ plan, company });
  return company;
}
