import samples from "./samples.json" with { type: "json" };

type RecordFields = Record<string, unknown>;
type SandboxRecord = RecordFields & { id: number; updated_at: string };

/** Kinds of records that can be made, changed and removed; what others refer to comes first. */
export const kinds = ["subjects", "generators", "recurring_generators", "invoices", "expenses"] as const;
export type RecordKind = (typeof kinds)[number];

const dayMs = 24 * 3_600_000;
const pageSize = 40;

/** `2026-04-27T18:20:01.163+02:00`: the service writes the time of Prague; always the summer's here. */
export const pragueTime = (ms: number) => new Date(ms + 2 * 3_600_000).toISOString().replace("Z", "+02:00");

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Amounts are texts with a varying number of digits. */
const amount = (value: number) => String(Math.round(value * 100) / 100);

/** Everything that the stand-in holds of its one account: the same seed makes the same records. */
export class Books {
  readonly account: Readonly<Record<string, unknown>>;
  /** Lists without pages, by path. */
  readonly small: ReadonlyMap<string, readonly SandboxRecord[]>;
  private state: number;
  private nextId = 46_000_001;
  private readonly held: Readonly<Record<RecordKind, SandboxRecord[]>> = {
    subjects: [],
    generators: [],
    recurring_generators: [],
    invoices: [],
    expenses: [],
  };
  /** What a record of each kind has besides its id and times. */
  private readonly makers: Readonly<Record<RecordKind, (id: number, atMs: number) => RecordFields>> = {
    subjects: (id) => ({
      ...samples.subject,
      name: `${this.pick(samples.firms)} ${id % 1000}`,
      type: this.pick(["customer", "supplier", "both"]),
      registration_no: String(10_000_000 + (id % 90_000_000)),
    }),
    generators: () => this.generator(),
    recurring_generators: (_, atMs) => {
      const dates = { start_date: day(atMs), next_occurrence_on: day(atMs + 30 * dayMs) };
      return { ...this.generator(), ...samples.recurring, ...dates };
    },
    invoices: (id, atMs) => {
      const { id: subject_id, name: client_name } = this.pick(this.held.subjects);
      const variable_symbol = String(id % 10_000).padStart(4, "0");
      const names = { number: `2026-${variable_symbol}`, variable_symbol, subject_id, client_name };
      const dates = { issued_on: day(atMs), due_on: day(atMs + samples.invoice.due * dayMs) };
      const sums = this.money(1 + (id % 3));
      const payments = this.random() < 0.6 ? [this.payment(atMs + dayMs, sums.total)] : [];
      const [paid] = payments;
      const state = { status: paid ? "paid" : "open", paid_on: paid?.["paid_on"] ?? null };
      return { ...samples.invoice, ...names, ...dates, ...state, ...sums, payments };
    },
    expenses: (id, atMs) => {
      const { id: subject_id, name: supplier_name } = this.pick(this.held.subjects);
      const sums = this.money(1);
      const numbers = { number: `N${id % 10_000}`, original_number: `F-${id % 10_000}` };
      const dates = { issued_on: day(atMs), due_on: day(atMs + 14 * dayMs), paid_on: day(atMs + dayMs) };
      const attachments = [{ id: this.nextId++, ...samples.attachment }];
      const payments = [this.payment(atMs + dayMs, sums.total)];
      const parts = { payments, attachments };
      return { ...samples.expense, ...numbers, subject_id, supplier_name, ...dates, ...sums, ...parts };
    },
  };

  constructor(seed: number, invoices: number, nowMs: number, subdomain: string) {
    this.state = seed;
    const openedMs = nowMs - 900 * dayMs;
    this.account = { subdomain, ...samples.account, ...timesOf(openedMs) };
    this.small = new Map([
      ["bank_accounts", [{ ...this.head(openedMs), ...samples.bankAccount }]],
      ["number_formats/invoices", [{ ...this.head(openedMs), ...samples.numberFormat }]],
    ]);
    const subjects = Math.ceil(invoices / 3) || 1;
    const counts = { subjects, generators: 2, recurring_generators: 2, invoices, expenses: invoices / 2 };
    for (const kind of kinds) {
      const count = Math.ceil(counts[kind]);
      // From ten months to two days ago.
      for (let i = 0; i < count; i++) this.make(kind, nowMs - (2 + ((count - i) * 300) / count) * dayMs);
    }
  }

