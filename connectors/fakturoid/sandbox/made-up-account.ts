/** A record as the service shows it. */
export type SandboxRecord = { id: number; updated_at: string } & Record<string, unknown>;

const dayMs = 24 * 3_600_000;
const firms = [
  "Pekárna U Lípy",
  "Truhlářství Dub",
  "Květinářství Rosa",
  "Autoservis Blesk",
  "Účetní Nováková",
];
const things = ["Poradenství", "Grafické práce", "Pečivo", "Doprava", "Školení"];

/** `2026-04-27T18:20:01.163+02:00`: the service writes the time of Prague; always the summer's here. */
export function pragueTime(ms: number): string {
  return new Date(ms + 2 * 3_600_000).toISOString().replace("Z", "+02:00");
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Amounts are texts with a varying number of digits. */
const amount = (value: number) => String(Math.round(value * 100) / 100);

/** Fields from words such as `city=Brno vat_no= due=~`; `~` is null, and an empty word an empty text. */
function words(text: string): Record<string, string | null> {
  const pairs = text
    .trim()
    .split(/\s+/)
    .map((word) => word.split("=") as [string, string]);
  return Object.fromEntries(pairs.map(([name, value]) => [name, value === "~" ? null : value]));
}

/** Makes the records of an account: the same random numbers make the same records. */
export class MadeUpAccount {
  /** In [0, 1). */
  private readonly random: () => number;
  private nextId = 46_000_001;

  constructor(random: () => number) {
    this.random = random;
  }

  account(subdomain: string, nowMs: number): Record<string, unknown> {
    const name = "Zkušební účet s.r.o.";
    const texts = words("plan=Start registration_no=12345678 vat_mode=vat_payer local_vat_no=~ currency=CZK");
    const numbers = { plan_price: 372, due: 14, vat_rate: 21, invoice_proforma: false };
    return { subdomain, name, ...texts, ...numbers, ...this.times(nowMs - 900 * dayMs) };
  }

  bankAccount(nowMs: number): SandboxRecord {
    const texts = words("name=Účet currency=CZK number=123456789/0100 iban=~ swift_bic=KOMBCZPP");
    return { ...this.head(nowMs - 900 * dayMs), ...texts, pairing: true, default: true };
  }

  numberFormat(nowMs: number): SandboxRecord {
    const texts = words("format=#yyyy#-#dddd# preview=2026-0001");
    return { ...this.head(nowMs - 900 * dayMs), ...texts, default: true };
  }

  subject(atMs: number): SandboxRecord {
    const head = this.head(atMs);
    const name = `${this.pick(firms)} ${head.id % 1000}`;
    const texts = words("custom_id=~ full_name= city=Brno country=CZ vat_no= webinvoice_history=~");
    const registration_no = String(10_000_000 + (head.id % 90_000_000));
    const numbers = { user_id: null, due: null, suggestion_enabled: true, registration_no };
    return { ...head, name, type: this.pick(["customer", "supplier", "both"]), ...texts, ...numbers };
  }

  generator(atMs: number, { id: subject_id, name }: SandboxRecord, isRecurring: boolean): SandboxRecord {
    const { vat_rates_summary: _none, ...sums } = this.money(1);
    const dates = { start_date: day(atMs), end_date: null, next_occurrence_on: day(atMs + 30 * dayMs) };
    const more = isRecurring ? { active: true, months_period: 1, ...dates } : {};
    const legacy_bank_details = words("bank_account=123456789/0100 iban=~ swift_bic=~");
    const own = { name: `Paušál ${String(name)}`, subject_id, legacy_bank_details, tags: [] };
    return { ...this.head(atMs), ...own, ...sums, ...more };
  }

  invoice(atMs: number, subject: SandboxRecord): SandboxRecord {
    const head = this.head(atMs);
    const number = `2026-${String(head.id % 10_000).padStart(4, "0")}`;
    const texts = words("custom_id=~ document_type=invoice client_vat_no= your_registration_no=12345678");
    const names = { subject_id: subject.id, client_name: subject["name"], variable_symbol: number.slice(5) };
    const dates = { issued_on: day(atMs), due: 14, due_on: day(atMs + 14 * dayMs) };
    const sums = this.money(1 + (head.id % 3));
    const paid = this.random() < 0.6 ? this.payment(atMs + dayMs, sums.total) : null;
    const state = { status: paid ? "paid" : "open", paid_on: paid?.["paid_on"] ?? null };
    const rest = { related_id: null, tags: ["web"], paid_advances: [], eet_records: [], attachments: null };
    const payments = paid ? [paid] : [];
    return { ...head, ...texts, number, ...names, ...dates, ...state, ...sums, ...rest, payments };
  }

  expense(atMs: number, subject: SandboxRecord): SandboxRecord {
    const head = this.head(atMs);
    const sums = this.money(1);
    const number = head.id % 10_000;
    const texts = words(`number=N${number} original_number=F-${number} status=paid document_type=invoice`);
    const supplier = {
      supplier_name: subject["name"],
      subject_id: subject.id,
      proportional_vat_deduction: 100,
    };
    const dates = { issued_on: day(atMs), due_on: day(atMs + 14 * dayMs), paid_on: day(atMs + dayMs) };
    const attachments = [{ id: this.nextId++, ...words("filename=doklad.pdf content_type=application/pdf") }];
    const payments = [this.payment(atMs + dayMs, sums.total)];
    return { ...head, ...texts, ...supplier, ...dates, tags: [], ...sums, payments, attachments };
  }

  /** A payment; its own stamps are of the moment it was added. */
  payment(atMs: number, value: string): Record<string, unknown> {
    const texts = words(`currency=CZK amount=${value} native_amount=${value} variable_symbol=~`);
    return { ...this.head(atMs), paid_on: day(atMs), ...texts, bank_account_id: null };
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Lines with one rate of VAT, and what they add up to. */
  private money(count: number) {
    const rate = this.pick([21, 12, 0]);
    const lines = Array.from({ length: count }, () => {
      const [quantity, price] = [1 + Math.floor(this.random() * 5), 100 + Math.floor(this.random() * 900)];
      const [net, vat] = [quantity * price, (quantity * price * rate) / 100];
      const texts = words(`quantity=${quantity}.0 unit_name=ks unit_price=${price}.0`);
      const native_total_vat = rate === 0 ? 0 : amount(vat);
      const sums = { total_price_without_vat: amount(net), total_vat: amount(vat), native_total_vat };
      return {
        id: this.nextId++,
        name: this.pick(things),
        vat_rate: rate,
        ...texts,
        ...sums,
        inventory: null,
      };
    });
    const base = lines.reduce((sum, line) => sum + Number(line.total_price_without_vat), 0);
    const vat = lines.reduce((sum, line) => sum + Number(line.total_vat), 0);
    const [subtotal, total] = [amount(base), amount(base + vat)];
    const vat_rates_summary = [{ vat_rate: rate, base: subtotal, vat: amount(vat), currency: "CZK" }];
    const native = { native_subtotal: subtotal, native_total: total };
    return { currency: "CZK", exchange_rate: "1.0", subtotal, total, ...native, lines, vat_rates_summary };
  }

  private head(atMs: number) {
    return { id: this.nextId++, ...this.times(atMs) };
  }

  /** A record is updated half a second after it was created. */
  private times(atMs: number) {
    return { created_at: pragueTime(atMs), updated_at: pragueTime(atMs + 500) };
  }
}
