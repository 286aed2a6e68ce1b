import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { momentOf } from "../base/calendar.ts";
import { latin } from "../base/values.ts";
import { czechCrown, euro } from "../lookups/currencies.ts";
import { czechia, slovakia } from "../lookups/countries.ts";
import type { DeliveryAddress, Party, Preferences, Subject } from "../model/company-records.ts";
import { businessId } from "../base/identifiers.ts";
import { fill, type Seeding } from "./seed-plan.ts";
import * as words from "./sample-words.ts";

/** The language id of a client's documents, by country id. */
export const languageOfCountry: Readonly<Record<number, number>> = {
  [slovakia]: 1,
  [czechia]: 8,
  40: 3,
  276: 3,
  348: 5,
  616: 13,
  840: 2,
};
const currencyOfCountry: Readonly<Record<number, number>> = { [czechia]: czechCrown, 348: 8, 616: 9, 840: 2 };

/** Fills in clients, three of four of them companies. */
export function seedClients({ plan, company: { tables } }: Seeding): void {
  fill(tables.clients, plan.volumes.clients, (id, index) => {
    const random = seededRandom(plan.seed, "client", index);
    const party = partyOf(random, index, random.often(0.25) ? "person" : "company");
    const createdAtMs = momentOf(plan.firstDay + random.int(0, 200), random.int(480, 1000));
    return {
      id,
      ...party,
      ...deliveryOf(random, party),
      ...preferencesOf(random, party),
      createdAtMs,
      updatedAtMs: createdAtMs + (random.often(0.4) ? random.int(1, 500) * 86_400_000 : 0),
    };
  });
}

/** Fills in suppliers, nine of ten of them companies. */
export function seedSuppliers({ plan, company: { tables } }: Seeding): void {
  fill(tables.suppliers, plan.volumes.suppliers, (id, index) => {
    const random = seededRandom(plan.seed, "supplier", index);
    const createdAtMs = momentOf(plan.firstDay + random.int(0, 200), random.int(480, 1000));
    const party = partyOf(random, index + 3, random.often(0.1) ? "person" : "company");
    return { id, ...party, createdAtMs, updatedAtMs: createdAtMs };
  });
}

/** A company of the public register, which is the same for every company of the sandbox. */
export function seededSubject(index: number): Subject {
  const random = seededRandom(0, "subject", index);
  const isFreelancer = random.often(0.3);
  const home = slovakAddress(random);
  const name = isFreelancer ? personSk(random) : companySk(random);
  const subjectId = businessId(`5${String(index * 7 + 1).padStart(6, "0")}`);
  const taxId = random.often(0.9) ? slovakTaxId(random) : null;
  const vatId = taxId && random.often(0.7) ? `SK${taxId}` : null;
  const party = company(name, { subjectId, taxId, vatId }, home, null);
  return { ...party, id: Number(subjectId), legalForm: isFreelancer ? "freelancer" : "company" };
}

function partyOf(random: SeededRandom, index: number, type: Party["type"]): Party {
  const where = random.next();
  if (index % 9 === 4) return oddParty(random, Math.floor(index / 9));
  if (where < 0.05) return foreignParty(random, index);
  return where < 0.2 ? czechParty(random, type) : slovakParty(random, type);
}

function slovakParty(random: SeededRandom, type: Party["type"]): Party {
  const home = slovakAddress(random);
  if (type === "person") return person(random, personSk(random), home);
  const taxId = slovakTaxId(random);
  const vatId = random.often(0.75) ? `SK${taxId}` : null;
  const subjectId = businessId(String(random.int(3_100_000, 5_600_000)));
  const name = companySk(random);
  return company(name, { subjectId, taxId, vatId }, home, emailOf(random, name));
}

function czechParty(random: SeededRandom, type: Party["type"]): Party {
  const [city = "", zip = ""] = random.pick(words.citiesCz).split(":");
  const home = { street: streetOf(random, words.streetsCz), city, zip, countryId: czechia };
  if (type === "person") return person(random, personCz(random), home);
  const subjectId = businessId(String(random.int(2_500_000, 2_999_999)));
  const taxId = `CZ${subjectId}`;
  const name = `${random.pick(words.tradesCz)} ${random.pick(words.ownNamesCz)} ${random.pick(words.formsCz)}`;
  const ids = { subjectId, taxId, vatId: random.often(0.8) ? taxId : null };
  return company(name, ids, home, emailOf(random, name));
}

function foreignParty(random: SeededRandom, index: number): Party {
  const [countryId, city, zip, street, name] = random.pick(words.abroad);
  const vatId = countryId === 840 ? null : `${vatPrefix[countryId] ?? ""}${random.digits(9)}`;
  const ids = { subjectId: random.digits(9), taxId: null, vatId };
  const fullName = index % 2 === 0 ? name : `${name} ${index}`;
  return company(fullName, ids, { street, city, zip, countryId }, emailOf(random, fullName));
}

const vatPrefix: Readonly<Record<number, string>> = { 40: "ATU", 276: "DE", 348: "HU", 616: "PL" };

