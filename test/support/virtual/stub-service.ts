import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { dayMs } from "../../../src/base/clock.ts";
import type { Resource } from "../../../src/connector/resource.ts";

/** How many records of each resource a simulated company has; whole lists that are not named have two. */
export type CompanySize = Readonly<Record<string, number>>;

export const documentNames = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;
export const parentNames = ["clients", "suppliers", "business_cases"] as const;

/** The resources whose detail shows more than their list. */
export const detailed: readonly string[] = [...documentNames, "price_list_items"];

/**
 * A company of `documents` documents and a quarter as many CRM parents: at 10,000 documents its lists are 64
 * requests, `/whoami` included.
 */
export function companyOf(documents: number): CompanySize {
  const share = (part: number) => Math.round(documents * part);
  return {
    invoices: share(0.6),
    credit_notes: share(0.05),
    proformas: share(0.1),
    orders: share(0.15),
    quotations: share(0.1),
    clients: share(0.15),
    suppliers: share(0.02),
    business_cases: share(0.08),
    price_list_items: share(0.04),
    warehouse_inbound_receipts: share(0.12),
    warehouse_outbound_receipts: share(0.24),
  };
}

/** How often a record was changed: where a list shows it, and where only its detail or its own list does. */
interface Edits {
  shown: number;
  hidden: number;
}

/**
 * A company in memory that answers reads with small records. Nothing is stored of a record but its edits: what it
 * shows follows from its id.
 */
export class StubService {
  /** What was asked for, and when. */
  readonly served = {
    /** By kind: pages of lists, details, pages of parents' lists. */
    counts: { list: 0, detail: 0, child: 0 },
    /** Epoch ms of the last answer of each record's detail or parent's list, by resource and id; 0: never. */
    readAtMs: new Map<string, Float64Array>(),
    /** Epoch ms of the last answer of each list's first page, by resource. */
    listedAtMs: new Map<string, number>(),
    /** How many details and parents' lists were never read. */
    unread: 0,
  };
  private readonly counts = new Map<string, number>();
  private readonly edits = new Map<string, Edits>();
  private readonly routes = new Map<string, Resource>();
  private readonly nowMs: () => number;

  constructor(size: CompanySize, nowMs: () => number) {
    this.nowMs = nowMs;
    for (const resource of declaration.resources) {
      const { name, list } = resource;
      this.counts.set(name, size[name] ?? (list.kind === "whole" ? 2 : 0));
      if (list.kind !== "owned") this.routes.set(list.path, resource);
    }
    for (const name of [...detailed, ...parentNames]) {
      this.served.readAtMs.set(name, new Float64Array(this.count(name) + 1));
      this.served.unread += this.count(name);
    }
  }

  /** Answered so far. */
  get requests(): number {
    const { list, detail, child } = this.served.counts;
    return list + detail + child;
  }

  count(resource: string): number {
    return this.counts.get(resource) ?? 0;
  }

  /** Changes a record so that its list shows it (`shown`), or so that only its detail or its own list does. */
  edit(resource: string, id: number, kind: keyof Edits): void {
    const edits = this.edits.get(`${resource}:${id}`) ?? { shown: 0, hidden: 0 };
    edits[kind] += 1;
    this.edits.set(`${resource}:${id}`, edits);
  }

  /** The answer to `GET path?query`; null for 404. */
  answer(path: string, query: URLSearchParams): string | null {
    const listed = this.routes.get(path);
    if (listed) return this.answerList(listed, query);
    const [, route = "", id = ""] = /^(\/.+)\/(\d+)$/.exec(path) ?? [];
    const resource = this.routes.get(route);
    if (!resource?.detail || Number(id) > this.count(resource.name)) return null;
    return this.answerDetail(resource, Number(id));
  }

  private answerDetail({ name }: Resource, id: number): string {
    this.served.counts.detail += 1;
    this.markRead(name, id);
    return JSON.stringify(this.record(name, id, true));
  }

