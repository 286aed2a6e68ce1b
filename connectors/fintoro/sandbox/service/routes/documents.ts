import { creditInvoice } from "../../domain/documents/invoice-credit.ts";
import { createDocument, deleteDocument, updateDocument } from "../../domain/documents/document-rules.ts";
import { createPayment, deletePayment, sendMail } from "../../domain/documents/payment-rules.ts";
import {
  createSubscription,
  deleteSubscription,
  rotateSecret,
  updateSubscription,
} from "../../domain/webhook-targets.ts";
import { collections, documentKinds, documentTable } from "../../model/catalogue.ts";
import type { Document, DocumentKind, Subscription } from "../../model/company-records.ts";
import { documentView, paymentView } from "../../view/document-view.ts";
import { subscriptionView } from "../../view/settings-view.ts";
import { nothing, record, type Answer } from "../answer.ts";
import type { Call, Method, Route } from "../route.ts";
import { documentAt, named } from "./reading.ts";

function write(method: Method, path: string, handle: (call: Call) => Answer, idempotent = false): Route {
  return { method, path, scope: "write", idempotent, handle };
}

/** Creating, changing and deleting documents, payments and subscriptions. */
export function documentWritingRoutes(): Route[] {
  return [
    ...documentKinds.flatMap(documentRoutes),
    creditRoute(),
    ...paymentRoutes(),
    ...subscriptionRoutes(),
  ];
}

function documentRoutes(kind: DocumentKind): Route[] {
  const path = `/${collections[documentTable[kind]].path}`;
  const create = ({ company, input }: Call) => createDocument(company, kind, input);
  const change = (call: Call) => updateDocument(call.company, documentAt(call, kind), call.input);
  return [
    write("POST", path, (call) => shown(call, create(call), 201), true),
    write("PUT", `${path}/{id}`, (call) => shown(call, change(call))),
    write("DELETE", `${path}/{id}`, (call) => {
      deleteDocument(call.company, documentAt(call, kind));
      return nothing();
    }),
  ];
}

function shown({ company, language }: Call, document: Document, status = 200): Answer {
  return record(documentView(company, document, language), status);
}

function creditRoute(): Route {
  return write(
    "POST",
    "/invoices/{id}/credit-notes",
    (call) => {
      const note = creditInvoice(call.company, documentAt(call, "invoice"), call.input);
      return record(documentView(call.company, note, call.language), 201);
    },
    true,
  );
}

function paymentRoutes(): Route[] {
  return [
    write(
      "POST",
      "/document-payments",
      ({ company, input, language }) =>
        record(paymentView(company, createPayment(company, input), language), 201),
      true,
    ),
    write("DELETE", "/document-payments/{id}", (call) => {
      deletePayment(call.company, named(call, "document_payments"));
      return nothing();
    }),
    write(
      "POST",
      "/document-mails",
      ({ company, input }) => {
        sendMail(company, input);
        return nothing(202);
      },
      true,
    ),
  ];
}

/** The secret is shown when it is new, and never again. */
function subscriptionRoutes(): Route[] {
  const path = "/webhook-subscriptions";
  const own = `${path}/{id}`;
  return [
    write("POST", path, (call) => withSecret(call, createSubscription(call.company, call.input), 201), true),
    write("PUT", own, (call) => {
      const changed = updateSubscription(call.company, named(call, "webhook_subscriptions"), call.input);
      return record(subscriptionView(call.company, changed));
    }),
    write("DELETE", own, (call) => {
      deleteSubscription(call.company, named(call, "webhook_subscriptions"));
      return nothing();
    }),
    write("POST", `${own}/rotate-secret`, (call) =>
      withSecret(call, rotateSecret(call.company, named(call, "webhook_subscriptions")), 200),
    ),
  ];
}

function withSecret({ company }: Call, subscription: Subscription, status: number): Answer {
  return record({ ...subscriptionView(company, subscription), plainTextSecret: subscription.secret }, status);
}
