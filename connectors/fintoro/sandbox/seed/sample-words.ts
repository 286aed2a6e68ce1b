/** Sample texts for the records: Slovak and Czech names, goods and notes. */

type Kind = "men" | "women" | "surnames" | "trades" | "ownNames" | "forms" | "streets" | "cities";

/** The words of one country. A city has its ZIP after a colon. */
export type Words = Readonly<Record<Kind, readonly string[]>>;

/** Reads one line for each kind of word. */
function wordsFrom(lines: string): Words {
  const rows = lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(": ", 2));
  return Object.fromEntries(rows.map(([kind, words = ""]) => [kind, words.split("|")])) as Words;
}

export const slovakWords = wordsFrom(`
  men: Peter|Ján|Jozef|Martin|Miroslav|Štefan|Ľubomír|Tomáš|Marek|Ondrej|Vladimír|Ľuboš|Dušan|Matúš
  women: Mária|Anna|Zuzana|Katarína|Eva|Jana|Ľubica|Lucia|Božena|Viera|Žofia|Daniela|Michaela|Alžbeta
  surnames: Kováč|Horváth|Varga|Tóth|Baláž|Molnár|Szabó|Lukáč|Polák|Hudák|Oravec|Krajčír|Šimko|Ďurica|Žiška|Čierny|Ružička|Mikuš
  trades: Stavebniny|Pekáreň|Autoservis|Kníhkupectvo|Vinárstvo|Tlačiareň|Záhradníctvo|Účtovníctvo|Lekáreň|Grafické štúdio|Truhlárstvo|Reštaurácia|Softvérový dom|Kaviareň|Elektro|Potraviny|Zámočníctvo|Projekčná kancelária|Reality|Doprava
  ownNames: Tatran|Ďumbier|Kriváň|Devín|Zobor|Poľana|Sitno|Rozsutec|Chopok|Kežmarok|Orava|Liptov|Gemer|Spiš|Zemplín|Turiec|Javor|Lipa|Smrek|Borovica|Sokol|Rys|Medveď|Kamzík|Čučoriedka|Šípka
  forms: s. r. o.|s.r.o.|spol. s r. o.|a. s.|k. s.|j. s. a.
  streets: Hlavná|Štefánikova|Námestie SNP|Mlynské nivy|Košická|Ľudovíta Štúra|Hviezdoslavova|Záhradnícka|Železničná|Pod Brezinou|Na Vŕšku|Školská|Družstevná|Tomášikova
  cities: Bratislava:811 01|Bratislava:821 09|Košice:040 01|Prešov:080 01|Žilina:010 01|Banská Bystrica:974 01|Nitra:949 01|Trnava:917 01|Trenčín:911 01|Martin:036 01|Poprad:058 01|Michalovce:071 01|Liptovský Mikuláš:031 01|Dunajská Streda:929 01|Spišská Nová Ves:052 01|Čadca:022 01
`);

export const czechWords = wordsFrom(`
  men: Jiří|Jan|Petr|Josef|Pavel|Tomáš|Ondřej|Zdeněk|Luboš|Řehoř|Vojtěch|Matěj
  women: Jana|Marie|Eva|Hana|Věra|Lenka|Kateřina|Zdeňka|Tereza|Růžena|Ludmila|Šárka
  surnames: Novák|Svoboda|Dvořák|Černý|Procházka|Kučera|Veselý|Horák|Němec|Pospíšil|Křížek|Říha|Jelínek
  trades: Stavebniny|Pekařství|Autoservis|Knihkupectví|Vinařství|Tiskárna|Zahradnictví|Účetnictví|Lékárna|Grafické studio|Truhlářství|Restaurace|Softwarový dům|Kavárna|Elektro
  ownNames: Říp|Vltava|Morava|Blaník|Praděd|Lužnice|Sázava|Šumava|Beskyd|Pálava|Ořech|Jabloň|Čáp|Křemen
  forms: s.r.o.|a.s.|spol. s r.o.|v.o.s.
  streets: Vinohradská|Náměstí Míru|Křižíkova|Masarykova|Husova|Pražská|Nádražní|Lidická|Údolní|Žižkova
  cities: Praha:110 00|Brno:602 00|Ostrava:702 00|Plzeň:301 00|Olomouc:779 00|Hradec Králové:500 03|České Budějovice:370 01|Zlín:760 01|Uherské Hradiště:686 01
`);

