import { cut, html, type Html, type Piece } from "./html.ts";

/** How a thing is coloured; a word beside it says the same. */
export type Tone = "good" | "look" | "bad" | "busy" | "plain";

export function banner(level: Tone, title: string, sentence: Piece, body: Piece = null): Html {
  return html`<section id="verdict" class="verdict ${level}" aria-labelledby="title">
    <h1 id="title">${title}</h1>
    <p class="sentence" role="status">${sentence}</p>
    ${body}
  </section>`;
}

/** Values that people ask for first: name, value and what is known besides. */
export function factList(facts: readonly (readonly [string, Piece, Piece?])[]): Html {
  const items = facts.map(
    ([name, value, more = null]) =>
      html`<div>
        <dt>${name}</dt>
        <dd><strong>${value}</strong> <span>${more}</span></dd>
      </div>`,
  );
  return html`<dl class="facts">${items}</dl>`;
}

/** A titled part. `aside` stands beside the title. */
export function pagePart(id: string, title: string, body: Piece, aside: Piece = null): Html {
  return html`<section id="${id}" class="card" aria-labelledby="${id}-title">
    <div class="head">
      <h2 id="${id}-title">${title}</h2>
      <p>${aside}</p>
    </div>
    ${body}
  </section>`;
}

/** In the place of a part that has nothing to show: what stands after it stays where it is. */
export function hiddenPart(id: string): Html {
  return html`<section id="${id}" hidden></section>`;
}

export interface ListRow {
  readonly name?: Piece;
  readonly about?: Piece;
  readonly small?: readonly Piece[];
  readonly text?: Piece;
  readonly more?: Piece;
  readonly badge?: readonly [Tone, string];
}

/** Things below each other, or what stands where there are none. */
export function rowList(rows: readonly ListRow[], none: Piece = null): Html {
  if (rows.length === 0) return emptyText(none);
  const items = rows.map(({ name, about = null, small = [], text, more = null, badge: word }) => {
    const title = name !== undefined && [html`<strong>${name}</strong> `, html`<span>${about}</span>`];
    const lines = small.map((line) => html`<small>${line}</small>`);
    const body = [title, lines, text !== undefined && html`<p>${text}</p>`, more];
    return html`<li>
      <div>${body}</div>
      ${word !== undefined && badge(...word)}
    </li>`;
  });
  return html`<ol class="rows">
    ${items}
  </ol>`;
}

/** Shares from 0 to 1 as bars: name, share and what is said of it. */
export function barList(rows: readonly (readonly [string, number, Piece])[]): Html {
  const items = rows.map(
    ([name, share, text]) =>
      html`<li><span>${name}</span> ${bar(share, "busy")} <span class="number">${text}</span></li>`,
  );
  return html`<ul class="lanes">
    ${items}
  </ul>`;
}

export function emptyText(text: Piece): Html {
  return html`<p class="none">${text}</p>`;
}

export function note(title: string, text: Piece): Html {
  return html`<p class="plan"><strong>${title}</strong> ${text}</p>`;
}

/** What to do, or what is known besides. Words between backquotes become code. */
export function advice(text: string): Html {
  return html`<p class="next">${prose(text)}</p>`;
}

export function prose(text: string): Piece {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** With dots between; nothing stands for null and false. */
export function joined(pieces: readonly Piece[]): Piece {
  const shown = pieces.filter((piece) => piece !== null && piece !== false);
  return shown.map((piece, i) => (i === 0 ? piece : [" · ", piece]));
}

/** A table. The caption is for screen readers; a row's first cell is its head. */
export function table(caption: string, heads: readonly string[], rows: readonly Html[]): Html {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

export function badge(level: Tone, text: string): Html {
  return html`<span class="badge ${level}">${cut(text, 24)}</span>`;
}

/** A bar that shows a share from 0 to 1; what it says stands beside it as text. */
export function bar(share: number, level: Tone): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return html`<svg height="5" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="4" />
    <rect class="done ${level}" width="${width}" height="4" />
  </svg>`;
}

/** Finds companies, without a script too. @param question.tag left out where companies have none */
export function companyForm({ text, tag }: { readonly text: string; readonly tag?: string }): Html {
  const fields = [
    ["Find a company", "q", text] as const,
    ...(tag === undefined ? [] : [["Tag", "tag", tag] as const]),
  ];
  return html`<form class="search" role="search" method="get" action="/">
    ${fields.map(
      ([label, name, value]) =>
        html`<label
          >${label} <input type="search" name="${name}" value="${value}" maxlength="64" autocomplete="off"
        /></label>`,
    )}
    <button>Find</button>
  </form>`;
}
