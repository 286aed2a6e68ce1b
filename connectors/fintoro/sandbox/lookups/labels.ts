/**
 * The service's labels by its own language codes. Groups are separated by a slash: delivery methods,
 * payment methods, QR types, units, the name of a discount. Their order is the order of the ids.
 */
const labels: Readonly<Record<string, string>> = {
  sk: "Neuvedené|Poštou|Kuriérom|Osobný odber|Nákladná doprava|Výdajné miesto / Prevodom|Kartou|PayPal|Dobierka|Vzájomný zápočet|Hotovosť / Negenerovať|PayBySquare / ks|hod|deň / Zľava",
  en: "Not specified|By post|By courier|Personal collection|Freight transport|Pick-up point / Bank transfer|Card payment|PayPal|On delivery|Mutual deduction|Cash / Do not generate|PayBySquare / pcs|hrs|day / Discount",
  de: "Nicht angegeben|Per Post|Per Kurier|Selbstabholung|Fracht|Abholpunkt / Überweisung|Kartenzahlung|PayPal|Nachnahme|Verrechnung|Bar / Nicht erzeugen|PayBySquare / Stk|Std|Tag / Rabatt",
  es: "Sin especificar|Por correo|Por mensajero|Recogida en persona|Transporte de carga|Punto de recogida / Transferencia bancaria|Tarjeta|PayPal|Contra reembolso|Compensación|Efectivo / No generar|PayBySquare / uds|h|día / Descuento",
  hu: "Nincs megadva|Postai úton|Futárral|Személyes átvétel|Teherszállítás|Átvételi pont / Átutalás|Bankkártya|PayPal|Utánvét|Kölcsönös beszámítás|Készpénz / Ne készüljön|PayBySquare / db|óra|nap / Kedvezmény",
  ee: "Määramata|Postiga|Kulleriga|Ise järele|Kaubavedu|Väljastuspunkt / Pangaülekanne|Kaardimakse|PayPal|Lunamaks|Tasaarveldus|Sularaha / Ära loo|PayBySquare / tk|tund|päev / Allahindlus",
  fr: "Non précisé|Par la poste|Par coursier|Retrait en personne|Fret|Point relais / Virement|Carte|PayPal|Contre remboursement|Compensation|Espèces / Ne pas générer|PayBySquare / pcs|h|jour / Remise",
  cz: "Neuvedeno|Poštou|Kurýrem|Osobní odběr|Nákladní doprava|Výdejní místo / Převodem|Kartou|PayPal|Dobírka|Vzájemný zápočet|Hotovost / Negenerovat|PayBySquare / ks|hod|den / Sleva",
  hr: "Nije navedeno|Poštom|Kurirom|Osobno preuzimanje|Teretni prijevoz|Mjesto preuzimanja / Bankovni prijenos|Kartica|PayPal|Pouzeće|Prijeboj|Gotovina / Ne generiraj|PayBySquare / kom|sat|dan / Popust",
  it: "Non specificato|Per posta|Con corriere|Ritiro di persona|Trasporto merci|Punto di ritiro / Bonifico|Carta|PayPal|Contrassegno|Compensazione|Contanti / Non generare|PayBySquare / pz|ore|giorno / Sconto",
  lt: "Nenurodyta|Paštu|Kurjeriu|Atsiėmimas asmeniškai|Krovinių vežimas|Atsiėmimo punktas / Banko pavedimas|Kortele|PayPal|Apmokėjimas pristačius|Tarpusavio įskaitymas|Grynieji / Negeneruoti|PayBySquare / vnt|val|diena / Nuolaida",
  nl: "Niet opgegeven|Per post|Per koerier|Zelf afhalen|Vrachtvervoer|Afhaalpunt / Overschrijving|Kaart|PayPal|Rembours|Verrekening|Contant / Niet genereren|PayBySquare / st|uur|dag / Korting",
  pl: "Nie podano|Pocztą|Kurierem|Odbiór osobisty|Transport towarowy|Punkt odbioru / Przelew|Karta|PayPal|Za pobraniem|Wzajemne rozliczenie|Gotówka / Nie generuj|PayBySquare / szt|godz|dzień / Rabat",
  pt: "Não indicado|Por correio|Por estafeta|Levantamento pessoal|Transporte de carga|Ponto de recolha / Transferência bancária|Cartão|PayPal|Contra entrega|Compensação|Dinheiro / Não gerar|PayBySquare / un|h|dia / Desconto",
  ro: "Nespecificat|Prin poștă|Prin curier|Ridicare personală|Transport de marfă|Punct de ridicare / Transfer bancar|Card|PayPal|Ramburs|Compensare|Numerar / Nu genera|PayBySquare / buc|ore|zi / Reducere",
  rs: "Nije navedeno|Poštom|Kurirom|Lično preuzimanje|Teretni prevoz|Mesto preuzimanja / Bankovni transfer|Kartica|PayPal|Pouzećem|Kompenzacija|Gotovina / Ne generiši|PayBySquare / kom|sat|dan / Popust",
  ru: "Не указано|Почтой|Курьером|Самовывоз|Грузовая доставка|Пункт выдачи / Банковский перевод|Карта|PayPal|Наложенный платёж|Взаимозачёт|Наличные / Не создавать|PayBySquare / шт|ч|день / Скидка",
  si: "Ni navedeno|Po pošti|S kurirjem|Osebni prevzem|Tovorni prevoz|Prevzemno mesto / Bančno nakazilo|Kartica|PayPal|Po povzetju|Pobot|Gotovina / Ne ustvari|PayBySquare / kos|ura|dan / Popust",
  ua: "Не вказано|Поштою|Кур’єром|Самовивіз|Вантажне перевезення|Пункт видачі / Банківський переказ|Картка|PayPal|Післяплата|Взаємозалік|Готівка / Не створювати|PayBySquare / шт|год|день / Знижка",
};

const groups = ["delivery", "payment", "qr", "unit", "discount"] as const;

/** Units that every language shares; their ids follow those of the units with words. */
const symbols = ["cm", "m", "m²", "m³", "km", "l", "g", "kg", "t"];

/** The labels of a group in the order of their ids; English where the language has none. */
export function labelsOf(group: (typeof groups)[number], languageCode: string): readonly string[] {
  const row = labels[languageCode] ?? labels["en"] ?? "";
  const words = (row.split(" / ")[groups.indexOf(group)] ?? "").split("|");
  return group === "unit" ? [...words, ...symbols] : words;
}

/** What a discount is called where a document line gives it no name. */
export function discountLabel(languageCode: string): string {
  return labelsOf("discount", languageCode)[0] ?? "";
}
