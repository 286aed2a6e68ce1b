import type { Settings } from "./company-settings.ts";

/** Pure: does a change of the config concern what a life was built from? */
export function renewalNeeded(before: Settings, after: Settings): boolean {
  return builtFrom(before) !== builtFrom(after);
}

function builtFrom({ config, company, resources }: Settings): string {
  const { baseUrl, language, rateLimit, http, schedule } = config;
  const secrets = [company.token, ...company.webhook.secrets].map((secret) =>
    secret.known ? secret.reveal() : null,
  );
  const names = resources.map(({ name }) => name);
  const { parentsPerRun } = config.resources;
  const { places } = company.webhook;
  return JSON.stringify([
    baseUrl,
    language,
    rateLimit,
    http,
    schedule,
    secrets,
    places,
    names,
    parentsPerRun,
  ]);
}
