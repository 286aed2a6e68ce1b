import { describe, expect, test } from "vitest";
import { dayMs, hourMs, openParcels } from "../support/virtual/parcels.ts";

// Fault: limiter | the whole list takes more requests than a run may spend on it | a list without a total behind a monthly quota | its pages are read over several nights, beside what changed, and it becomes whole
describe("a whole list that is larger than a run's share", () => {
  const many = Array.from({ length: 12 }, (_, i) => i + 1);

  test("I5, I11: is read over several nights, beside the list of changes, and then proves deletions", async () => {
    const service = await openParcels(many);
    await service.run();
    service.remove(4);
    service.pass(8 * dayMs);
    const nights: string[] = [];
    for (let night = 0; night < 6; night++) {
      if (night === 2) service.change(13);
      expect(await service.run(false, 2)).toMatchObject({ outcome: "complete" });
      nights.push(
        service.asked
          .filter((one) => one.startsWith("/parcels "))
          .toSorted()
          .join(", "),
      );
      expect(service.live().includes(13)).toBe(night >= 2);
      service.pass(dayMs);
    }
    const changes = "/parcels 1 since";
    const parts = [1, 2, 3].map((page) => [changes, `/parcels ${page}`].toSorted().join(", "));
    // The rest fits: the record that is new fills the last page, and an empty one follows.
    expect(nights).toEqual([...parts, `${changes}, /parcels 4, /parcels 5`, changes, changes]);
    expect(service.live()).toEqual([...many, 13].filter((id) => id !== 4));
  });

  test("takes its pages by the day, not by the run, and goes on after a run that was stopped", async () => {
    const service = await openParcels(many);
    await service.run();
    service.pass(8 * dayMs);
    for (let run = 0; run < 3; run++) await service.run(false, 2);
    expect(service.asked).toEqual(["/parcels 1 since"]);
    service.pass(dayMs);
    await service.run(false, 2);
    expect(service.asked.toSorted()).toEqual(["/parcels 1 since", "/parcels 2"].toSorted());
  });

  test("is read to its end as soon as the share suffices for the rest", async () => {
    const service = await openParcels(many);
    await service.run();
    service.pass(8 * dayMs);
    await service.run(false, 2);
    service.pass(hourMs);
    await service.run(false, 9);
    expect(service.asked.filter((one) => !one.endsWith("since"))).toEqual(
      [2, 3, 4, 5].map((page) => `/parcels ${page}`),
    );
    service.pass(dayMs);
    await service.run(false, 9);
    expect(service.asked).toEqual(["/parcels 1 since"]);
  });
});
