import path from "node:path";
import { assert } from "../base/errors.ts";
import type { CompanyConfig, Config, ResourceChoice, SecretPlace } from "./config.ts";
import type { ResolvedSecret, ResolvedSecrets } from "./secrets.ts";
import { parentsOptions, type ShapedConfig } from "./config-schema.ts";
import type { Path } from "./yaml.ts";

/** The checked file as the program reads it. Relative folders start at the file's own. */
export function buildConfig(shaped: ShapedConfig, secrets: ResolvedSecrets, folder: string): Config {
  return deepFreeze({
    connector: shaped.connector,
    baseUrl: shaped.base_url,
    dataDir: path.resolve(folder, shaped.data_dir),
    language: shaped.language,
    companies: companiesOf(shaped, secrets),
    resources: resourceChoice(shaped.resources),
    rateLimit: {
      reserveShare: shaped.rate_limit.reserve,
      windowMs: shaped.rate_limit.window,
      scrubShare: shaped.rate_limit.scrub_share,
    },
    http: {
      concurrency: shaped.http.concurrency,
      timeoutMs: shaped.http.timeout,
      maxResponseBytes: shaped.http.max_response,
    },
    schedule: shaped.schedule,
    serve: shaped.serve.listen,
    exports: shaped.exports.map((each) => ({
      format: each.format,
      out: path.resolve(folder, each.out),
      to: each.to ?? null,
      after: each.after ?? null,
      dialect: each.dialect,
      tables: each.tables ?? null,
      partitionBy: each.partition_by ?? null,
      nested: each.nested,
    })),
    files: shaped.files,
    log: shaped.log,
  });
}

function companiesOf(shaped: ShapedConfig, secrets: ResolvedSecrets): CompanyConfig[] {
  const resolved = (place: Path): ResolvedSecret => {
    const secret = secrets.at(place);
    assert(secret, "every secret of a checked config was resolved");
    return secret;
  };
  return Object.entries(shaped.companies).map(([name, company]) => {
    const ofWebhook = company.webhook.secrets.map((_, index) =>
      resolved(["companies", name, "webhook", "secrets", index]),
    );
    return {
      name,
      token: resolved(["companies", name, "token"]).secret,
      webhook: {
        secrets: ofWebhook.map(({ secret }) => secret),
        places: ofWebhook.map(({ place }): SecretPlace => place),
        publicUrl: company.webhook.public_url ?? null,
      },
    };
  });
}

function resourceChoice(shaped: ShapedConfig["resources"]): ResourceChoice {
  const { include, exclude, ...options } = shaped;
  const limits = Object.entries(options).flatMap(([name, value]) => {
    const perRun = value === undefined ? "all" : parentsOptions.parse(value).parents_per_run;
    return perRun === "all" ? [] : [[name, perRun] as const];
  });
  return { include: include ?? null, exclude, parentsPerRun: Object.fromEntries(limits) };
}

function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
  return value;
}
