import type { MonthPackage, MonthText } from "../../../src/connector/month-package.ts";
import { monthSheets } from "./month-sheets.ts";

/** In Slovak: the accountant reads it first. */
const monthText: MonthText = {
  name: "CITAJ-MA.txt",
  lines: [
    "Podklady pre účtovníctvo: {company}, {month}",
    "",
    "Obdobie: {from} až {to}. Doklad patrí do mesiaca podľa dátumu vystavenia, úhrada podľa dátumu úhrady.",
    "",
    "{workbook}",
    "  Vystavené faktúry: všetky faktúry mesiaca vrátane daňových dokladov k prijatej platbe.",
    "  Vystavené dobropisy: sumy sú záporné.",
    "  DPH podľa sadzieb: základ dane a DPH dokladov vystavených v mesiaci; prenos daňovej povinnosti samostatne.",
    "  DPH podľa dokladov: to isté po dokladoch; mesiac dodania je uvedený vedľa mesiaca vystavenia.",
    "  Kontrolné súčty: súčty dokladov a súčty podľa sadzieb po menách; rozdiel má byť 0.",
    "  Prijaté úhrady: peniaze prijaté a vrátené v mesiaci. Úhrada zálohy a jej daňový doklad sú jedna úhrada.",
    "  Neuhradené na konci mesiaca: faktúry, dobropisy (záporné) a nezúčtované zálohy (záporné) k {to}.",
    "    Stav k {to} je dnešný zostatok so započítaním úhrad, ktoré prišli neskôr. Doklady so stavom",
    "    „nebude uhradená“ tu nie sú: služba nehovorí, od kedy tento stav majú.",
    "",
    "pdf/: {pdfs} PDF dokladov vystavených v mesiaci.",
    "manifest.json: veľkosť a SHA-256 každého súboru. Tie isté údaje dávajú tie isté súbory.",
    "",
    "Čo tu nie je a nemôže byť:",
    "  Prijaté faktúry, prijaté doklady a ich DPH: rozhranie služby ich neposkytuje.",
    "  Bankové výpisy, pokladňa, mzdy.",
    "  Doklady, ktoré boli v službe zmazané.",
  ],
  withoutPdf: "Chýba PDF dokladov: {names}",
  incomplete:
    "POZOR: podrobnosti niektorých dokladov ešte neboli prečítané; DPH podľa sadzieb nie je úplná: {names}",
};

/** A month for the accountant, in Slovak. */
export const accountantMonth: MonthPackage = {
  language: "sk",
  sheets: monthSheets,
  documents: ["invoices", "credit_notes"],
  text: monthText,
};
