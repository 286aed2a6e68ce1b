import type { CompanyConfig, Config } from "../config/config.ts";
import { secretTexts } from "../config/companies.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import { createGovernor } from "../govern/create-governor.ts";
import { gatedGovernor, type GateOptions } from "../govern/gate.ts";
import type { Governor } from "../govern/governor.ts";
import { openBudgetFile } from "../govern/sqlite-store.ts";
import { createMemoryStore, type GovernorStore } from "../govern/store.ts";
import { createHttp, type HttpTransport } from "../http/create-http.ts";
import type { CommandContext } from "./command.ts";

/** The way to the service for one company: every request of it asks the same governor. */
export interface Service {
  readonly transport: HttpTransport;
  readonly governor: Governor;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly attempts?: number;
  /** `memory`: for this process alone, where the data folder cannot be written. */
  readonly budget?: "file" | "memory";
  /** Events are received: a share of each window is kept for them. */
  readonly events?: boolean;
  /** Limits of this run on top of the budget. */
  readonly gate?: GateOptions;
}

export function connectService(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  { attempts, budget = "file", events = false, gate = {} }: ServiceOptions = {},
): Service {
  const { clock, random, log, version } = context;
  const store = budget === "memory" ? createMemoryStore() : openBudget(context, config, company);
  const shared = createGovernor({
    store,
    clock,
    log,
    reserveShare: config.rateLimit.reserveShare,
    eventShare: events ? config.rateLimit.reserveShare : 0,
    windowMs: config.rateLimit.windowMs,
    concurrency: config.http.concurrency,
    permitMs: config.http.timeoutMs + permitMarginMs,
  });
  const governor = gatedGovernor(shared, gate);
  const transport = createHttp({
    ...config.http,
    ...(attempts === undefined ? {} : { attempts }),
    baseUrl: config.baseUrl,
    token: company.token.reveal(),
    language: config.language,
    userAgent: `fintoro-mirror/${version}`,
    secrets: secretTexts(config),
    governor,
    clock,
    random,
    log,
  });
  const close = async () => {
    await transport.close();
    store.close();
  };
  return { transport, governor, close };
}

/** A permit outlives the attempt it was given for. */
const permitMarginMs = 30_000;

function openBudget({ clock, log }: CommandContext, config: Config, company: CompanyConfig): GovernorStore {
  return openBudgetFile({ path: mirrorFiles(config, company.name).budget, clock, log });
}