  private answerList(resource: Resource, query: URLSearchParams): string {
    const { name, list } = resource;
    if (list.kind === "parents") return this.answerParent(query, list.parents);
    this.served.counts.list += 1;
    const page = Number(query.get("page") ?? 1);
    if (page === 1) this.served.listedAtMs.set(name, this.nowMs());
    if (list.kind === "single") return JSON.stringify({ name: "Acme" });
    if (list.kind === "whole") {
      const of = (id: number) => ({ ...this.record(name, id, true), ...Object.fromEntries(query) });
      const variant = list.variants?.values.indexOf(query.get(list.variants.param) ?? "") ?? 0;
      const data = idsBetween(0, this.count(name)).map((id) => of(id + variant * this.count(name)));
      return JSON.stringify({ data });
    }
    const perPage = Number(query.get("perPage"));
    const ids = idsBetween((page - 1) * perPage, Math.min(page * perPage, this.count(name)));
    const data = ids.map((id) => this.record(name, id, !detailed.includes(name)));
    return JSON.stringify({ data, paginator: paginator(page, perPage, this.count(name)) });
  }

  /** Every parent has one CRM event, whose text is its hidden part. */
  private answerParent(
    query: URLSearchParams,
    parents: readonly { resource: string; param: string }[],
  ): string {
    this.served.counts.child += 1;
    const index = parents.findIndex(({ param }) => query.has(param));
    const { resource, param } = parents[index] ?? { resource: "", param: "" };
    const id = Number(query.get(param));
    this.markRead(resource, id);
    const { hidden } = this.editsOf(resource, id);
    const createdAt = new Date(this.issuedMs(resource, id)).toISOString();
    const owners = { clientId: null, supplierId: null, businessCaseId: null, [param]: id };
    const content = { type: "note", metadata: { content: `text ${hidden}` }, attachments: [] };
    const event = { id: id * parents.length + index, ...content, ...owners, createdAt, updatedAt: createdAt };
    return JSON.stringify({ data: [event], paginator: paginator(1, 200, 1) });
  }

  private record(name: string, id: number, whole: boolean): object {
    const { shown, hidden } = this.editsOf(name, id);
    const updatedAt = new Date(this.issuedMs(name, id)).toISOString();
    if (name === "price_list_items") {
      const stocks = [{ warehouseId: 1, warehouseName: "A", warehouseCode: "A", stockQuantity: hidden }];
      return { id, name: `Item ${id}`, unitPrice: shown, ...(whole && { stocks }) };
    }
    if (!detailed.includes(name)) return { id, name: `${name} ${id} ${shown}`, updatedAt };
    const number = String(id).padStart(8, "0");
    const preview = { id, number, issueDate: updatedAt.slice(0, 10), totalWithVat: 100 + shown };
    return whole ? { ...preview, note: `note ${hidden}`, items: [], payments: [] } : preview;
  }

  private editsOf(resource: string, id: number): Edits {
    return this.edits.get(`${resource}:${id}`) ?? { shown: 0, hidden: 0 };
  }

  /** Records are three years of work, the last one made on the first day of the simulation. */
  private issuedMs(resource: string, id: number): number {
    const age = 1 - id / Math.max(1, this.count(resource));
    return firstDayMs - Math.floor(age * 1095) * dayMs;
  }

  private markRead(resource: string, id: number): void {
    const times = this.served.readAtMs.get(resource);
    if (!times) return;
    if (times[id] === 0) this.served.unread -= 1;
    times[id] = this.nowMs();
  }
}

/** When every simulation begins: the first night at a quarter past two. */
export const firstDayMs = Date.parse("2026-11-01T02:15:00+01:00");

/** Ids grow from 1 without a gap. */
function idsBetween(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i + 1);
}

function paginator(currentPage: number, perPage: number, totalResults: number): object {
  return { currentPage, perPage, totalResults, totalPages: Math.max(1, Math.ceil(totalResults / perPage)) };
}
