/* global document, entries */
// Finds headings and sections that hold every word; the best ones have them in the heading.
const field = document.querySelector("#search");
const list = document.querySelector("#found");

/** Accents do not matter: "pohladavky" finds "pohľadávky". */
const folded = (text) => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
const searched = entries.map((entry) => ({
  entry,
  heading: folded(`${entry.page} ${entry.heading}`),
  text: folded(entry.text),
}));

function find(words) {
  const rank = ({ heading }) => words.filter((word) => heading.includes(word)).length;
  return searched
    .filter(({ heading, text }) => words.every((word) => heading.includes(word) || text.includes(word)))
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, 12)
    .map(({ entry }) => entry);
}

field.addEventListener("input", () => {
  const words = folded(field.value).split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : find(words);
  list.replaceChildren(
    ...found.map(({ place, page, heading }) => {
      const link = document.createElement("a");
      link.href = document.body.dataset.root + place;
      link.textContent = page === heading ? page : `${page}: ${heading}`;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
});
