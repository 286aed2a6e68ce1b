/** What stands where a secret stood. */
export const redacted = "[redacted]";

/**
 * Takes secrets out of a text: as they are, and as URLs, base64 (also amid other bytes) and JSON write
 * them. Redact first, shorten afterwards: a cut secret is no longer found.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets)(text);
}

/** The same for many texts. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret !== "").flatMap(formsOf))];
  if (forms.length === 0) return (text) => text;
  const longestFirst = forms.toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escaped).join("|"), "g");
  return (text) => text.replace(pattern, redacted);
}

function formsOf(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const lowerUrl = url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, url, lowerUrl, url.replaceAll("%20", "+"), json, json.replaceAll("/", "\\/")];
  return [...forms, ...base64Forms(secret)];
}

/** Enough characters that nothing else looks the same by chance. */
const minBase64Length = 8;

/**
 * Base64 of longer bytes that hold the secret (`user:token`): three alignments, each without the outer
 * characters that also depend on the neighbours.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString("base64").replace(/=+$/, "");
  const forms = [whole, ...cores].filter((form) => form.length >= minBase64Length);
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
