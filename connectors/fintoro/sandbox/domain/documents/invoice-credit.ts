import { dateOf, dayOf } from "../../base/calendar.ts";
import { variableSymbol } from "../../base/identifiers.ts";
import type { Document, Item } from "../../model/company-records.ts";
import { check } from "../../rules/refusals.ts";
import { parse } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { expectDates } from "./document-checks.ts";
import { creditShape } from "./document-input.ts";
import { addDocument, expectNegative } from "./document-rules.ts";
import { expectNumber, takeNumber } from "./number-series.ts";

/** Creates a credit note over a whole invoice: its terms, and its lines with the sign turned. */
export function creditInvoice(company: Company, invoice: Document, input: unknown): Document {
  const { note = invoice.note, textAboveItems = invoice.textAboveItems, ...sent } = parse(creditShape, input);
  const { issueDate = dateOf(company.settings.today) } = sent;
  const { dueDate = issueDate, deliveryDate = issueDate } = sent;
  const numbered = { company, kind: "credit-note", sent } as const;
  check((problems) => {
    expectNumber(problems, numbered, null);
    expectDates(problems, { issueDate, dueDate, deliveryDate });
  });
  const items = invoice.items.map((item) => turned(company, item));
  expectNegative({ ...invoice, items });
  const { number, numericalSeriesId } = takeNumber(numbered, dayOf(issueDate));
  const { id: invoiceId, ...terms } = invoice;
  return addDocument(company, {
    ...terms,
    kind: "credit-note",
    type: "credit-note",
    uuid: company.random.uuid(),
    number,
    numericalSeriesId,
    issueDate,
    dueDate,
    deliveryDate,
    invoiceId,
    note,
    textAboveItems,
    items,
    variableSymbol: variableSymbol(number),
    willBePaid: true,
    sources: { proformaId: null, orderId: null, quotationId: null },
  });
}

function turned(company: Company, item: Item): Item {
  const id = company.settings.nextPartId++;
  return { ...item, id, uuid: company.random.uuid(), unitPrice: -item.unitPrice };
}
