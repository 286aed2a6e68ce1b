import { chanceOf, type Chance } from "../base/seeded-random.ts";
import { momentOf } from "../base/calendar.ts";
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
  const chance = chanceOf(plan.seed, "client", index);
  const party = partyOf(chance, index, chance.often(0.25) ? "person" : "company");
  const createdAtMs = momentOf(plan.firstDay + chance.int(0, 200), chance.int(480, 1000));
  return {
    id,
    ...party,
    ...deliveryOf(chance, party),
    ...preferencesOf(chance, party),
    createdAtMs,
    updatedAtMs: createdAtMs + (chance.often(0.4) ? chance.int(1, 500) * 86_400_000 : 0),
  };
}

export function seededSupplier(plan: Plan, id: number): Supplier {
  const index = id - plan.firstIds.suppliers;
  const chance = chanceOf(plan.seed, "supplier", index);
  const createdAtMs = momentOf(plan.firstDay + chance.int(0, 200), chance.int(480, 1000));
  const party = partyOf(chance, index + 3, chance.often(0.1) ? "person" : "company");
  return { id, ...party, createdAtMs, updatedAtMs: createdAtMs };
}

/** The public register is the same for every company. */
export function seededSubject(index: number): Subject {
  const chance = chanceOf(0, "subject", index);
  const freelancer = chance.often(0.3);
  const home = slovakAddress(chance);
  const name = freelancer ? personSk(chance) : companySk(chance);
  const subjectId = businessId(`5${String(index * 7 + 1).padStart(6, "0")}`);
  const taxId = chance.often(0.9) ? slovakTaxId(chance) : null;
  const vatId = taxId && chance.often(0.7) ? `SK${taxId}` : null;
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

function partyOf(chance: Chance, index: number, type: Party["type"]): Party {
  const where = chance.next();
  if (index % 9 === 4) return oddParty(chance, Math.floor(index / 9));
  if (where < 0.05) return foreignParty(chance, index);
  return where < 0.2 ? czechParty(chance, type) : slovakParty(chance, type);
}

function slovakParty(chance: Chance, type: Party["type"]): Party {
  const home = slovakAddress(chance);
  if (type === "person") return person(chance, personSk(chance), home);
  const taxId = slovakTaxId(chance);
  const vatId = chance.often(0.75) ? `SK${taxId}` : null;
  const subjectId = businessId(String(chance.int(3_100_000, 5_600_000)));
  return company(chance, companySk(chance), { subjectId, taxId, vatId }, home);
}

function czechParty(chance: Chance, type: Party["type"]): Party {
  const [city = "", zip = ""] = chance.pick(words.citiesCz).split(":");
  const home = { street: streetOf(chance, words.streetsCz), city, zip, countryId: czechia };
  if (type === "person") return person(chance, personCz(chance), home);
  const subjectId = businessId(String(chance.int(2_500_000, 2_999_999)));
  const taxId = `CZ${subjectId}`;
  const name = `${chance.pick(words.tradesCz)} ${chance.pick(words.ownNamesCz)} ${chance.pick(words.formsCz)}`;
  return company(chance, name, { subjectId, taxId, vatId: chance.often(0.8) ? taxId : null }, home);
}

function foreignParty(chance: Chance, index: number): Party {
  const [countryId, city, zip, street, name] = chance.pick(words.abroad);
  const vatId = countryId === 840 ? null : `${vatPrefix[countryId] ?? ""}${chance.digits(9)}`;
  const ids = { subjectId: chance.digits(9), taxId: null, vatId };
  return company(chance, index % 2 === 0 ? name : `${name} ${index}`, ids, { street, city, zip, countryId });
}

const vatPrefix: Readonly<Record<number, string>> = { 40: "ATU", 276: "DE", 348: "HU", 616: "PL" };

function oddParty(chance: Chance, turn: number): Party {
  const name = words.oddNames[turn % words.oddNames.length] ?? "";
  const plain = slovakParty(chance, "company");
  return {
    ...plain,
    name: turn < words.oddNames.length ? name : `${name} (${turn})`,
    email: turn % 2 ? null : plain.email,
  };
}

type Home = Pick<Party, "street" | "city" | "zip" | "countryId">;
type Ids = Pick<Party, "subjectId" | "taxId" | "vatId">;

function person(chance: Chance, name: string, home: Home): Party {
  const email = chance.often(0.7)
    ? `${name.split(" ").map(plainWord).join(".")}${chance.int(1, 99)}@example.com`
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

function company(chance: Chance, name: string, ids: Ids, home: Home): Party {
  const email = chance.often(0.85) ? `fakturacie@${domainOf(name)}.example` : null;
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

function personSk(chance: Chance): string {
  const surname = chance.pick(words.surnamesSk);
  return chance.often(0.5)
    ? `${chance.pick(words.menSk)} ${surname}`
    : `${chance.pick(words.womenSk)} ${feminine(surname)}`;
}

function personCz(chance: Chance): string {
  const surname = chance.pick(words.surnamesCz);
  return chance.often(0.5)
    ? `${chance.pick(words.menCz)} ${surname}`
    : `${chance.pick(words.womenCz)} ${feminine(surname)}`;
}

function feminine(surname: string): string {
  return surname.endsWith("ý")
    ? `${surname.slice(0, -1)}á`
    : `${surname.replace(/[ao]$|(?<=[^aeiou])e(?=[ck]$)/, "")}ová`;
}

function companySk(chance: Chance): string {
  return `${chance.pick(words.trades)} ${chance.pick(words.ownNames)} ${chance.int(1, 999)}, ${chance.pick(words.formsSk)}`;
}

function slovakAddress(chance: Chance): Home {
  const [city = "", zip = ""] = chance.pick(words.citiesSk).split(":");
  return { street: streetOf(chance, words.streetsSk), city, zip, countryId: slovakia };
}

function streetOf(chance: Chance, streets: readonly string[]): string {
  return `${chance.pick(streets)} ${chance.int(1, 120)}${chance.often(0.2) ? "/A" : ""}`;
}

function deliveryOf(chance: Chance, party: Party): DeliveryAddress {
  if (!chance.often(0.15)) {
    return {
      hasDeliveryAddress: false,
      deliveryStreet: null,
      deliveryCity: null,
      deliveryZip: null,
      deliveryCountryId: null,
    };
  }
  const home = slovakAddress(chance);
  return {
    hasDeliveryAddress: true,
    deliveryStreet: home.street,
    deliveryCity: home.city,
    deliveryZip: home.zip,
    deliveryCountryId: party.countryId,
  };
}

function preferencesOf(chance: Chance, party: Party): Preferences {
  const has = chance.often(0.3);
  const country = party.countryId ?? slovakia;
  return {
    preferredDeliveryMethodId: has ? chance.int(1, 6) : null,
    preferredPaymentMethodId: has ? chance.int(1, 6) : null,
    preferredCurrencyId: country === slovakia ? null : (currencyOfCountry[country] ?? euro),
    preferredLanguageId: country === slovakia ? null : (languageOfCountry[country] ?? 2),
    preferredDueDays: has ? chance.pick([7, 14, 21, 30, 60]) : null,
    preferredNote: chance.often(0.1) ? chance.pick(words.oddNotes) : null,
    preferredVariableSymbol: chance.often(0.05) ? chance.int(1, 9_999_999_999) : null,
    preferredConstantSymbol: has ? chance.pick([8, 308, 558]) : null,
    preferredSpecificSymbol: chance.often(0.1) ? chance.int(1, 9_999_999) : null,
    preferredTextAboveItems: chance.often(0.1) ? "Fakturujeme Vám:" : null,
  };
}

/** Lower case without accents, for addresses and for searching. */
export function latin(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}
