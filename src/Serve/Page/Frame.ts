/** The frame of every private page. */
import { type Html, html } from "../../Common/Html.ts"
import { style } from "./PageStyle.ts"

/** A tick in a circle, inline, so that nothing has to be loaded. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' r='15' fill='%231a7f4b'/%3E%3Cpath d='M9 17l5 5 9-11' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E"

/** A whole document. */
export const frame = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="${icon}">${style}</head>
<body>${body}</body></html>
`.text

/** The page that asks for the token. */
export const loginPage = (wrong: boolean): string =>
  frame(
    "Tieout: sign in",
    html`<main class="narrow"><section><h2>Tieout</h2>
<p class="soft">This page shows where the books stand. It opens with the token that the environment variable TIEOUT_STATUS_TOKEN holds on the server.</p>
${wrong ? html`<p class="bad" role="alert">This is not the token.</p>` : html``}
<form method="post" action="/login"><label>Token<input type="password" name="token" required autofocus autocomplete="current-password"></label><button>Open</button></form>
</section></main>`,
  )

/** A page with a message only. */
export const messagePage = (title: string, text: string): string =>
  frame(
    `Tieout: ${title}`,
    html`<main class="narrow"><section><h2>${title}</h2><p class="empty">${text}</p></section></main>`,
  )
