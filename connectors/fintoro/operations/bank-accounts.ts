import { z } from "zod";
import { bankAccount, pairingStrategies } from "../resources/bank-accounts.ts";
import { create, group, remove, show, statedRoute, update, wholeList } from "./operation-builders.ts";
import { id, maybe, characters } from "./input-types.ts";

const autoPairingStrategy = z.enum(pairingStrategies).optional();

const createInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255),
  iban: z.string(),
  swift: characters(255),
  autoPairingStrategy,
});

const updateInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255).optional(),
  iban: z.string().optional(),
  swift: characters(255).optional(),
  autoPairingStrategy,
  isPrimary: z.boolean().optional(),
});

/** Creating an account takes no `Idempotency-Key`. */
export const bankAccountOperations = group("bankAccounts", {
  list: wholeList("/bank-accounts", bankAccount),
  create: create("/bank-accounts", createInput, bankAccount),
  show: show("/bank-accounts/{bankAccount}", bankAccount),
  update: update("PATCH", "/bank-accounts/{bankAccount}", updateInput, bankAccount),
  delete: statedRoute(remove("/bank-accounts/{bankAccount}")),
});
