import type { SeededRandom } from "../base/seeded-random.ts";
import { latin, pick } from "../base/values.ts";
import { slovakia } from "../lookups/lookup-lists.ts";
import words from "./words.json" with { type: "json" };

const { parties, habits, preferences } = words;

/** What is sent to create a supplier: from its second turn on a sample has a number. Ids are of nobody. */
export function partyInput(random: SeededRandom, turn: number) {
  const { isPerson = false, vat, ...party } = parties[turn % parties.length]!;
  const sample = { ...party, street: `${party.street} ${random.int(1, 999)}` };
  const round = Math.floor(turn / parties.length);
  const name = round === 0 ? sample.name : `${sample.name} ${round + 1}`;
  const domain = latin(sample.name).replace(/[^a-z0-9]+/g, "");
  const email = random.often(0.8) ? `fakturacie${random.int(1, 9_999)}@${domain || "firma"}.example` : null;
  if (isPerson) return { ...sample, type: "person", name, email };
  const [subjectId, taxId] = [random.digits(8), `20${random.digits(8)}`];
  return { ...sample, type: "company", name, email, subjectId, taxId, vatId: vat ? vat + taxId : null };
}

/** What is sent to create a client: a party with preferences and an address for deliveries, or without. */
export function clientInput(random: SeededRandom, turn: number) {
  const party = partyInput(random, turn);
  const { street, city: deliveryCity, zip: deliveryZip } = random.pick(parties);
  const deliveryStreet = `${street} ${random.int(1, 999)}`;
  const delivery = { deliveryStreet, deliveryCity, deliveryZip, deliveryCountryId: party.countryId };
  return {
    ...party,
    ...(random.often(0.15) && delivery),
    ...habits[String(party.countryId) as keyof typeof habits],
    ...random.pick(preferences),
  };
}

/** The public register of companies; the same for everybody. */
export const subjects = parties
  .filter(({ countryId }) => countryId === slovakia)
  .map((party, index) => ({
    ...pick(party, ["name", "city", "street", "zip"]),
    id: 50_000_000 + index * 7,
    taxId: String(2_020_000_000 + index),
    vatId: party.vat ? `SK${2_020_000_000 + index}` : null,
    legalForm: party.isPerson ? "freelancer" : "company",
  }));
