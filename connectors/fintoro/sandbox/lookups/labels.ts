/** The system's own words, by the service's language code; a list's order is the order of ids. */
type Labels = Readonly<Record<string, string>>;

const deliveryWords: Labels = {
  sk: "Neuvedené|Poštou|Kuriérom|Osobný odber|Nákladná doprava|Výdajné miesto",
  en: "Not specified|By post|By courier|Personal collection|Freight transport|Pick-up point",
  de: "Nicht angegeben|Per Post|Per Kurier|Selbstabholung|Fracht|Abholpunkt",
  es: "Sin especificar|Por correo|Por mensajero|Recogida en persona|Transporte de carga|Punto de recogida",
  hu: "Nincs megadva|Postai úton|Futárral|Személyes átvétel|Teherszállítás|Átvételi pont",
  ee: "Määramata|Postiga|Kulleriga|Ise järele|Kaubavedu|Väljastuspunkt",
  fr: "Non précisé|Par la poste|Par coursier|Retrait en personne|Fret|Point relais",
  cz: "Neuvedeno|Poštou|Kurýrem|Osobní odběr|Nákladní doprava|Výdejní místo",
  hr: "Nije navedeno|Poštom|Kurirom|Osobno preuzimanje|Teretni prijevoz|Mjesto preuzimanja",
  it: "Non specificato|Per posta|Con corriere|Ritiro di persona|Trasporto merci|Punto di ritiro",
  lt: "Nenurodyta|Paštu|Kurjeriu|Atsiėmimas asmeniškai|Krovinių vežimas|Atsiėmimo punktas",
  nl: "Niet opgegeven|Per post|Per koerier|Zelf afhalen|Vrachtvervoer|Afhaalpunt",
  pl: "Nie podano|Pocztą|Kurierem|Odbiór osobisty|Transport towarowy|Punkt odbioru",
  pt: "Não indicado|Por correio|Por estafeta|Levantamento pessoal|Transporte de carga|Ponto de recolha",
  ro: "Nespecificat|Prin poștă|Prin curier|Ridicare personală|Transport de marfă|Punct de ridicare",
  rs: "Nije navedeno|Poštom|Kurirom|Lično preuzimanje|Teretni prevoz|Mesto preuzimanja",
  ru: "Не указано|Почтой|Курьером|Самовывоз|Грузовая доставка|Пункт выдачи",
  si: "Ni navedeno|Po pošti|S kurirjem|Osebni prevzem|Tovorni prevoz|Prevzemno mesto",
  ua: "Не вказано|Поштою|Кур’єром|Самовивіз|Вантажне перевезення|Пункт видачі",
};

const paymentWords: Labels = {
  sk: "Prevodom|Kartou|PayPal|Dobierka|Vzájomný zápočet|Hotovosť",
  en: "Bank transfer|Card payment|PayPal|On delivery|Mutual deduction|Cash",
  de: "Überweisung|Kartenzahlung|PayPal|Nachnahme|Verrechnung|Bar",
  es: "Transferencia bancaria|Tarjeta|PayPal|Contra reembolso|Compensación|Efectivo",
  hu: "Átutalás|Bankkártya|PayPal|Utánvét|Kölcsönös beszámítás|Készpénz",
  ee: "Pangaülekanne|Kaardimakse|PayPal|Lunamaks|Tasaarveldus|Sularaha",
  fr: "Virement|Carte|PayPal|Contre remboursement|Compensation|Espèces",
  cz: "Převodem|Kartou|PayPal|Dobírka|Vzájemný zápočet|Hotovost",
  hr: "Bankovni prijenos|Kartica|PayPal|Pouzeće|Prijeboj|Gotovina",
  it: "Bonifico|Carta|PayPal|Contrassegno|Compensazione|Contanti",
  lt: "Banko pavedimas|Kortele|PayPal|Apmokėjimas pristačius|Tarpusavio įskaitymas|Grynieji",
  nl: "Overschrijving|Kaart|PayPal|Rembours|Verrekening|Contant",
  pl: "Przelew|Karta|PayPal|Za pobraniem|Wzajemne rozliczenie|Gotówka",
  pt: "Transferência bancária|Cartão|PayPal|Contra entrega|Compensação|Dinheiro",
  ro: "Transfer bancar|Card|PayPal|Ramburs|Compensare|Numerar",
  rs: "Bankovni transfer|Kartica|PayPal|Pouzećem|Kompenzacija|Gotovina",
  ru: "Банковский перевод|Карта|PayPal|Наложенный платёж|Взаимозачёт|Наличные",
  si: "Bančno nakazilo|Kartica|PayPal|Po povzetju|Pobot|Gotovina",
  ua: "Банківський переказ|Картка|PayPal|Післяплата|Взаємозалік|Готівка",
};

const qrWords: Labels = {
  sk: "Negenerovať|PayBySquare",
  en: "Do not generate|PayBySquare",
  de: "Nicht erzeugen|PayBySquare",
  es: "No generar|PayBySquare",
  hu: "Ne készüljön|PayBySquare",
  ee: "Ära loo|PayBySquare",
  fr: "Ne pas générer|PayBySquare",
  cz: "Negenerovat|PayBySquare",
  hr: "Ne generiraj|PayBySquare",
  it: "Non generare|PayBySquare",
  lt: "Negeneruoti|PayBySquare",
  nl: "Niet genereren|PayBySquare",
  pl: "Nie generuj|PayBySquare",
  pt: "Não gerar|PayBySquare",
  ro: "Nu genera|PayBySquare",
  rs: "Ne generiši|PayBySquare",
  ru: "Не создавать|PayBySquare",
  si: "Ne ustvari|PayBySquare",
  ua: "Не створювати|PayBySquare",
};

/** Pieces, hours and days have words; the rest are symbols that every language shares. */
const unitWords: Labels = {
  sk: "ks|hod|deň",
  en: "pcs|hrs|day",
  de: "Stk|Std|Tag",
  es: "uds|h|día",
  hu: "db|óra|nap",
  ee: "tk|tund|päev",
  fr: "pcs|h|jour",
  cz: "ks|hod|den",
  hr: "kom|sat|dan",
  it: "pz|ore|giorno",
  lt: "vnt|val|diena",
  nl: "st|uur|dag",
  pl: "szt|godz|dzień",
  pt: "un|h|dia",
  ro: "buc|ore|zi",
  rs: "kom|sat|dan",
  ru: "шт|ч|день",
  si: "kos|ura|dan",
  ua: "шт|год|день",
};

const discountWords: Labels = {
  sk: "Zľava",
  en: "Discount",
  de: "Rabatt",
  es: "Descuento",
  hu: "Kedvezmény",
  ee: "Allahindlus",
  fr: "Remise",
  cz: "Sleva",
  hr: "Popust",
  it: "Sconto",
  lt: "Nuolaida",
  nl: "Korting",
  pl: "Rabat",
  pt: "Desconto",
  ro: "Reducere",
  rs: "Popust",
  ru: "Скидка",
  si: "Popust",
  ua: "Знижка",
};

const symbols = ["cm", "m", "m²", "m³", "km", "l", "g", "kg", "t"];

function words(labels: Labels, code: string): readonly string[] {
  return (labels[code] ?? labels["en"] ?? "").split("|");
}

export const deliveryLabels = (code: string) => words(deliveryWords, code);
export const paymentLabels = (code: string) => words(paymentWords, code);
export const qrLabels = (code: string) => words(qrWords, code);
export const unitLabels = (code: string) => [...words(unitWords, code), ...symbols];
export const discountLabel = (code: string) => words(discountWords, code)[0] ?? "Discount";
