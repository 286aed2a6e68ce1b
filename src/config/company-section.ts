/** The section `companies`: who is mirrored, and what each company proves itself with. */
import { z } from "zod";
import { assert } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import type { Access } from "../connector/service-protocol.ts";
import { readPublicUrl } from "./address.ts";
import { readableText, reference, secretText, section } from "./config-values.ts";
import type { PlacedText, ResolvedSecret, ResolvedSecrets } from "./secrets.ts";
import { pathText } from "./yaml.ts";

const token = secretText.describe(
  "The access token: ${env:NAME}, ${file:/path}, or (with a warning) the token itself.",
);

const webhook = section({
  secrets: z
    .array(token, { error: "must be a list" })
    .default([])
    .describe("Signing secrets; the old and the new one during a rotation."),
  public_url: readableText("a URL", readPublicUrl)
    .optional()
    .describe("Where the service reaches the receiver."),
})
  .prefault({})
  .describe("Incoming events.");

const clientCredentials = {
  account: readableText("the account's name in the service's addresses, such as acme-ltd", (text) =>
    /^[\w-]{1,100}$/.test(text) ? { value: text } : null,
  ).describe("The account, as its addresses at the service name it."),
  contact: readableText("an e-mail address", (text) =>
    /^[^\s@()]+@[^\s@()]+$/.test(text) ? { value: text } : null,
  ).describe("An e-mail address: each request names it to the service."),
  credentials: section({
    client_id: secretText.describe(`The client id: ${reference}.`),
    client_secret: secretText.describe(`The client secret: ${reference}.`),
  }).describe("What access tokens are asked for with."),
};

/** JSON Schema has no patterns that ignore case; names that differ only in case are refused apart. */
export const companyName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/);

/** Resolved secrets by where they stand: `secretAt("acme", "token")`. */
type SecretAt = (...place: PropertyKey[]) => ResolvedSecret;

/** A list in the order of the file. */
export function companies(access: Access | undefined, secrets: ResolvedSecrets) {
  const secretAt: SecretAt = (...place) => {
    const secret = secrets.get(pathText(["companies", ...place]));
    assert(secret, "every secret of a checked config was resolved");
    return secret;
  };
  const isToken = access?.kind !== "client_credentials";
  const byName = z.record(
    companyName,
    isToken ? section({ token, webhook }) : section({ ...clientCredentials, webhook }),
    { error: "must be a map of keys" },
  );
  return byName
    .transform((all) =>
      Object.entries(all).map(([name, company]) => {
        const ofWebhook = company.webhook.secrets.map((_, i) => secretAt(name, "webhook", "secrets", i));
        const { account = null, contact = null } = company as Partial<Record<"account" | "contact", string>>;
        const proof = isToken ? secretAt(name, "token") : credentialsOf(name, secretAt);
        return {
          name,
          token: proof.secret,
          tokenPlace: proof.place,
          // Null where a token says whose it is.
          account,
          contact,
          webhook: {
            secrets: ofWebhook.map(({ secret }) => secret),
            // Where each of them is from, in the same order.
            places: ofWebhook.map(({ place }) => place),
            publicUrl: company.webhook.publicUrl,
          },
        };
      }),
    )
    .describe("The companies to mirror, by a name of your choice.");
}

/** Id and secret are one secret: `id|secret`. */
function credentialsOf(name: string, secretAt: SecretAt): PlacedText {
  const [id, secret] = [
    secretAt(name, "credentials", "client_id"),
    secretAt(name, "credentials", "client_secret"),
  ];
  const missing = [id.secret, secret.secret].find(({ known }) => !known);
  const both = missing ?? new Secret(`${id.secret.reveal()}|${secret.secret.reveal()}`);
  return { secret: both, place: { kind: "pair", id: id.place, secret: secret.place } };
}
