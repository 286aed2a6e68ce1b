import { randomFor } from "../base/seeded-random.ts";
import labels from "./labels.json" with { type: "json" };
import { english, languages, type Language } from "./languages.ts";

/** A lookup record as an answer shows it. */
export type LookupRecord = Readonly<Record<string, string | number | boolean>>;

/** Records by lookup and language, made when first needed. */
const made = new Map<string, ReadonlyMap<number, LookupRecord>>();

function recordsOf(name: LookupName, language: Language): ReadonlyMap<number, LookupRecord> {
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
export function lookup(name: LookupName, id: number | null, language: Language): LookupRecord | null {
  return id === null ? null : (recordsOf(name, language).get(id) ?? null);
}

/** True if the lookup has this id. */
export function lookupHas(name: LookupName, id: number): boolean {
  return lookup(name, id, english) !== null;
}

const namesIn = (type: "region" | "language" | "currency", { tag }: Language) => {
  const names = new Intl.DisplayNames([tag], { type });
  return (code: string) => names.of(code) ?? code;
};

/** How the records of each lookup are made for a language. */
const lists = {
  banks: () => banks,
  countries: (language: Language) => {
    const nameOf = namesIn("region", language);
    return countries.map(({ id, code }) => ({ id, name: nameOf(code), code, eu: unionMembers.has(code) }));
  },
  languages: (language: Language) => {
    const nameOf = namesIn("language", language);
    return languages.map(({ id, tag, code }) => ({ id, name: nameOf(tag), code }));
  },
  currencies: (language: Language) => {
    const nameOf = namesIn("currency", language);
    return currencies.map(({ id, symbol, mark }) => ({ id, symbol, name: nameOf(symbol), mark }));
  },
  "delivery-methods": (language: Language) => numbered(labelsOf("delivery", language)),
  "payment-methods": (language: Language) => numbered(labelsOf("payment", language)),
  "qr-types": (language: Language) => numbered(labelsOf("qr", language)),
  units: (language: Language) => numbered(labelsOf("unit", language)),
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

/** ISO 3166-1 numbers and letters. */
const countryRows =
  "4AF 8AL 10AQ 12DZ 16AS 20AD 24AO 28AG 31AZ 32AR 36AU 40AT 44BS 48BH 50BD 51AM 52BB 56BE 60BM 64BT 68BO 70BA 72BW 74BV 76BR 84BZ 86IO 90SB 92VG 96BN 100BG 104MM 108BI 112BY 116KH 120CM 124CA 132CV 136KY 140CF 144LK 148TD 152CL 156CN 158TW 162CX 166CC 170CO 174KM 175YT 178CG 180CD 184CK 188CR 191HR 192CU 196CY 203CZ 204BJ 208DK 212DM 214DO 218EC 222SV 226GQ 231ET 232ER 233EE 234FO 238FK 239GS 242FJ 246FI 248AX 250FR 254GF 258PF 260TF 262DJ 266GA 268GE 270GM 275PS 276DE 288GH 292GI 296KI 300GR 304GL 308GD 312GP 316GU 320GT 324GN 328GY 332HT 334HM 336VA 340HN 344HK 348HU 352IS 356IN 360ID 364IR 368IQ 372IE 376IL 380IT 384CI 388JM 392JP 398KZ 400JO 404KE 408KP 410KR 414KW 417KG 418LA 422LB 426LS 428LV 430LR 434LY 438LI 440LT 442LU 446MO 450MG 454MW 458MY 462MV 466ML 470MT 474MQ 478MR 480MU 484MX 492MC 496MN 498MD 499ME 500MS 504MA 508MZ 512OM 516NA 520NR 524NP 528NL 531CW 533AW 534SX 535BQ 540NC 548VU 554NZ 558NI 562NE 566NG 570NU 574NF 578NO 580MP 581UM 583FM 584MH 585PW 586PK 590PA 598PG 600PY 604PE 608PH 612PN 616PL 620PT 624GW 626TL 630PR 634QA 638RE 642RO 643RU 646RW 652BL 654SH 659KN 660AI 662LC 663MF 666PM 670VC 674SM 678ST 682SA 686SN 688RS 690SC 694SL 702SG 703SK 704VN 705SI 706SO 710ZA 716ZW 724ES 728SS 729SD 732EH 740SR 744SJ 748SZ 752SE 756CH 760SY 762TJ 764TH 768TG 772TK 776TO 780TT 784AE 788TN 792TR 795TM 796TC 798TV 800UG 804UA 807MK 818EG 826GB 831GG 832JE 833IM 834TZ 840US 850VI 854BF 858UY 860UZ 862VE 876WF 882WS 887YE 894ZM";

/** Members of the European Union. */
const unionMembers = new Set(
  "AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE".split(" "),
);

const countries = countryRows
  .split(" ")
  .map((row) => ({ id: Number(row.slice(0, -2)), code: row.slice(-2) }));

export const slovakia = 703;
export const czechia = 203;

const currencyRows =
  "EUR:€:1 USD:$:1.15 JPY:¥:176 BGN:лв:1.95583 CZK:Kč:24.3 DKK:kr:7.46 GBP:£:0.87 HUF:Ft:388 PLN:zł:4.25 RON:lei:5.08 SEK:kr:10.95 CHF:CHF:0.93 ISK:kr:143 NOK:kr:11.7 HRK:kn:7.5345 RUB:₽:93 TRY:₺:48 AUD:$:1.77 BRL:R$:6.2 CAD:$:1.61 CNY:¥:8.2 HKD:$:9 IDR:Rp:19200 ILS:₪:3.8 INR:₹:102 KRW:₩:1680 MXN:$:21.4 MYR:RM:4.87 NZD:$:2.02 PHP:₱:67 SGD:$:1.5 THB:฿:37.7 ZAR:R:20";

/** All currencies in the order of their ids; `perEuro` is the usual rate in units for one euro. */
const currencies = currencyRows.split(" ").map((entry, index) => {
  const [symbol = "", mark = "", perEuro = "1"] = entry.split(":");
  return { id: index + 1, symbol, mark, perEuro: Number(perEuro) };
});

export const euro = 1;
export const czechCrown = 5;

/** Units for one euro on a day: five decimals, within 3 % of the usual rate; 1 for the euro. */
export function rateOn(currencyId: number, day: number): number {
  const currency = currencies[currencyId - 1];
  if (!currency || currencyId === euro) return 1;
  const drift = (randomFor(currencyId, "rate", day).next() - 0.5) * 0.06;
  return Math.round(currency.perEuro * (1 + drift) * 100_000) / 100_000;
}

/** How `labels.json` orders the groups of a language; the order of the labels is the order of their ids. */
const labelGroups = ["delivery", "payment", "qr", "unit", "discount"] as const;

/** Units that every language shares; their ids follow those of the units with words. */
const unitSymbols = ["cm", "m", "m²", "m³", "km", "l", "g", "kg", "t"];

/** The labels of a group in the order of their ids; English where the language has none. */
function labelsOf(group: (typeof labelGroups)[number], { code }: Language): readonly string[] {
  const row = labels[code as keyof typeof labels] ?? labels.en;
  const words = (row.split(" / ")[labelGroups.indexOf(group)] ?? "").split("|");
  return group === "unit" ? [...words, ...unitSymbols] : words;
}

/** What a discount is called where a document line gives it no name. */
export function discountLabel(language: Language): string {
  return labelsOf("discount", language)[0] ?? "";
}
