import type { Attachment } from "../model/company-records.ts";
import type { Company } from "./company-state.ts";

type Upload = Omit<Attachment, "id">;

/** Files that wait for the event they will be attached to. */
const waiting = new WeakMap<Company, Map<string, Upload>>();

function uploadsOf(company: Company): Map<string, Upload> {
  const known = waiting.get(company) ?? new Map<string, Upload>();
  waiting.set(company, known);
  return known;
}

export function keepUpload(company: Company, upload: Upload): string {
  const token = Buffer.from(`upload:${company.random.uuid()}`).toString("base64url");
  uploadsOf(company).set(token, upload);
  return token;
}

export function peekUpload(company: Company, token: string): boolean {
  return uploadsOf(company).has(token);
}

/** A token works once. */
export function takeUpload(company: Company, token: string): Upload | undefined {
  const upload = uploadsOf(company).get(token);
  uploadsOf(company).delete(token);
  return upload;
}
