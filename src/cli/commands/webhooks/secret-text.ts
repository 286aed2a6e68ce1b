import type { CompanyConfig } from "../../../config/config.ts";
import type { SecretPlace } from "../../../config/secrets.ts";

/** Where a new secret of this company goes: the first file of the config, else what its owner must do. */
export function placeFor({ webhook }: CompanyConfig): SecretPlace | null {
  const { places } = webhook;
  return places.find(({ kind }) => kind === "file") ?? places[0] ?? null;
}

export interface NextFacts {
  readonly company: string;
  /** As the user wrote or found it. */
  readonly configPath: string;
  readonly here: boolean;
  readonly place: SecretPlace | null;
  /** Why it could not be written to its file. */
  readonly failure: string | null;
}

/** Pure: what was done with the secret, or what is left to do. */
export function nextStep({ company, configPath, here, place, failure }: NextFacts): string {
  if (!here)
    return "it does not deliver to this config's receiver: give the secret to the one that it delivers to";
  if (place?.kind === "file") {
    if (failure === null) return `stored in ${place.path}; a running \`serve\` takes it up by itself`;
    return `put the secret into ${place.path} yourself, for nobody else to read (mode 0600)`;
  }
  if (place?.kind === "environment")
    return `set ${place.name} to the secret where \`serve\` is started, then restart it`;
  const where = `companies.${company}.webhook.secrets in ${configPath}`;
  if (place) return `put the secret in its place in ${where}, then reload \`serve\` (SIGHUP)`;
  const entry = "${env:FINTORO_WEBHOOK_SECRET}";
  return `add "${entry}" to ${where}, set FINTORO_WEBHOOK_SECRET to the secret where \`serve\` is started, then start it`;
}

/** Pure: how long what was in use before is taken. */
export function oldSecretText(until: string | null): string {
  if (until === null)
    return "another subscription delivers here as well: the secret that was stored before stays accepted";
  return `deliveries signed with the old secret are accepted until ${until}`;
}
