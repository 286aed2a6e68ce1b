import { existsSync } from "node:fs";
import type { CompanyConfig, Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import type { BudgetView } from "../rate-limit/permit.ts";
import { openBudgetFile } from "../rate-limit/budget-file.ts";
import type { CommandContext } from "../cli/program/command.ts";

/** What is known of the request budget, without asking the service; null where nothing was ever asked. */
export function budgetView(
  { clock, log }: CommandContext,
  config: Config,
  company: CompanyConfig,
): BudgetView | null {
  const path = mirrorFiles(config, company.name).budget;
  if (!existsSync(path)) return null;
  const store = openBudgetFile({ path, clock, log });
  try {
    return createRateLimiter({ store, clock, windowMs: config.rateLimit.windowMs }).view();
  } finally {
    store.close();
  }
}
