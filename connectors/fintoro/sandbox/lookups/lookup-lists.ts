import { countries } from "./countries.ts";
import { currencies } from "./currencies.ts";
import { labelsOf } from "./labels.ts";
import { english, languages, type Language } from "./languages.ts";

/** A lookup record as an answer shows it. */
export type LookupRecord = Readonly<Record<string, string | number | boolean>>;

type ById = ReadonlyMap<number, LookupRecord>;

/** Records by lookup and language, made when first needed. */
const made = new Map<string, ById>();

function recordsOf(name: LookupName, language: Language): ById {
  const key = `${name}/${language.code}`;
  const known = made.get(key);
  if (known) return known;
  const records = new Map(lists[name](language).map((record) => [record["id"] as number, record]));
  made.set(key, records);
  return records;
}

/** All records of a lookup with their names in the language. */
export function lookupList(name: LookupName, language: Language): readonly LookupRecord[] {
  return [...recordsOf(name, language).values()];
}

/** One record of a lookup, or null. */
export function lookup(name: LookupName, id: number, language: Language): LookupRecord | null {
  return recordsOf(name, language).get(id) ?? null;
}

/** True if the lookup has this id. */
export function lookupHas(name: LookupName, id: number): boolean {
  return lookup(name, id, english) !== null;
}

/** How the records of each lookup are made for a language. */
const lists = {
  banks: () => banks,
  countries: ({ tag }: Language) => {
    const names = new Intl.DisplayNames([tag], { type: "region" });
    return countries.map(({ id, code, eu }) => ({ id, name: names.of(code) ?? code, code, eu }));
  },
  languages: ({ tag }: Language) => {
    const names = new Intl.DisplayNames([tag], { type: "language" });
    return languages.map((item) => ({ id: item.id, name: names.of(item.tag) ?? item.tag, code: item.code }));
  },
  currencies: ({ tag }: Language) => {
    const names = new Intl.DisplayNames([tag], { type: "currency" });
    return currencies.map(({ id, symbol, mark }) => ({ id, symbol, name: names.of(symbol) ?? symbol, mark }));
  },
  "delivery-methods": ({ code }: Language) => numbered(labelsOf("delivery", code)),
  "payment-methods": ({ code }: Language) => numbered(labelsOf("payment", code)),
  "qr-types": ({ code }: Language) => numbered(labelsOf("qr", code)),
  units: ({ code }: Language) => numbered(labelsOf("unit", code)),
} satisfies Readonly<Record<string, (language: Language) => readonly LookupRecord[]>>;

/** The name of a lookup, which is its path. */
export type LookupName = keyof typeof lists;
export const lookupNames = Object.keys(lists) as readonly LookupName[];

function numbered(names: readonly string[]): readonly LookupRecord[] {
  return names.map((name, index) => ({ id: index + 1, name }));
}

/** Id, name and SWIFT code; no language changes them. */
const bankRows =
  "1:365 Bank:POBNSKBA;4:Fio banka:FIOZSKBA;6:ING Wholesale Banking:INGBSKBX;8:mBank:BREXSKBX;12:Oberbank:OBKLSKBA;13:PayPal:PPLXLULLXXX;15:Poštová banka:POBNSKBA;16:Prima Banka:KOMASK2X;17:Raiffeisen Banka:TATRSKBX;18:Revolut:REVOLT21XXX;19:Skrill:SKRLGB2L;20:Slovenská sporiteľňa:GIBASKBX;23:Tatra Banka:TATRSKBX;24:Unicredit:UNCRSKBX;25:VUB Banka:SUBASKBX;26:Wise:TRWIGB22XXX;27:Československá obchodná banka:CEKOSKBX;33:Národná banka Slovenska:NBSBSKBX;34:Slovenská záručná a rozvojová banka:SLZBSKBA;35:Prvá stavebná sporiteľňa:PRVASKBA;37:Wustenrot stavebná sporiteľňa:WUSTSKBA;38:Komerční banka:KOMBSKBA;39:Privatbanka:BSLOSK22;40:Citibank Europe:CITISKBA;41:EXIMBANKA:EXSKSKBX;42:Štátna pokladnica:SPSRSKBA;43:J&T BANKA:JTBPSKBA;44:BKS Bank:BFKKSKBB;45:Trust Pay:TPAYSKBX";

const banks: readonly LookupRecord[] = bankRows.split(";").map((row) => {
  const [id, name = "", swift = ""] = row.split(":");
  return { id: Number(id), name, swift };
});
