import { randomFor } from "../base/seeded-random.ts";

const list =
  "EUR:€:1 USD:$:1.15 JPY:¥:176 BGN:лв:1.95583 CZK:Kč:24.3 DKK:kr:7.46 GBP:£:0.87 HUF:Ft:388 PLN:zł:4.25 RON:lei:5.08 SEK:kr:10.95 CHF:CHF:0.93 ISK:kr:143 NOK:kr:11.7 HRK:kn:7.5345 RUB:₽:93 TRY:₺:48 AUD:$:1.77 BRL:R$:6.2 CAD:$:1.61 CNY:¥:8.2 HKD:$:9 IDR:Rp:19200 ILS:₪:3.8 INR:₹:102 KRW:₩:1680 MXN:$:21.4 MYR:RM:4.87 NZD:$:2.02 PHP:₱:67 SGD:$:1.5 THB:฿:37.7 ZAR:R:20";

/** All currencies in the order of their ids; `perEuro` is the usual rate in units for one euro. */
export const currencies = list.split(" ").map((entry, index) => {
  const [symbol = "", mark = "", perEuro = "1"] = entry.split(":");
  return { id: index + 1, symbol, mark, perEuro: Number(perEuro) };
});

export const euro = 1;
export const czechCrown = 5;

/** The currency with this id. */
export function currencyById(id: number) {
  return currencies[id - 1];
}

/** Units for one euro on a day: five decimals, within 3 % of the usual rate; 1 for the euro. */
export function rateOn(currencyId: number, day: number): number {
  const currency = currencyById(currencyId);
  if (!currency || currencyId === euro) return 1;
  const drift = (randomFor(currencyId, "rate", day).next() - 0.5) * 0.06;
  return Math.round(currency.perEuro * (1 + drift) * 100_000) / 100_000;
}
