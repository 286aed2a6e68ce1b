import { momentOf } from "../base/calendar.ts";
import { businessId } from "../base/identifiers.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { latin } from "../base/values.ts";
import { czechia, slovakia } from "../lookups/lookup-lists.ts";
import { czechCrown } from "../lookups/currencies.ts";
import type { DeliveryAddress, Party, Preferences, Subject } from "../model/contact-records.ts";
import { abroad, czechWords, oddNames, oddNotes, slovakWords, type Words } from "./sample-words.ts";
import { fill, type Seeding } from "./seed-plan.ts";

type Home = Pick<Party, "street" | "city" | "zip" | "countryId">;
type Ids = Pick<Party, "subjectId" | "taxId" | "vatId">;

/** A country that most contacts are from. */
interface Region {
  readonly countryId: number;
  readonly words: Words;
  readonly ids: (random: SeededRandom) => Ids;
}

const slovak: Region = {
  countryId: slovakia,
  words: slovakWords,
  ids: (random) => {
    const taxId = slovakTaxId(random);
    const vatId = random.often(0.75) ? `SK${taxId}` : null;
    return { subjectId: businessId(String(random.int(3_100_000, 5_600_000))), taxId, vatId };
  },
};

const czech: Region = {
  countryId: czechia,
  words: czechWords,
  ids: (random) => {
    const subjectId = businessId(String(random.int(2_500_000, 2_999_999)));
    return { subjectId, taxId: `CZ${subjectId}`, vatId: random.often(0.8) ? `CZ${subjectId}` : null };
  },
};

/** A Slovak tax id (DIČ): ten digits, divisible by eleven. */
function slovakTaxId(random: SeededRandom): string {
  const base = 2_020_000_000 + random.int(0, 99_999_999);
  return String(base - (base % 11));
}

/** Fills in clients, three of four of them companies. */
export function seedClients({ plan, company: { tables } }: Seeding): void {
  fill(tables.clients, plan.volumes.clients, (id, index) => {
    const random = randomFor(plan.seed, "client", index);
    const party = partyOf(random, index, random.often(0.25));
    const createdAtMs = momentOf(plan.firstDay + random.int(0, 200), random.int(480, 1000));
    const updatedAtMs = createdAtMs + (random.often(0.4) ? random.int(1, 500) * 86_400_000 : 0);
    const more = { ...deliveryOf(random, party), ...preferencesOf(random, party) };
    return { id, ...party, ...more, createdAtMs, updatedAtMs };
  });
}

/** Fills in suppliers, nine of ten of them companies. */
export function seedSuppliers({ plan, company: { tables } }: Seeding): void {
  fill(tables.suppliers, plan.volumes.suppliers, (id, index) => {
    const random = randomFor(plan.seed, "supplier", index);
    const createdAtMs = momentOf(plan.firstDay + random.int(0, 200), random.int(480, 1000));
    return { id, ...partyOf(random, index + 3, random.often(0.1)), createdAtMs, updatedAtMs: createdAtMs };
  });
}

/** A company of the public register, which is the same for every company of the sandbox. */
export function seededSubject(index: number): Subject {
  const random = randomFor(0, "subject", index);
  const isFreelancer = random.often(0.3);
  const name = isFreelancer ? personName(random, slovakWords) : companyName(random, slovakWords);
  const subjectId = businessId(`5${String(index * 7 + 1).padStart(6, "0")}`);
  const taxId = random.often(0.9) ? slovakTaxId(random) : null;
  const vatId = taxId && random.often(0.7) ? `SK${taxId}` : null;
  const party = companyOf(name, { subjectId, taxId, vatId }, homeOf(random, slovak), null);
  return { ...party, id: Number(subjectId), legalForm: isFreelancer ? "freelancer" : "company" };
}

/** Mostly Slovak, some Czech, a few from elsewhere, and every ninth with a name that careless code breaks on. */
function partyOf(random: SeededRandom, index: number, isPerson: boolean): Party {
  const where = random.next();
  if (index % 9 === 4) return oddParty(random, Math.floor(index / 9));
  if (where < 0.05) return foreignParty(random, index);
  return regionalParty(random, where < 0.2 ? czech : slovak, isPerson);
}

function regionalParty(random: SeededRandom, region: Region, isPerson: boolean): Party {
  const home = homeOf(random, region);
  if (isPerson) return personOf(random, personName(random, region.words), home);
  const name = companyName(random, region.words);
  return companyOf(name, region.ids(random), home, emailOf(random, name));
}

