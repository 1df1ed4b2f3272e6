/** The look of the report: one stylesheet inside the page, on screens light and dark, on paper A4. */
import { createHash } from "node:crypto"
import { Html } from "../../Common/Html.ts"

const css = `
:root{color-scheme:light dark;--paper:#fbfaf7;--card:#fff;--ink:#1b2430;--soft:#5c6672;--line:#dfe3e6;--rule:#1b2430;
--good:#17633f;--good-back:#e8f3ec;--bad:#a3231b;--bad-back:#fbecea;--in:#1f6b4a;--out:#8d4a2b;--area:#dcebe3;--zebra:#f6f6f2}
@media (prefers-color-scheme:dark){:root{--paper:#10141a;--card:#171c24;--ink:#e6eaf0;--soft:#98a3b1;--line:#2b333e;--rule:#8893a1;
--good:#6fd0a0;--good-back:#13291f;--bad:#ff968c;--bad-back:#371a18;--in:#58b98a;--out:#d99a70;--area:#1b3a2d;--zebra:#1a2029}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:1080px;margin:0 auto;padding:40px 28px 60px}
h1,h2,.seal b{font-family:Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif;font-weight:600;letter-spacing:-.01em}
header{display:flex;gap:20px 32px;justify-content:space-between;align-items:flex-end;flex-wrap:wrap;border-bottom:2px solid var(--rule);
padding-bottom:18px}
header p{margin:0;color:var(--soft);overflow-wrap:anywhere}
.kicker{text-transform:uppercase;letter-spacing:.12em;font-size:11px;font-weight:600}
h1{font-size:38px;line-height:1.1;margin:4px 0 6px}
h2{font-size:21px;margin:0 0 4px;line-height:1.25}
h3{font-size:14px;margin:0 0 6px}h3.apart{margin-top:22px}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:18px 0 0;font-size:13px}a{color:inherit;text-underline-offset:3px}
.lede{color:var(--soft);margin:0 0 14px;max-width:78ch}
.seal{border:2px solid currentColor;border-radius:6px;padding:8px 18px 9px;text-align:center;min-width:150px}
.seal b{display:block;font-size:23px;letter-spacing:.06em;line-height:1.2}
.seal span{font-size:12px}
.good{color:var(--good)}.bad{color:var(--bad)}.soft{color:var(--soft)}
.facts{display:flex;flex-wrap:wrap;gap:4px 28px;margin:14px 0 0;padding:0}
.facts div{display:flex;gap:7px}.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere;min-width:0}
section{margin-top:40px}
.signed{display:flex;flex-wrap:wrap;gap:14px 40px;margin:8px 0 0}.signed div{min-width:0;flex:1 1 260px}.signed dt{color:var(--soft);font-size:12px}
.signed dd{margin:2px 0 0;overflow-wrap:anywhere}
.state{margin-top:22px;border-radius:8px;padding:14px 18px;background:var(--good-back)}
.state.is-draft{background:var(--bad-back)}
.state p{margin:0}.state p+p,.state p+ul{margin-top:6px}.state ul{margin:6px 0 0;padding-left:20px}
code{font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px}
th{font-weight:600;font-size:12px;color:var(--soft);text-align:left;vertical-align:bottom;border-bottom:1px solid var(--rule);
padding:4px 12px 5px 0}
td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
tbody th{font-weight:400;font-size:13px;color:var(--ink);border-bottom:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}th.num{white-space:normal}
tfoot td,tfoot th{font-weight:600;color:var(--ink);font-size:13px;border-top:1px solid var(--rule);border-bottom:3px double var(--rule)}
tfoot tr+tr td,tfoot tr+tr th{border-top:0}
.nowrap{white-space:nowrap;overflow-wrap:normal}.free{overflow-wrap:anywhere;min-width:14em}
.noted th,.noted td{border-bottom:0;padding-bottom:0}.note .free{color:var(--soft);padding:0 0 6px}
.cur{color:var(--soft);font-size:12px}
.more{color:var(--soft);margin:8px 0 0;font-size:13px}
.empty{color:var(--soft);margin:0}
.tick{font-weight:600;white-space:nowrap}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(310px,1fr));gap:16px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:13px 15px 11px;min-width:0}
figcaption{margin-bottom:9px}
figcaption b{display:block;font-size:12px;font-weight:400;color:var(--soft);line-height:1.35;overflow-wrap:anywhere}
figcaption span{font-variant-numeric:tabular-nums;font-weight:600;font-size:17px;letter-spacing:-.01em}
figcaption .cur{font-weight:400;font-size:12px;letter-spacing:0}
.charts.is-wide{grid-template-columns:repeat(auto-fill,minmax(min(100%,480px),1fr))}
.step{display:block;width:100%;height:92px;overflow:visible}
.step .area{fill:var(--area)}.step .line{fill:none;stroke:var(--in);stroke-width:1.8;vector-effect:non-scaling-stroke}
.step .zero{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3;vector-effect:non-scaling-stroke}
.axis{display:flex;justify-content:space-between;color:var(--soft);font-size:11.5px;font-variant-numeric:tabular-nums;gap:2px 10px;margin-top:4px;flex-wrap:wrap}.axis span{white-space:nowrap}
.bars{width:100%;font-size:12.5px;table-layout:auto}.bars th,.bars td{border:0;padding:3px 10px 3px 0;vertical-align:middle}
.bars thead th{padding-bottom:4px}.bars .track{width:42%;min-width:60px}.bars th[scope=row]{white-space:nowrap}
.bars td.track{padding-right:0}
.bar{display:block;width:100%;height:8px}.bar+.bar{margin-top:2px}
.bar .in{fill:var(--in)}.bar .out{fill:url(#hatch)}.bar .edge{fill:none;stroke:var(--out);stroke-width:1}
.hatch{stroke:var(--out);stroke-width:2.4}
.key{display:inline-block;width:14px;height:9px;margin-right:5px;vertical-align:0}
.key .in{fill:var(--in)}.key .out{fill:url(#hatch)}.key .edge{fill:none;stroke:var(--out)}
.legend{display:flex;gap:4px 18px;color:var(--soft);font-size:12.5px;margin:0 0 10px}
.hidden{position:absolute;width:0;height:0;overflow:hidden}
footer{margin-top:44px;border-top:1px solid var(--line);padding-top:12px;color:var(--soft);font-size:12.5px}
@media (max-width:640px){main{padding:22px 16px 40px}h1{font-size:30px}.charts{grid-template-columns:1fr}.seal{width:100%}
section{margin-top:30px}.facts{display:block}.facts div{margin-bottom:2px}
.stack thead{display:none}.stack tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}
.stack tbody th,.stack tfoot th{display:block;border:0;padding:0 0 3px;font-weight:600}
.stack td,.stack tfoot td{display:flex;justify-content:flex-end;gap:5px;border:0;padding:1px 0;text-align:right;white-space:normal;min-width:0}
.stack td::before{content:attr(data-label);color:var(--soft);font-weight:400;text-align:left;flex:none;margin-right:auto;padding-right:11px}.stack td:empty{display:none}
.stack .noted{border:0;padding-bottom:0}.stack .note{padding-top:2px}
.bars .track{display:none}.bars th[scope=row]{white-space:normal}.bars{font-size:11.5px}
.stack .free{display:block;text-align:left}.stack .free::before{content:none}}
@page{size:A4;margin:15mm 13mm 16mm;@bottom-right{content:counter(page) " / " counter(pages);font:9px system-ui,sans-serif;color:#555}}
@media print{:root{color-scheme:light;--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#c9c9c9;--rule:#000;--good:#0d4f30;
--good-back:#fff;--bad:#8a1710;--bad-back:#fff;--in:#0d4f30;--out:#7a3d20;--area:#e4e4e4}
html{-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{font-size:9.5pt}main{max-width:none;padding:0}
table{font-size:8pt}th,.cur{font-size:7.5pt}tbody th,tfoot td,tfoot th{font-size:8pt}td,th{padding-right:7px}.bars{font-size:8pt}
.wide{overflow:visible}.free{min-width:0}code{font-size:7.5pt}
thead{display:table-header-group}tfoot{display:table-row-group}tr,figure,.state,header,.lede,.legend{break-inside:avoid}
h2,h3,.lede,.legend,figcaption,.noted{break-after:avoid}.note{break-before:avoid}section{margin-top:22px}.state{border:1px solid currentColor}
.charts{display:block;font-size:0}.charts>figure{display:inline-block;width:calc(50% - 5px);vertical-align:top;margin:0 0 10px;font-size:9.5pt}
.charts>figure:nth-child(odd){margin-right:10px}.bars{font-size:7.2pt}.bars th,.bars td{padding:2px 6px 2px 0}.bars .track{width:20%;min-width:34px}figcaption span{font-size:11pt}.step{height:74px}}
`.trim()

/** The whole element; the hash covers its text. */
export const style = new Html(`<style>${css}</style>`)

export const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(css).digest("base64")}'; base-uri 'none'; form-action 'none'`