function oddParty(random: SeededRandom, turn: number): Party {
  const name = words.oddNames[turn % words.oddNames.length] ?? "";
  const plain = slovakParty(random, "company");
  return {
    ...plain,
    name: turn < words.oddNames.length ? name : `${name} (${turn})`,
    email: turn % 2 ? null : plain.email,
  };
}

type Home = Pick<Party, "street" | "city" | "zip" | "countryId">;
type Ids = Pick<Party, "subjectId" | "taxId" | "vatId">;

function person(random: SeededRandom, name: string, home: Home): Party {
  const address = () => `${name.split(" ").map(plainWord).join(".")}${random.int(1, 99)}@example.com`;
  const ids = { subjectId: null, taxId: null, vatId: null };
  const email = random.often(0.7) ? address() : null;
  return { type: "person", name, ...ids, isVatPayer: false, email, ...home };
}

function company(name: string, ids: Ids, home: Home, email: string | null): Party {
  return { type: "company", name, ...ids, isVatPayer: ids.vatId !== null, email, ...home };
}

/** A made-up address at a domain that no name server knows. */
function emailOf(random: SeededRandom, name: string): string | null {
  return random.often(0.85) ? `fakturacie@${domainOf(name)}.example` : null;
}

/** A Slovak tax id (DIČ): ten digits, divisible by eleven. */
function slovakTaxId(random: SeededRandom): string {
  const base = 2_020_000_000 + random.int(0, 99_999_999);
  return String(base - (base % 11));
}

/** The same words come thousands of times: their accents are removed once. */
const plainWords = new Map<string, string>();
const keptWords = 5_000;

function plainWord(word: string): string {
  const known = plainWords.get(word);
  if (known !== undefined) return known;
  const plain = latin(word)
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  if (plainWords.size < keptWords) plainWords.set(word, plain);
  return plain;
}

function domainOf(name: string): string {
  const parts = name
    .split(" ")
    .map(plainWord)
    .filter((word) => word !== "");
  return parts.join("-").slice(0, 40).replace(/-+$/, "") || "firma";
}

function personSk(random: SeededRandom): string {
  const surname = random.pick(words.surnamesSk);
  return personOf(random, surname, words.menSk, words.womenSk);
}

function personCz(random: SeededRandom): string {
  const surname = random.pick(words.surnamesCz);
  return personOf(random, surname, words.menCz, words.womenCz);
}

function personOf(random: SeededRandom, surname: string, men: readonly string[], women: readonly string[]) {
  return random.often(0.5) ? `${random.pick(men)} ${surname}` : `${random.pick(women)} ${feminine(surname)}`;
}

function feminine(surname: string): string {
  return surname.endsWith("ý")
    ? `${surname.slice(0, -1)}á`
    : `${surname.replace(/[ao]$|(?<=[^aeiou])e(?=[ck]$)/, "")}ová`;
}

function companySk(random: SeededRandom): string {
  return `${random.pick(words.trades)} ${random.pick(words.ownNames)} ${random.int(1, 999)}, ${random.pick(words.formsSk)}`;
}

function slovakAddress(random: SeededRandom): Home {
  const [city = "", zip = ""] = random.pick(words.citiesSk).split(":");
  return { street: streetOf(random, words.streetsSk), city, zip, countryId: slovakia };
}

function streetOf(random: SeededRandom, streets: readonly string[]): string {
  return `${random.pick(streets)} ${random.int(1, 120)}${random.often(0.2) ? "/A" : ""}`;
}

function deliveryOf(random: SeededRandom, party: Party): DeliveryAddress {
  const hasDeliveryAddress = random.often(0.15);
  const home = hasDeliveryAddress ? slovakAddress(random) : null;
  return {
    hasDeliveryAddress,
    deliveryStreet: home?.street ?? null,
    deliveryCity: home?.city ?? null,
    deliveryZip: home?.zip ?? null,
    deliveryCountryId: home ? party.countryId : null,
  };
}

function preferencesOf(random: SeededRandom, party: Party): Preferences {
  const has = random.often(0.3);
  const country = party.countryId ?? slovakia;
  return {
    preferredDeliveryMethodId: has ? random.int(1, 6) : null,
    preferredPaymentMethodId: has ? random.int(1, 6) : null,
    preferredCurrencyId: country === slovakia ? null : (currencyOfCountry[country] ?? euro),
    preferredLanguageId: country === slovakia ? null : (languageOfCountry[country] ?? 2),
    preferredDueDays: has ? random.pick([7, 14, 21, 30, 60]) : null,
    preferredNote: random.often(0.1) ? random.pick(words.oddNotes) : null,
    preferredVariableSymbol: random.often(0.05) ? random.int(1, 9_999_999_999) : null,
    preferredConstantSymbol: has ? random.pick([8, 308, 558]) : null,
    preferredSpecificSymbol: random.often(0.1) ? random.int(1, 9_999_999) : null,
    preferredTextAboveItems: random.often(0.1) ? "Fakturujeme Vám:" : null,
  };
}
