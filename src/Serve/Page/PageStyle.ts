/** The look of the private pages. One stylesheet inside the page, which the Content-Security-Policy admits by its hash. */
import { createHash } from "node:crypto"
import { Html } from "../../Common/Html.ts"

const css = `
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--ink:#16202e;--soft:#5b6675;--line:#e2e6ec;--good:#156a3e;
--good-back:#e6f5ec;--late:#8a5a00;--late-back:#fdf3dc;--bad:#b3261e;--bad-back:#fdeceb;--bar:#9fb2cc;--link:#1d5fc4}
@media (prefers-color-scheme:dark){:root{--back:#0e131a;--card:#161d27;--ink:#e7ecf3;--soft:#9aa7b8;--line:#28323f;
--good:#5fd39a;--good-back:#12301f;--late:#f0c060;--late-back:#33280f;--bad:#ff8f86;--bad-back:#3b1917;--bar:#5b7396;
--link:#86b4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{display:flex;align-items:baseline;gap:12px;padding-top:24px;padding-bottom:14px}
header b{font-size:19px;letter-spacing:-.01em}
header span,footer,.soft{color:var(--soft)}
header span{margin-left:auto;font-size:13px}
footer{font-size:13px;padding-top:8px;padding-bottom:40px}
h2{font-size:16px;margin:0 0 12px;letter-spacing:-.01em}
h3{font-size:14px;margin:16px 0 4px;font-weight:600}
h3 small,h2 small{font-weight:400;color:var(--soft);font-size:13px;margin-left:6px}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;margin:0 0 16px}
.verdict{display:flex;gap:14px;align-items:center;font-size:20px;line-height:1.35;font-weight:600;letter-spacing:-.01em}
.verdict svg{flex:none;width:34px;height:34px}
.verdict circle{fill:currentColor}
.verdict path{fill:none;stroke:var(--card);stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
.verdict p{margin:0}
.is-good{background:var(--good-back);color:var(--good);border-color:transparent}
.is-late{background:var(--late-back);color:var(--late);border-color:transparent}
.is-bad{background:var(--bad-back);color:var(--bad);border-color:transparent}
.is-none{color:var(--soft)}
.facts{padding:0;overflow:hidden}.facts dl{display:grid;grid-template-columns:repeat(5,1fr)}
.facts div{padding:14px 20px;border-left:1px solid var(--line)}
.facts div:first-child{border-left:0}
dl{margin:0}dt{color:var(--soft);font-size:13px}dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%}
th{font-weight:500;font-size:13px;color:var(--soft);text-align:left;padding:0 16px 6px 0;white-space:nowrap}
td{padding:8px 16px 8px 0;border-top:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
td.num+td:not(.num),th.num+th:not(.num){padding-left:14px}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.num{min-width:4em}
td.lead,td.long{min-width:9em;overflow-wrap:anywhere}td.long{min-width:14em}
.amount{display:block}
.amount i{font-style:normal;color:var(--soft);display:inline-block;width:3.6em;padding-left:.5em;text-align:left}
.good{color:var(--good)}.late{color:var(--late)}.bad{color:var(--bad)}
.good,.late,.bad{font-weight:600}
.tag{display:inline-block;font-size:12px;font-weight:600;border-radius:99px;padding:1px 9px;white-space:nowrap}
.tag.good{background:var(--good-back)}.tag.late{background:var(--late-back)}.tag.bad{background:var(--bad-back)}
.tag.plain{color:var(--soft);background:var(--back)}
.chart{display:block;width:100%;height:96px;margin-bottom:6px}
.chart rect{fill:var(--bar)}.chart .done{fill:var(--good)}.chart .failed,.chart .abandoned{fill:var(--bad)}
.chart .stopped{fill:var(--late)}.chart line{stroke:var(--line)}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;color:var(--soft);margin-bottom:12px}
details{border-top:1px solid var(--line)}
h3+details{border-top:0}
summary{cursor:pointer;padding:7px 0 7px 18px;position:relative;display:flex;gap:2px 20px;justify-content:space-between;
align-items:baseline;list-style:none}
summary::before{content:"";position:absolute;left:2px;top:14px;border:solid var(--soft);border-width:0 1.5px 1.5px 0;width:6px;
height:6px;transform:rotate(-45deg)}
details[open]>summary::before{transform:rotate(45deg)}
summary span{font-size:13px;white-space:nowrap}
summary::-webkit-details-marker{display:none}
summary:hover p{text-decoration:underline;text-decoration-color:var(--line);text-underline-offset:3px}
summary p{margin:0;overflow-wrap:anywhere}
.evidence{margin:0 0 12px;padding:12px 16px;background:var(--back);border-radius:8px;font-size:13px}
.evidence dl{display:grid;grid-template-columns:auto 1fr;gap:1px 16px}
.evidence dd{font-weight:400;overflow-wrap:anywhere;min-width:0}
.d1{padding-left:14px}.d2{padding-left:28px}.d3{padding-left:42px}
code{font:12.5px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.evidence p{margin:8px 0 0;color:var(--soft)}
a{color:var(--link);text-decoration:none}a:hover,footer a{text-decoration:underline}
.files a{margin-right:14px;display:inline-block;overflow-wrap:anywhere}
.when{white-space:nowrap}
.more{margin:10px 0 0;color:var(--soft)}
.empty{margin:0;color:var(--soft)}
form{display:flex;gap:10px;flex-wrap:wrap;align-items:end}
label{flex:1 1 240px;font-size:13px;color:var(--soft)}
input{display:block;width:100%;font:inherit;padding:8px 10px;margin-top:4px;border:1px solid var(--line);border-radius:8px;
background:var(--back);color:var(--ink)}
button{font:inherit;font-weight:600;padding:8px 18px;border:0;border-radius:8px;background:var(--link);color:var(--card);
cursor:pointer}
.narrow{max-width:520px;padding-top:8vh}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
@media (max-width:820px){.facts dl{grid-template-columns:1fr 1fr}.facts div:nth-child(odd){border-left:0}
.facts div:nth-child(n+3){border-top:1px solid var(--line)}.facts div:last-child{grid-column:1/-1}}
@media (max-width:940px){main,header,footer{padding-left:14px;padding-right:14px}section{padding:14px;border-radius:10px}
.facts{padding:0}.facts div{padding:10px 14px}.verdict{font-size:17px}
.stack thead{display:none}.stack tr{display:block;border-top:1px solid var(--line);padding:8px 0}
.stack tr:first-child{border-top:0;padding-top:0}.stack td,.stack td.num+td{display:flex;justify-content:space-between;gap:16px;border:0;
padding:2px 0!important;text-align:right}.stack td::before{content:attr(data-label);color:var(--soft);font-size:13px;flex:none;
text-align:left}.stack td>*{min-width:0;overflow-wrap:anywhere}.stack td.lead{display:block;font-weight:600;text-align:left}.stack td.lead::before{content:none}
.stack td.files{flex-wrap:wrap;justify-content:flex-start;gap:2px 14px}.stack td.files::before{content:none}
.files a{margin:0;text-align:left;min-width:0}.stack td.long{display:block!important;text-align:left!important}.stack td.long::before{content:none}
summary{display:block}summary span{white-space:normal;overflow-wrap:anywhere}.evidence{padding:10px 12px}
.evidence dl{grid-template-columns:1fr}.evidence dd{padding-bottom:4px}.chart{height:72px}}
`.trim()

/** The whole element; the hash covers its text. */
export const style = new Html(`<style>${css}</style>`)

export const styleHash = `sha256-${createHash("sha256").update(css).digest("base64")}`