function foreignParty(random: SeededRandom, index: number): Party {
  const [countryId, city, zip, street, plainName, , , vatPrefix] = random.pick(abroad);
  const name = index % 2 === 0 ? plainName : `${plainName} ${index}`;
  const vatId = vatPrefix === null ? null : vatPrefix + random.digits(9);
  const ids = { subjectId: random.digits(9), taxId: null, vatId };
  return companyOf(name, ids, { street, city, zip, countryId }, emailOf(random, name));
}

function oddParty(random: SeededRandom, turn: number): Party {
  const plain = regionalParty(random, slovak, false);
  const name = oddNames[turn % oddNames.length] ?? "";
  const isFirst = turn < oddNames.length;
  return { ...plain, name: isFirst ? name : `${name} (${turn})`, email: turn % 2 ? null : plain.email };
}

function personOf(random: SeededRandom, name: string, home: Home): Party {
  const address = `${name.split(" ").map(plainWord).join(".")}${random.int(1, 99)}@example.com`;
  const ids = { subjectId: null, taxId: null, vatId: null };
  const email = random.often(0.7) ? address : null;
  return { type: "person", name, ...ids, isVatPayer: false, email, ...home };
}

function companyOf(name: string, ids: Ids, home: Home, email: string | null): Party {
  return { type: "company", name, ...ids, isVatPayer: ids.vatId !== null, email, ...home };
}

/** Most companies have an address, at a domain that no name server knows. */
function emailOf(random: SeededRandom, name: string): string | null {
  const words = name.split(" ").map(plainWord).filter(Boolean);
  const domain = words.join("-").slice(0, 40).replace(/-+$/, "") || "firma";
  return random.often(0.85) ? `fakturacie@${domain}.example` : null;
}

/** The same words come thousands of times: their accents are removed once. */
const plainWords = new Map<string, string>();

function plainWord(word: string): string {
  const known = plainWords.get(word);
  if (known !== undefined) return known;
  const plain = latin(word)
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  plainWords.set(word, plain);
  return plain;
}

function personName(random: SeededRandom, { men, women, surnames }: Words): string {
  const surname = random.pick(surnames);
  return random.often(0.5) ? `${random.pick(men)} ${surname}` : `${random.pick(women)} ${feminine(surname)}`;
}

function feminine(surname: string): string {
  if (surname.endsWith("ý")) return `${surname.slice(0, -1)}á`;
  return `${surname.replace(/[ao]$|(?<=[^aeiou])e(?=[ck]$)/, "")}ová`;
}

function companyName(random: SeededRandom, { trades, ownNames, forms }: Words): string {
  return `${random.pick(trades)} ${random.pick(ownNames)} ${random.int(1, 999)}, ${random.pick(forms)}`;
}

function homeOf(random: SeededRandom, { words, countryId }: Region): Home {
  const [city = "", zip = ""] = random.pick(words.cities).split(":");
  const street = `${random.pick(words.streets)} ${random.int(1, 120)}${random.often(0.2) ? "/A" : ""}`;
  return { street, city, zip, countryId };
}

function deliveryOf(random: SeededRandom, { countryId }: Party): DeliveryAddress {
  const home = random.often(0.15) ? homeOf(random, slovak) : null;
  return {
    hasDeliveryAddress: home !== null,
    deliveryStreet: home?.street ?? null,
    deliveryCity: home?.city ?? null,
    deliveryZip: home?.zip ?? null,
    deliveryCountryId: home && countryId,
  };
}

/** The language and the currency of a country's clients. */
const usual = new Map<number | null, readonly [languageId: number, currencyId: number]>([
  [czechia, [8, czechCrown]],
  ...abroad.map(([country, , , , , language, currency]) => [country, [language, currency]] as const),
]);

function preferencesOf(random: SeededRandom, { countryId }: Party): Preferences {
  const has = random.often(0.3);
  const [languageId = null, currencyId = null] = usual.get(countryId) ?? [];
  return {
    preferredDeliveryMethodId: has ? random.int(1, 6) : null,
    preferredPaymentMethodId: has ? random.int(1, 6) : null,
    preferredCurrencyId: currencyId,
    preferredLanguageId: languageId,
    preferredDueDays: has ? random.pick([7, 14, 21, 30, 60]) : null,
    preferredNote: random.often(0.1) ? random.pick(oddNotes) : null,
    preferredVariableSymbol: random.often(0.05) ? random.int(1, 9_999_999_999) : null,
    preferredConstantSymbol: has ? random.pick([8, 308, 558]) : null,
    preferredSpecificSymbol: random.often(0.1) ? random.int(1, 9_999_999) : null,
    preferredTextAboveItems: random.often(0.1) ? "Fakturujeme Vám:" : null,
  };
}
