import { z } from "zod";
import {
  documentPayment,
  paidDocumentTypes,
  unlistedPaidTypes,
} from "../resources/documents/document-payments.ts";
import { seriesDocumentTypes } from "../resources/numerical-series.ts";
import * as op from "./operation-builders.ts";
import { day, email, id, maybe, characters } from "./input-types.ts";

const documentType = z.enum(paidDocumentTypes).meta({ unlisted: unlistedPaidTypes });

const paymentInput = z.strictObject({
  documentType,
  documentId: id,
  currencyId: id.optional(),
  currencyRate: z.number().optional(),
  paymentDate: day.optional(),
  paymentMethodId: id.optional(),
  amount: z.number().optional(),
});

const mailInput = z.strictObject({
  documentType: z.enum(seriesDocumentTypes),
  documentId: id,
  to: z.array(email()).min(1),
  body: maybe(characters(1000)),
  type: z.enum(["regular", "reminder", "overdue_reminder", "confirmation"]),
});

/** Operations on payments, and the sending of documents. */
export const paymentOperations = {
  documentPayments: {
    list: op.filtered(
      op.wholeList("/document-payments", documentPayment),
      z.strictObject({ documentType, documentId: id }),
    ),
    create: op.create("/document-payments", paymentInput, documentPayment),
    show: op.show("/document-payments/{documentPayment}", documentPayment),
    delete: op.remove("/document-payments/{documentPayment}"),
  },
  documentMails: {
    // 202: the mail is queued, the answer has no body.
    send: {
      method: "POST",
      path: "/document-mails",
      body: mailInput,
      status: 202,
      answer: { kind: "nothing" },
      idempotent: true,
    },
  },
} as const;
