import { createHash } from "node:crypto";
import type { Company } from "../domain/company-state.ts";
import { value, type Answer } from "../http/answer.ts";
import type { Route } from "../routes/router.ts";

interface Kept {
  readonly fingerprint: string;
  readonly answer: Answer;
}

/** First answers by company and key: the same request gets the same answer, another one a refusal. */
export class Idempotency {
  readonly #kept = new Map<string, Kept>();

  answer(
    company: Company,
    key: string,
    route: Route,
    path: string,
    input: unknown,
    make: () => Answer,
  ): Answer {
    const name = `${company.index}/${key}`;
    const fingerprint = createHash("sha256")
      .update(`${route.method} ${path} ${JSON.stringify(input)}`)
      .digest("hex");
    const known = this.#kept.get(name);
    if (known && known.fingerprint !== fingerprint) {
      return value({ error: "Idempotency-Key reused with different request payload" }, 422);
    }
    if (known) return marked(known.answer, key, "Repeated");
    const answer = make();
    if (answer.status < 300) this.#kept.set(name, { fingerprint, answer });
    return marked(answer, key, "Original");
  }
}

function marked(answer: Answer, key: string, status: "Original" | "Repeated"): Answer {
  return { ...answer, headers: { ...answer.headers, "Idempotency-Key": key, "Idempotency-Status": status } };
}
