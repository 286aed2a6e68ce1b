import { createHmac, timingSafeEqual } from "node:crypto";

const hexDigest = /^[0-9a-fA-F]{64}$/;

/**
 * Is `signature` the HMAC-SHA256 of exactly these bytes, by one of the secrets? Every secret is tried and
 * every comparison takes the same time, so an answer tells nothing about how near a guess came.
 */
export function isSigned(body: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  if (!hexDigest.test(signature)) return false;
  const given = Buffer.from(signature, "hex");
  let matches = 0;
  for (const secret of secrets) {
    // Anybody can sign with the empty key.
    if (secret === "") continue;
    matches += Number(timingSafeEqual(createHmac("sha256", secret).update(body).digest(), given));
  }
  return matches > 0;
}
