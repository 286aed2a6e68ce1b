import { MadeUpAccount, type SandboxRecord } from "./made-up-account.ts";

/** Kinds of records that can be made, changed and removed; what others refer to comes first. */
export const kinds = ["subjects", "generators", "recurring_generators", "invoices", "expenses"] as const;
export type RecordKind = (typeof kinds)[number];

const dayMs = 24 * 3_600_000;
const pageSize = 40;

/** Everything that the stand-in holds of its one account. */
export class Books {
  readonly account: Readonly<Record<string, unknown>>;
  /** Lists without pages, by path. */
  readonly small: ReadonlyMap<string, readonly SandboxRecord[]>;
  private readonly made: MadeUpAccount;
  private readonly held = new Map<RecordKind, SandboxRecord[]>(kinds.map((kind) => [kind, []]));

  constructor(seed: number, invoices: number, nowMs: number, account: string) {
    const made = new MadeUpAccount(randomOf(seed));
    const [subjects, expenses] = [Math.ceil(invoices / 3), Math.ceil(invoices / 2)];
    const counts = { subjects, generators: 2, recurring_generators: 2, invoices, expenses };
    this.made = made;
    this.account = made.account(account, nowMs);
    this.small = new Map([
      ["bank_accounts", [made.bankAccount(nowMs)]],
      ["number_formats/invoices", [made.numberFormat(nowMs)]],
    ]);
    for (const kind of kinds) {
      const count = counts[kind];
      // From ten months to two days ago.
      for (let i = 0; i < count; i++) this.make(kind, nowMs - (2 + ((count - i) * 300) / count) * dayMs);
    }
  }

  /** What the service holds, by table. */
  tables(): Map<string, readonly SandboxRecord[]> {
    const small = [...this.small].map(([path, records]) => [path.split("/")[0] ?? "", records] as const);
    return new Map<string, readonly SandboxRecord[]>([...small, ...this.held]);
  }

  make(kind: RecordKind, atMs: number): SandboxRecord {
    const { made } = this;
    const subjects = this.of("subjects");
    const subject = subjects.length > 0 ? made.pick(subjects) : made.subject(atMs);
    const makers: Readonly<Record<RecordKind, () => SandboxRecord>> = {
      subjects: () => made.subject(atMs),
      generators: () => made.generator(atMs, subject, false),
      recurring_generators: () => made.generator(atMs, subject, true),
      invoices: () => made.invoice(atMs, subject),
      expenses: () => made.expense(atMs, subject),
    };
    const record = makers[kind]();
    this.of(kind).push(record);
    return record;
  }

  find(kind: RecordKind, id: number): SandboxRecord | undefined {
    return this.of(kind).find((one) => one.id === id);
  }

  remove(kind: RecordKind, id: number): SandboxRecord | undefined {
    const records = this.of(kind);
    const at = records.findIndex((one) => one.id === id);
    return records.splice(at, 1)[0];
  }

  /** Documents come by day and number, the newest first, as was seen. The order of others is an assumption. */
  page(kind: RecordKind, sinceMs: number, page: number): SandboxRecord[] {
    const shown = this.of(kind).filter((one) => Date.parse(one.updated_at) >= sinceMs);
    const isDocument = kind === "invoices" || kind === "expenses";
    shown.sort((a, b) => (isDocument ? Number(orderOf(b) > orderOf(a)) || -1 : a.id - b.id));
    return shown.slice((page - 1) * pageSize, page * pageSize);
  }

  private of(kind: RecordKind): SandboxRecord[] {
    return this.held.get(kind) ?? [];
  }
}

function orderOf(document: SandboxRecord): string {
  return `${String(document["issued_on"])} ${String(document["number"])} ${document.id}`;
}

/** Random numbers that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
