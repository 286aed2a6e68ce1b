import { businessId } from "../base/identifiers.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { latin } from "../base/values.ts";
import { czechCrown, czechia, slovakia } from "../lookups/lookup-lists.ts";
import { abroad, czechWords, oddNames, oddNotes, slovakWords, type Words } from "./sample-words.ts";

/** A country that most contacts are from. */
interface Region {
  readonly countryId: number;
  readonly words: Words;
  readonly idsOf: (random: SeededRandom) => { subjectId: string; taxId: string; vatId: string | null };
}

const slovak: Region = {
  countryId: slovakia,
  words: slovakWords,
  idsOf: (random) => {
    // A tax id (DIČ) has ten digits and is divisible by eleven.
    const base = 2_020_000_000 + random.int(0, 99_999_999);
    const taxId = String(base - (base % 11));
    const vatId = random.often(0.75) ? `SK${taxId}` : null;
    return { subjectId: businessId(String(random.int(3_100_000, 5_600_000))), taxId, vatId };
  },
};

const czech: Region = {
  countryId: czechia,
  words: czechWords,
  idsOf: (random) => {
    const subjectId = businessId(String(random.int(2_500_000, 2_999_999)));
    const taxId = `CZ${subjectId}`;
    return { subjectId, taxId, vatId: random.often(0.8) ? taxId : null };
  },
};

/**
 * What is sent to create a supplier: mostly Slovak, some Czech, a few from elsewhere, and every ninth `turn`
 * with a name that careless code breaks on.
 */
export function partyInput(random: SeededRandom, turn: number, personShare: number) {
  const where = random.next();
  const isOdd = turn % 9 === 4;
  if (where < 0.05 && !isOdd) return foreignParty(random, turn);
  const party = regionalParty(
    random,
    where < 0.2 && !isOdd ? czech : slovak,
    random.often(personShare) && !isOdd,
  );
  const odd = Math.floor(turn / 9);
  const name = oddNames[odd % oddNames.length] ?? "";
  return isOdd ? { ...party, name: odd < oddNames.length ? name : `${name} (${odd})` } : party;
}

function regionalParty(random: SeededRandom, region: Region, isPerson: boolean) {
  const name = isPerson ? personName(random, region.words) : companyName(random, region.words);
  const [city = "", zip = ""] = random.pick(region.words.cities).split(":");
  const street = `${random.pick(region.words.streets)} ${random.int(1, 120)}${random.often(0.2) ? "/A" : ""}`;
  const ids = isPerson ? { subjectId: null, taxId: null, vatId: null } : region.idsOf(random);
  const type = isPerson ? "person" : "company";
  return { type, name, ...ids, email: emailOf(random, name), street, city, zip, countryId: region.countryId };
}

function foreignParty(random: SeededRandom, turn: number) {
  const [countryId, city, zip, street, plainName, , , vatPrefix] = random.pick(abroad);
  const name = turn % 2 === 0 ? plainName : `${plainName} ${turn}`;
  const vatId = vatPrefix === null ? null : vatPrefix + random.digits(9);
  const ids = { subjectId: random.digits(9), taxId: null, vatId };
  return { type: "company", name, ...ids, email: emailOf(random, name), street, city, zip, countryId };
}

/** Most have an address, at a domain that no name server knows. */
function emailOf(random: SeededRandom, name: string): string | null {
  const domain = name.split(" ").map(plainWord).filter(Boolean).join("-").slice(0, 40).replace(/-+$/, "");
  return random.often(0.8) ? `fakturacie@${domain || "firma"}.example` : null;
}

/** The same words come thousands of times: their accents are removed once. */
const plainWords = new Map<string, string>();

function plainWord(word: string): string {
  const known = plainWords.get(word);
  if (known !== undefined) return known;
  const plain = latin(word).replace(/[^a-z0-9]+/g, "");
  plainWords.set(word, plain);
  return plain;
}

function personName(random: SeededRandom, { men, women, surnames }: Words): string {
  const surname = random.pick(surnames);
  if (random.often(0.5)) return `${random.pick(men)} ${surname}`;
  const stem = surname.replace(/[ao]$|(?<=[^aeiou])e(?=[ck]$)/, "");
  return `${random.pick(women)} ${surname.endsWith("ý") ? `${surname.slice(0, -1)}á` : `${stem}ová`}`;
}

function companyName(random: SeededRandom, { trades, ownNames, forms }: Words): string {
  return `${random.pick(trades)} ${random.pick(ownNames)} ${random.int(1, 999)}, ${random.pick(forms)}`;
}

/** The language and the currency of a country's clients. */
const usual = new Map<number, readonly [languageId: number, currencyId: number]>([
  [czechia, [8, czechCrown]],
  ...abroad.map(([country, , , , , language, currency]) => [country, [language, currency]] as const),
]);

/** What is sent to create a client: a party with an address for deliveries and preferences, or without. */
export function clientInput(random: SeededRandom, turn: number) {
  const party = partyInput(random, turn, 0.25);
  const [languageId = null, currencyId = null] = usual.get(party.countryId) ?? [];
  const has = random.often(0.3);
  const {
    street: deliveryStreet,
    city: deliveryCity,
    zip: deliveryZip,
  } = regionalParty(random, slovak, true);
  const deliveryCountryId = party.countryId;
  return {
    ...party,
    ...(random.often(0.15) && { deliveryStreet, deliveryCity, deliveryZip, deliveryCountryId }),
    ...(has && {
      preferredDeliveryMethodId: random.int(1, 6),
      preferredPaymentMethodId: random.int(1, 6),
      preferredDueDays: random.pick([7, 14, 21, 30, 60]),
      preferredConstantSymbol: random.pick([8, 308, 558]),
    }),
    preferredCurrencyId: currencyId,
    preferredLanguageId: languageId,
    preferredNote: random.often(0.1) ? random.pick(oddNotes) : null,
    preferredVariableSymbol: random.often(0.05) ? random.int(1, 9_999_999_999) : null,
    preferredSpecificSymbol: random.often(0.1) ? random.int(1, 9_999_999) : null,
    preferredTextAboveItems: random.often(0.1) ? "Fakturujeme Vám:" : null,
  };
}

/** The public register of companies; the same for everybody. */
export const subjects = Array.from({ length: 400 }, (_, index) => {
  const random = randomFor(0, "subject", index);
  const isFreelancer = random.often(0.3);
  const party = regionalParty(random, slovak, false);
  const subjectId = businessId(`5${String(index * 7 + 1).padStart(6, "0")}`);
  return {
    ...party,
    id: Number(subjectId),
    subjectId,
    name: isFreelancer ? personName(random, slovakWords) : party.name,
    legalForm: isFreelancer ? "freelancer" : "company",
  };
});
