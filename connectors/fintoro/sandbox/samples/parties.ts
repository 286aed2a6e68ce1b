import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { latin, pick } from "../base/values.ts";
import { czechCrown, czechia, slovakia } from "../lookups/lookup-lists.ts";
import words from "./words.json" with { type: "json" };

/** Countries with people and companies: which share of contacts is from there or a country before. */
const regions = [
  { ...words.slovak, share: 0.8, countryId: slovakia, prefix: "SK" },
  { ...words.czech, share: 0.95, countryId: czechia, prefix: "CZ" },
] as const;
type Region = (typeof regions)[number];

/** Check digits are left out: nobody can be meant. */
function idsOf(random: SeededRandom, { prefix }: Region) {
  const subjectId = `${random.int(2_500_000, 5_600_000)}0`;
  const slovak = String(2_020_000_000 + random.int(0, 99_999_999));
  const vatId = random.often(0.77) ? `${prefix}${prefix === "SK" ? slovak : subjectId}` : null;
  return { subjectId, taxId: prefix === "SK" ? slovak : `CZ${subjectId}`, vatId };
}

/**
 * What is sent to create a supplier: mostly Slovak, some Czech, a few from elsewhere, and every ninth `turn`
 * with a name that careless code breaks on.
 */
export function partyInput(random: SeededRandom, turn: number, personShare: number) {
  const where = random.next();
  const isOdd = turn % 9 === 4;
  const region = isOdd ? regions[0] : regions.find(({ share }) => where < share);
  if (!region) {
    const { countryId, city, zip, street, company, vatPrefix } = random.pick(words.abroad);
    const name = turn % 2 === 0 ? company : `${company} ${turn}`;
    const vatId = vatPrefix === null ? null : vatPrefix + random.digits(9);
    const ids = { subjectId: random.digits(9), taxId: null, vatId };
    return { type: "company", name, ...ids, email: emailOf(random, name), street, city, zip, countryId };
  }
  const party = regionalParty(random, region, random.often(personShare) && !isOdd);
  const round = Math.floor(turn / 9);
  const name = words.oddNames[round % words.oddNames.length] ?? "";
  return isOdd ? { ...party, name: round < words.oddNames.length ? name : `${name} (${round})` } : party;
}

function regionalParty(random: SeededRandom, region: Region, isPerson: boolean) {
  const { trades, ownNames, forms, cities, streets, countryId } = region;
  const name = isPerson
    ? personName(random, region)
    : `${random.pick(trades)} ${random.pick(ownNames)} ${random.int(1, 999)}, ${random.pick(forms)}`;
  const place = random.pick(cities);
  const street = `${random.pick(streets)} ${random.int(1, 120)}${random.often(0.2) ? "/A" : ""}`;
  const ids = isPerson ? { subjectId: null, taxId: null, vatId: null } : idsOf(random, region);
  const type = isPerson ? "person" : "company";
  return { type, name, ...ids, email: emailOf(random, name), street, ...place, countryId };
}

/** Most have an address, at a domain that no name server knows. */
function emailOf(random: SeededRandom, name: string): string | null {
  const domain = latin(name)
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return random.often(0.8) ? `fakturacie@${domain || "firma"}.example` : null;
}

function personName(random: SeededRandom, { men, women, surnames }: Region): string {
  const surname = random.pick(surnames);
  if (random.often(0.5)) return `${random.pick(men)} ${surname}`;
  const stem = surname.replace(/[ao]$|(?<=[^aeiou])e(?=[ck]$)/, "");
  return `${random.pick(women)} ${surname.endsWith("ý") ? `${surname.slice(0, -1)}á` : `${stem}ová`}`;
}

/** What is sent to create a client: a party with an address for deliveries and preferences, or without. */
export function clientInput(random: SeededRandom, turn: number) {
  const party = partyInput(random, turn, 0.25);
  const czech = { countryId: czechia, languageId: 8, currencyId: czechCrown };
  const usual = [czech, ...words.abroad].find(({ countryId }) => countryId === party.countryId);
  const has = random.often(0.3);
  const other = regionalParty(random, regions[0], true);
  return {
    ...party,
    ...(random.often(0.15) && {
      deliveryStreet: other.street,
      deliveryCity: other.city,
      deliveryZip: other.zip,
      deliveryCountryId: party.countryId,
    }),
    ...(has && {
      preferredDeliveryMethodId: random.int(1, 6),
      preferredPaymentMethodId: random.int(1, 6),
      preferredDueDays: random.pick([7, 14, 21, 30, 60]),
      preferredConstantSymbol: random.pick([8, 308, 558]),
    }),
    preferredCurrencyId: usual?.currencyId ?? null,
    preferredLanguageId: usual?.languageId ?? null,
    preferredNote: random.often(0.1) ? random.pick(words.oddNotes) : null,
    preferredVariableSymbol: random.often(0.05) ? random.int(1, 9_999_999_999) : null,
    preferredSpecificSymbol: random.often(0.1) ? random.int(1, 9_999_999) : null,
    preferredTextAboveItems: random.often(0.1) ? "Fakturujeme Vám:" : null,
  };
}

/** The public register of companies; the same for everybody. */
export const subjects = Array.from({ length: 400 }, (_, index) => {
  const random = randomFor(0, "subject", index);
  const isFreelancer = random.often(0.3);
  return {
    ...pick(regionalParty(random, regions[0], isFreelancer), ["name", "city", "street", "zip"]),
    ...pick(idsOf(random, regions[0]), ["taxId", "vatId"]),
    id: 50_000_000 + index * 7,
    legalForm: isFreelancer ? "freelancer" : "company",
  };
});