  /** What the service holds, by table. */
  tables(): Map<string, readonly SandboxRecord[]> {
    const small = [...this.small].map(([path, records]) => [path.split("/")[0] ?? "", records] as const);
    return new Map<string, readonly SandboxRecord[]>([...small, ...Object.entries(this.held)]);
  }

  make(kind: RecordKind, atMs: number): SandboxRecord {
    const head = this.head(atMs);
    const record = { ...head, ...this.makers[kind](head.id, atMs) };
    this.held[kind].push(record);
    return record;
  }

  find(kind: RecordKind, id: number): SandboxRecord | undefined {
    return this.held[kind].find((one) => one.id === id);
  }

  remove(kind: RecordKind, id: number): SandboxRecord | undefined {
    const records = this.held[kind];
    const at = records.findIndex((one) => one.id === id);
    return records.splice(at, 1)[0];
  }

  /** Documents come by day and number, the newest first, as was seen. The order of others is an assumption. */
  page(kind: RecordKind, sinceMs: number, page: number): SandboxRecord[] {
    const shown = this.held[kind].filter((one) => Date.parse(one.updated_at) >= sinceMs);
    const isDocument = kind === "invoices" || kind === "expenses";
    shown.sort((a, b) => (isDocument ? Number(orderOf(b) > orderOf(a)) || -1 : a.id - b.id));
    return shown.slice((page - 1) * pageSize, page * pageSize);
  }

  private generator(): RecordFields {
    const { id: subject_id, name } = this.pick(this.held.subjects);
    const { vat_rates_summary: _none, ...sums } = this.money(1);
    return { ...samples.generator, name: `Paušál ${String(name)}`, subject_id, ...sums };
  }

  /** A payment; its own stamps are of the moment it was added. */
  private payment(atMs: number, value: string): RecordFields {
    const sums = { amount: value, native_amount: value };
    return { ...this.head(atMs), paid_on: day(atMs), ...samples.payment, ...sums };
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** In [0, 1); what follows from the seed. */
  private random(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }

  /** Lines with one rate of VAT, and what they add up to. */
  private money(count: number) {
    const vat_rate = this.pick([21, 12, 0]);
    const lines = Array.from({ length: count }, () => {
      const [quantity, price] = [1 + Math.floor(this.random() * 5), 100 + Math.floor(this.random() * 900)];
      const [net, vat] = [quantity * price, (quantity * price * vat_rate) / 100];
      const own = { id: this.nextId++, name: this.pick(samples.things), vat_rate };
      const prices = { quantity: `${quantity}.0`, unit_price: `${price}.0` };
      const native_total_vat = vat_rate === 0 ? 0 : amount(vat);
      const sums = { total_price_without_vat: amount(net), total_vat: amount(vat), native_total_vat };
      return { ...samples.line, ...own, ...prices, ...sums };
    });
    const base = lines.reduce((sum, line) => sum + Number(line.total_price_without_vat), 0);
    const vat = lines.reduce((sum, line) => sum + Number(line.total_vat), 0);
    const [subtotal, total] = [amount(base), amount(base + vat)];
    const vat_rates_summary = [{ vat_rate, base: subtotal, vat: amount(vat), currency: "CZK" }];
    const native = { native_subtotal: subtotal, native_total: total };
    return { ...samples.money, subtotal, total, ...native, lines, vat_rates_summary };
  }

  private head(atMs: number) {
    return { id: this.nextId++, ...timesOf(atMs) };
  }
}

/** A record is updated half a second after it was created. */
const timesOf = (ms: number) => ({ created_at: pragueTime(ms), updated_at: pragueTime(ms + 500) });

const orderOf = (document: SandboxRecord) =>
  `${String(document["issued_on"])} ${String(document["number"])} ${document.id}`;
