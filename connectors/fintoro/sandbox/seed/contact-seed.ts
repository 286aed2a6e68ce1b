import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { momentOf } from "../base/calendar.ts";
import { latin } from "../base/values.ts";
import { czechCrown, euro } from "../lookups/currencies.ts";
import { czechia, slovakia } from "../lookups/countries.ts";
import type {
  Client,
  DeliveryAddress,
  Party,
  Preferences,
  Subject,
  Supplier,
} from "../model/company-records.ts";
import { businessId, slovakTaxId } from "../base/identifiers.ts";
import type { Plan } from "./seed-plan.ts";
import * as words from "./sample-words.ts";

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

export function seededClient(plan: Plan, id: number): Client {
  const index = id - plan.firstIds.clients;
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
}

export function seededSupplier(plan: Plan, id: number): Supplier {
  const index = id - plan.firstIds.suppliers;
  const random = seededRandom(plan.seed, "supplier", index);
  const createdAtMs = momentOf(plan.firstDay + random.int(0, 200), random.int(480, 1000));
  const party = partyOf(random, index + 3, random.often(0.1) ? "person" : "company");
  return { id, ...party, createdAtMs, updatedAtMs: createdAtMs };
}

/** The public register is the same for every company. */
export function seededSubject(index: number): Subject {
  const random = seededRandom(0, "subject", index);
  const freelancer = random.often(0.3);
  const home = slovakAddress(random);
  const name = freelancer ? personSk(random) : companySk(random);
  const subjectId = businessId(`5${String(index * 7 + 1).padStart(6, "0")}`);
  const taxId = random.often(0.9) ? slovakTaxId(random) : null;
  const vatId = taxId && random.often(0.7) ? `SK${taxId}` : null;
  return {
    id: Number(subjectId),
    legalForm: freelancer ? "freelancer" : "company",
    type: "company",
    name,
    subjectId,
    taxId,
    vatId,
    isVatPayer: vatId !== null,
    email: null,
    ...home,
  };
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
  return company(random, companySk(random), { subjectId, taxId, vatId }, home);
}

function czechParty(random: SeededRandom, type: Party["type"]): Party {
  const [city = "", zip = ""] = random.pick(words.citiesCz).split(":");
  const home = { street: streetOf(random, words.streetsCz), city, zip, countryId: czechia };
  if (type === "person") return person(random, personCz(random), home);
  const subjectId = businessId(String(random.int(2_500_000, 2_999_999)));
  const taxId = `CZ${subjectId}`;
  const name = `${random.pick(words.tradesCz)} ${random.pick(words.ownNamesCz)} ${random.pick(words.formsCz)}`;
  return company(random, name, { subjectId, taxId, vatId: random.often(0.8) ? taxId : null }, home);
}

function foreignParty(random: SeededRandom, index: number): Party {
  const [countryId, city, zip, street, name] = random.pick(words.abroad);
  const vatId = countryId === 840 ? null : `${vatPrefix[countryId] ?? ""}${random.digits(9)}`;
  const ids = { subjectId: random.digits(9), taxId: null, vatId };
  return company(random, index % 2 === 0 ? name : `${name} ${index}`, ids, { street, city, zip, countryId });
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
  const email = random.often(0.7)
    ? `${name.split(" ").map(plainWord).join(".")}${random.int(1, 99)}@example.com`
    : null;
  return {
    type: "person",
    name,
    subjectId: null,
    taxId: null,
    vatId: null,
    isVatPayer: false,
    email,
    ...home,
  };
}

function company(random: SeededRandom, name: string, ids: Ids, home: Home): Party {
  const email = random.often(0.85) ? `fakturacie@${domainOf(name)}.example` : null;
  return { type: "company", name, ...ids, isVatPayer: ids.vatId !== null, email, ...home };
}

/** Words repeat by the thousand; each is stripped of its accents once. */
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
  return random.often(0.5)
    ? `${random.pick(words.menSk)} ${surname}`
    : `${random.pick(words.womenSk)} ${feminine(surname)}`;
}

function personCz(random: SeededRandom): string {
  const surname = random.pick(words.surnamesCz);
  return random.often(0.5)
    ? `${random.pick(words.menCz)} ${surname}`
    : `${random.pick(words.womenCz)} ${feminine(surname)}`;
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
  if (!random.often(0.15)) {
    return {
      hasDeliveryAddress: false,
      deliveryStreet: null,
      deliveryCity: null,
      deliveryZip: null,
      deliveryCountryId: null,
    };
  }
  const home = slovakAddress(random);
  return {
    hasDeliveryAddress: true,
    deliveryStreet: home.street,
    deliveryCity: home.city,
    deliveryZip: home.zip,
    deliveryCountryId: party.countryId,
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
