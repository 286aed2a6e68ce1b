import { formatCount } from "../../../base/units.ts";
import { cut, html, type Html, type Piece } from "./html.ts";

/** A part of a page that is sent again when it changed. Its outermost element has the id. */
export interface Part {
  readonly id: string;
  readonly body: Html;
}

/** A titled part. `aside` stands beside the title. */
export function pagePart(id: string, title: string, body: Piece, aside: Piece = null): Part {
  return {
    id,
    body: html`<section id="${id}" class="card" aria-labelledby="${id}-title">
      <div class="head">
        <h2 id="${id}-title">${title}</h2>
        ${aside !== null && html`<p>${aside}</p>`}
      </div>
      ${body}
    </section>`,
  };
}

/** What stands where there is nothing to show. */
export function emptyText(text: Piece): Html {
  return html`<p class="none">${text}</p>`;
}

/** A table in a frame that scrolls by itself where it is too wide. The caption is for screen readers. */
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

/** A word on a coloured background; the word alone says it. */
export function badge(level: "good" | "look" | "bad" | "busy" | "plain", text: string): Html {
  return html`<span class="badge ${level}">${cut(text, 24)}</span>`;
}

/** A bar that shows a share from 0 to 1; what it says stands beside it as text. */
export function bar(share: number, level: string): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return html`<svg
    class="bar ${level}"
    viewBox="0 0 100 4"
    preserveAspectRatio="none"
    aria-hidden="true"
    focusable="false"
  >
    <rect class="rest" width="100" height="4" />
    <rect class="done" width="${width}" height="4" />
  </svg>`;
}

/** `1 record`, `12,500 records` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
