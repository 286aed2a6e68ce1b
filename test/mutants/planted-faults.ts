import { deletionFaults } from "./faults/deletion.ts";
import { deliveryFaults } from "./faults/delivery.ts";
import { equalityFaults } from "./faults/equality.ts";
import { fileFaults } from "./faults/files.ts";
import { fleetFaults } from "./faults/fleet.ts";
import { overlapFaults } from "./faults/overlap.ts";
import { progressFaults } from "./faults/progress.ts";
import { requestFaults } from "./faults/requests.ts";
import type { PlantedFault } from "./planted-fault.ts";

/** All of them, those about events and data first. */
export const plantedFaults: readonly PlantedFault[] = [
  ...progressFaults,
  ...overlapFaults,
  ...deletionFaults,
  ...deliveryFaults,
  ...requestFaults,
  ...equalityFaults,
  ...fileFaults,
  ...fleetFaults,
];
