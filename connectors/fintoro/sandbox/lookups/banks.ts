export interface BankInfo {
  readonly id: number;
  readonly name: string;
  readonly swift: string;
}

const rows: readonly (readonly [number, string, string])[] = [
  [1, "365 Bank", "POBNSKBA"],
  [4, "Fio banka", "FIOZSKBA"],
  [6, "ING Wholesale Banking", "INGBSKBX"],
  [8, "mBank", "BREXSKBX"],
  [12, "Oberbank", "OBKLSKBA"],
  [13, "PayPal", "PPLXLULLXXX"],
  [15, "Poštová banka", "POBNSKBA"],
  [16, "Prima Banka", "KOMASK2X"],
  [17, "Raiffeisen Banka", "TATRSKBX"],
  [18, "Revolut", "REVOLT21XXX"],
  [19, "Skrill", "SKRLGB2L"],
  [20, "Slovenská sporiteľňa", "GIBASKBX"],
  [23, "Tatra Banka", "TATRSKBX"],
  [24, "Unicredit", "UNCRSKBX"],
  [25, "VUB Banka", "SUBASKBX"],
  [26, "Wise", "TRWIGB22XXX"],
  [27, "Československá obchodná banka", "CEKOSKBX"],
  [33, "Národná banka Slovenska", "NBSBSKBX"],
  [34, "Slovenská záručná a rozvojová banka", "SLZBSKBA"],
  [35, "Prvá stavebná sporiteľňa", "PRVASKBA"],
  [37, "Wustenrot stavebná sporiteľňa", "WUSTSKBA"],
  [38, "Komerční banka", "KOMBSKBA"],
  [39, "Privatbanka", "BSLOSK22"],
  [40, "Citibank Europe", "CITISKBA"],
  [41, "EXIMBANKA", "EXSKSKBX"],
  [42, "Štátna pokladnica", "SPSRSKBA"],
  [43, "J&T BANKA", "JTBPSKBA"],
  [44, "BKS Bank", "BFKKSKBB"],
  [45, "Trust Pay", "TPAYSKBX"],
];

export const banks: readonly BankInfo[] = rows.map(([id, name, swift]) => ({ id, name, swift }));

const byId = new Map(banks.map((bank) => [bank.id, bank]));

export function bankById(id: number): BankInfo | undefined {
  return byId.get(id);
}
