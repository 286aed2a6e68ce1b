import { firstDayOfYear, yearOf } from "../base/calendar.ts";
import { formatNumber } from "../base/identifiers.ts";
import { seededRandom } from "../base/seeded-random.ts";
import type { DocumentKind } from "../model/company-records.ts";
import type { Plan } from "./seed-plan.ts";

const prefixes: Readonly<Record<DocumentKind, string>> = {
  invoice: "(RRRR)",
  "credit-note": "DB(RRRR)",
  proforma: "ZF(RRRR)",
  order: "OBJ-(RRRR)-",
  quotation: "CP(RR)",
};

/** The pattern of a kind's numbers, with enough digits for all its documents. */
export function numberPattern(plan: Plan, kind: DocumentKind): string {
  return `${prefixes[kind]}(${"C".repeat(Math.max(3, String(plan.volumes[kind]).length))})`;
}

/** The number and the day number of the issue of every document of a kind, in the order of their ids. */
export function* numbersAndDays(
  plan: Plan,
  kind: DocumentKind,
): Generator<{ number: string; issueDay: number }> {
  const { seed, firstDay, today, volumes } = plan;
  const count = volumes[kind];
  const pattern = numberPattern(plan, kind);
  let counter = 0;
  let year = 0;
  for (let index = 0; index < count; index++) {
    const writtenDay = firstDay + Math.floor(((index + 1) / count) * (today - firstDay));
    counter = yearOf(writtenDay) === year ? counter + 1 : 1;
    year = yearOf(writtenDay);
    // Ids grow with the day of writing. One in seven was issued a few days before, in the same year.
    const random = seededRandom(seed, `issue-${kind}`, index);
    const backdated = random.often(0.15) ? writtenDay - random.int(1, 4) : writtenDay;
    const issueDay = Math.max(firstDayOfYear(year), backdated);
    yield { number: formatNumber(pattern, writtenDay, counter), issueDay };
  }
}
