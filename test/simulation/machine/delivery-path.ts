import type { SimulatedMachine } from "./simulated-machine.ts";
import type { SimulatedProgram } from "./simulated-program.ts";

/** Brings a delivery to the program that serves, over a network that may fail. */
export async function deliver(
  machine: SimulatedMachine,
  programNow: () => SimulatedProgram | null,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<number | "lost"> {
  const { time, choice, deliveries } = machine;
  const id = headers["webhook-id"] ?? "";
  const goesWrong = (share: number) => share > 0 && choice.probability(share);
  const arrive = async () => (await programNow()?.receive(headers, body)) ?? null;
  if (goesWrong(deliveries.lost)) {
    await time.sleep(10_000);
    return "lost";
  }
  if (goesWrong(deliveries.forged)) {
    const changed = Buffer.from(body.toString().replace(/\d+\}\}$/, "99}}"));
    const status = await programNow()?.receive(headers, changed);
    if (status !== undefined && status !== null && status < 300 && !changed.equals(body))
      machine.broken.push(`a forged delivery was answered ${status}`);
  }
  if (goesWrong(deliveries.doubled)) time.after(choice.below(200_000), () => void arrive());
  const late = goesWrong(deliveries.late);
  await time.sleep(late ? choice.below(9_000) : choice.below(100));
  if (goesWrong(deliveries.gathered)) await machine.gather();
  const status = await arrive();
  machine.note(`delivery ${id.slice(0, 12)}: ${status ?? "no answer"}`);
  if (status === null) return "lost";
  if (status === 400) machine.broken.push(`I12 delivery ${id}: signed, and answered 400`);
  return goesWrong(deliveries.answerLost) ? "lost" : status;
}
