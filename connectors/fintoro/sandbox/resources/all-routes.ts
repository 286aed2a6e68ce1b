import { lookupList, lookupNames, slovakia } from "../lookups/lookup-lists.ts";
import { pick } from "../base/values.ts";
import words from "../samples/words.json" with { type: "json" };
import type { TableName } from "../model/catalogue.ts";
import { present, refuse } from "../rules/rules.ts";
import { file, list, nothing, replyWith, type Routes } from "../service/messages.ts";
import { isIn, type Collection } from "./collection.ts";
import { activities, cases, caseStatuses, keepUpload } from "./case-board.ts";
import { documentView } from "./document-view.ts";
import { creditInvoice, documents, seriesView } from "./documents.ts";
import { accounts, rotateSecret, subscriptions } from "./own-settings.ts";
import { clients, suppliers } from "./partners.ts";
import { payments, sendMail } from "./payments.ts";
import { zipOf } from "./record-files.ts";
import { priceList, receipts, warehouses } from "./stock.ts";

const own = [clients, suppliers, accounts, caseStatuses, cases, activities, warehouses, priceList, payments];

const all = [...own, subscriptions, ...Object.values(receipts), ...Object.values(documents)];
export const writable = Object.fromEntries(all.map((one) => [one.table, one])) as Readonly<
  Record<TableName, Collection>
>;

/** The public register of companies; the same for everybody. */
const subjects = words.parties
  .filter(({ countryId }) => countryId === slovakia)
  .map((party, index) => ({
    ...pick(party, ["name", "city", "street", "zip"]),
    id: 50_000_000 + index * 7,
    taxId: String(2_020_000_000 + index),
    vatId: party.vat ? `SK${2_020_000_000 + index}` : null,
    legalForm: party.isPerson ? "freelancer" : "company",
  }));

const ofLookups: Routes = Object.fromEntries(
  lookupNames.map((name) => [`GET /${name}`, ({ language }) => list(lookupList(name, language))]),
);

export const allRoutes: Routes = Object.assign({}, ofLookups, ...all.map(({ routes }) => routes), {
  "GET /whoami": ({ company }) => replyWith({ name: company.name }),
  "GET /numerical-series": ({ company, query }) => {
    const series = company.tables.numerical_series.where((one) => one.documentKind === query["documentType"]);
    return list(series.map((one) => seriesView(company, one)));
  },
  "GET /numerical-series/{id}": ({ company, id }) =>
    replyWith(seriesView(company, present(company.tables.numerical_series.get(id)))),
  "GET /subjects": ({ query: { searchQuery = "", legalForm, limit = "20" } }) => {
    const ofForm = subjects.filter((one) => one.legalForm === (legalForm ?? one.legalForm));
    // By a part of the name or the beginning of the business id.
    const found = ofForm.filter(({ name, id }) => isIn(searchQuery, name) || `${id}`.startsWith(searchQuery));
    return list(found.slice(0, Number(limit)));
  },
  "GET /subjects/{id}": ({ id }) => replyWith(present(subjects.find((one) => one.id === id))),
  "GET /contact-activity-logs/{id}/attachments": ({ company, id }) => {
    const { attachments, createdAtMs: atMs } = present(company.tables.contact_activity_logs.get(id));
    present(attachments[0]);
    const entries = attachments.map(({ name, content }) => ({ name, content, atMs }));
    return file("application/zip", `attachments-${id}.zip`, zipOf(entries));
  },
  "POST /invoices/{id}/credit-notes": ({ company, id, input, language }) => {
    const note = creditInvoice(company, present(company.tables.invoices.get(id)), input);
    return replyWith(documentView(company, note, language), 201);
  },
  "POST /document-mails": ({ company, input }) => {
    sendMail(company, input);
    return nothing(202);
  },
  "POST /webhook-subscriptions/{id}/rotate-secret": ({ company, id, language }) => {
    const rotated = rotateSecret(company, present(company.tables.webhook_subscriptions.get(id)));
    return replyWith(subscriptions.view(company, rotated, language, true));
  },
  "POST /contact-activity-attachments": ({ company, files }) => {
    if (files.length === 0) refuse("files", "required");
    const data = files.map((sent) => {
      const { name: fileName, mimeType, content } = sent;
      return { uploadToken: keepUpload(company, sent), fileName, mimeType, size: content.length };
    });
    return replyWith({ data }, 201);
  },
} satisfies Routes);