/** Abroad: country id, city, ZIP, street, company, language id, currency id, start of its VAT ids. */
export const abroad = [
  [40, "Wien", "1010", "Kärntner Straße 12", "Donau Handels GmbH", 3, 1, "ATU"],
  [276, "München", "80331", "Sendlinger Straße 7", "Müller & Söhne GmbH", 3, 1, "DE"],
  [348, "Budapest", "1051", "Október 6. utca 19.", "Kovács és Társa Kft.", 5, 8, "HU"],
  [616, "Kraków", "31-042", "Grodzka 5", "Żuraw Łódzki sp. z o.o.", 13, 9, "PL"],
  [840, "Portland", "97205", "SW Salmon St 1120", "O'Brien Outdoor, Inc.", 2, 2, null],
] as const;

/** Names with quotes, formulas, new lines, emoji and other alphabets: careless code breaks on them. */
export const oddNames = [
  'Reštaurácia "U Zlatého kohúta", s. r. o.',
  "=SUM(A1:A9) Consulting s.r.o.",
  "+421 Servis s. r. o.",
  "Kvetinárstvo Ruža 🌹 & syn",
  "O’Hara; Káva, čaj | dobroty\tod 1999",
  "Двери и окна, ООО <b>Восток</b>",
  "-10 % Výpredaj, s.r.o.",
  "@Home štúdio \\ interiéry",
] as const;

/** Notes that careless code breaks on. */
export const oddNotes = [
  "Ďakujeme za objednávku!\nTešíme sa na ďalšiu spoluprácu. 🙂",
  'Dodať do "skladu č. 2";\r\nvolať vopred: +421 905 123 456',
  '=HYPERLINK("https://example.com";"klik")',
  "+5 % pri platbe po splatnosti",
  "Prenesenie daňovej povinnosti podľa § 69 ods. 12",
  "Príliš žluťoučký kůň úpěl ďábelské ódy – ľščťžýáíéúäôň",
] as const;

/** Name, unit id, price in cents, VAT class. */
export type VatClass = "standard" | "reduced" | "low" | "zero";
export const goods: readonly (readonly [string, number, number, VatClass])[] = [
  ["Vŕtačka príklepová 750 W", 1, 8990, "standard"],
  ["Cement CEM II 25 kg", 1, 549, "standard"],
  ["Káva zrnková Arabica", 11, 1890, "reduced"],
  ["Chlieb kváskový", 1, 320, "low"],
  ["Kniha „Dejiny Uhorska“", 1, 1650, "low"],
  ["Kábel CYKY 3×1,5", 5, 89, "standard"],
  ["Doska smreková hobľovaná", 7, 38900, "standard"],
  ["Papier kancelársky A4", 1, 459, "standard"],
  ["Víno Frankovka modrá 0,75 l", 1, 749, "standard"],
  ["Poštové známky", 1, 100, "zero"],
  ["Olej motorový 5W-30", 9, 975, "standard"],
  ["Piesok triedený 0/4", 12, 1850, "standard"],
  ["Dlažba mrazuvzdorná", 6, 2199, "standard"],
  ["Tričko s potlačou ☕", 1, 1490, "standard"],
  ["Jablká červené", 11, 165, "low"],
  ["Ubytovanie – jednolôžková izba", 3, 6500, "low"],
];

export const services: readonly (readonly [string, number, number, VatClass])[] = [
  ["Konzultácia", 2, 6500, "standard"],
  ["Vývoj softvéru", 2, 4800, "standard"],
  ["Grafický návrh loga", 1, 35000, "standard"],
  ["Účtovnícke služby za mesiac", 1, 18000, "standard"],
  ["Preprava tovaru", 8, 95, "standard"],
  ["Montáž a zaškolenie", 3, 29000, "standard"],
  ["Školenie „Práca s dátami“", 3, 42000, "standard"],
  ["Správa servera", 1, 12050, "standard"],
];

export const statusNames = [
  ["Nový dopyt", "#3b82f6"],
  ["Ponuka odoslaná", "#8b5cf6"],
  ["Rokovanie", "#f59e0b"],
  ["Čaká na klienta", "#64748b"],
  ["Vyhraté 🏆", "#22c55e"],
  ["Stratené", "#ef4444"],
] as const;

export const caseTopics =
  "Rekonštrukcia predajne|Nový e-shop|Dodávka nábytku|Rámcová zmluva na kávu|Servis vozidiel|Tlač katalógu|Prenos účtovníctva|Výstavba skladu".split(
    "|",
  );

export const callNotes =
  "Volal ohľadom splatnosti, poslať kópiu.|Dohodnuté stretnutie v utorok o 10:00.|Chce zľavu 5 % pri väčšom odbere.|Reklamácia: chýba jeden kus.|Posiela novú adresu na doručovanie.|Spokojný, objedná znova na jar.".split(
    "|",
  );

export const companies = [
  ["Tatranská dielňa s. r. o.", "36421928"],
  ["Moravské sklady a.s.", "47891234"],
  ["Karpatské služby s. r. o.", "51234567"],
  ["Podunajská obchodná, a. s.", "35712345"],
] as const;
