import { seededRandom } from "../base/seeded-random.ts";
import type { DocumentKind } from "../model/company-records.ts";
import type { Plan } from "./seed-plan.ts";

/**
 * Which document came from which, by index: quotation -> order -> proforma -> invoice -> credit note.
 * A source lies at or before the same share of its own list, so it is never younger than what came of it.
 */
export interface Links {
  sourceOf(kind: DocumentKind, index: number): Origin | null;
  /** The credit notes and final documents made from one: indexes of `kind`. */
  madeFrom(kind: DocumentKind, source: DocumentKind, index: number): number | null;
}

export interface Origin {
  readonly kind: DocumentKind;
  readonly index: number;
}

const sources: Readonly<
  Partial<Record<DocumentKind, { readonly from: DocumentKind; readonly often: number }>>
> = {
  order: { from: "quotation", often: 0.6 },
  proforma: { from: "order", often: 0.5 },
  invoice: { from: "proforma", often: 1 },
  "credit-note": { from: "invoice", often: 1 },
};

export function linksOf(plan: Plan): Links {
  const forward = new Map<DocumentKind, Int32Array>();
  const back = new Map<DocumentKind, Int32Array>();
  for (const kind of ["order", "proforma", "invoice", "credit-note"] as const) {
    const { made, found } = linkOne(plan, kind);
    forward.set(kind, made);
    back.set(kind, found);
  }
  return {
    sourceOf: (kind, index) => {
      const rule = sources[kind];
      const source = forward.get(kind)?.[index] ?? -1;
      return rule && source >= 0 ? { kind: rule.from, index: source } : null;
    },
    madeFrom: (kind, source, index) => {
      const made = sources[kind]?.from === source ? (back.get(kind)?.[index] ?? -1) : -1;
      return made >= 0 ? made : null;
    },
  };
}

function linkOne(plan: Plan, kind: DocumentKind): { made: Int32Array; found: Int32Array } {
  const rule = sources[kind] ?? { from: kind, often: 0 };
  const count = plan.volumes[kind];
  const sourceCount = plan.volumes[rule.from];
  const made = new Int32Array(count).fill(-1);
  const found = new Int32Array(sourceCount).fill(-1);
  for (let index = 0; index < count; index++) {
    const source = Math.floor((index * sourceCount) / count);
    const free = found[source] === -1;
    if (!free || !seededRandom(plan.seed, `link-${kind}`, index).often(rule.often)) continue;
    made[index] = source;
    found[source] = index;
  }
  return { made, found };
}
