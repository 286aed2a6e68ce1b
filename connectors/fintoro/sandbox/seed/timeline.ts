import { seededRandom } from "../base/seeded-random.ts";
import { firstDayOfYear, yearOf } from "../base/calendar.ts";
import { formatNumber } from "../base/document-numbers.ts";
import type { DocumentKind } from "../model/company-records.ts";
import type { Plan } from "./seed-plan.ts";

const prefixes: Readonly<Record<DocumentKind, string>> = {
  invoice: "(RRRR)",
  "credit-note": "DB(RRRR)",
  proforma: "ZF(RRRR)",
  order: "OBJ-(RRRR)-",
  quotation: "CP(RR)",
};

/**
 * When the documents of one kind were written, and under which number. Ids grow with the day of
 * writing; the issue date may lie a few days before it, as it does in real books.
 */
export class Timeline {
  readonly pattern: string;
  readonly count: number;
  readonly #plan: Plan;
  readonly #kind: DocumentKind;
  /** Told once each; 0 where it was not asked for yet. */
  readonly #issueDays: Int32Array;
  /** First index of each of the three years. */
  readonly #yearStarts: readonly { readonly year: number; readonly first: number }[];

  constructor(plan: Plan, kind: DocumentKind) {
    this.#plan = plan;
    this.#kind = kind;
    this.count = plan.volumes[kind];
    this.#issueDays = new Int32Array(this.count);
    const firstYear = yearOf(plan.firstDay);
    this.#yearStarts = [0, 1, 2].map((n) => ({
      year: firstYear + n,
      first: this.#firstFrom(firstDayOfYear(firstYear + n)),
    }));
    this.pattern = `${prefixes[kind]}(${"C".repeat(Math.max(3, String(this.count).length))})`;
  }

  writtenDay(index: number): number {
    const { firstDay, today } = this.#plan;
    return firstDay + Math.floor(((index + 1) / this.count) * (today - firstDay));
  }

  issueDay(index: number): number {
    const known = this.#issueDays[index] ?? 0;
    if (known !== 0) return known;
    const day = this.#backdated(index);
    this.#issueDays[index] = day;
    return day;
  }

  /** One in seven was written a few days after it was issued, never in another year. */
  #backdated(index: number): number {
    const day = this.writtenDay(index);
    const random = seededRandom(this.#plan.seed, `issue-${this.#kind}`, index);
    if (!random.often(0.15)) return day;
    return Math.max(firstDayOfYear(yearOf(day)), day - random.int(1, 4));
  }

  number(index: number): string {
    const { year, first } = this.#yearOfIndex(index);
    return formatNumber(this.pattern, { year, month: 1, counter: index - first + 1 });
  }

  /** The counter that the running year's next document gets. */
  nextCounter(): number {
    return this.count - (this.#yearStarts[2]?.first ?? 0) + 1;
  }

  #yearOfIndex(index: number) {
    return (
      this.#yearStarts.findLast(({ first }) => index >= first) ?? {
        year: yearOf(this.#plan.firstDay),
        first: 0,
      }
    );
  }

  #firstFrom(day: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.writtenDay(middle) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
