"""What dlt and Airbyte read of a company, so that both do the same work."""

import os

base = os.environ["BASE_URL"].rstrip("/") + "/"
token = os.environ["FINTORO_TOKEN"]
# Lists that come in one answer.
whole = (
    "banks countries languages currencies delivery-methods payment-methods qr-types units clients suppliers"
    " bank-accounts business-case-statuses warehouses webhook-subscriptions"
).split()
paged = "business-cases price-list-items warehouse-inbound-receipts warehouse-outbound-receipts".split()
# Each has a list of its numerical series.
kinds = "invoice proforma credit-note order quotation".split()
# Their lists show previews; lines, notes and payments are in the detail of each document.
documents = [f"{kind}s" for kind in kinds]
