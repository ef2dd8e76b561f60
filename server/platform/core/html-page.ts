import { createHash } from 'node:crypto';

/** Pages for people outside of the web application: no script, no external content. */

const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--soft:#5a6775;--paper:#f3f5f7;--card:#fff;--line:#ccd3da;--accent:#0b5cad;--bad:#a3231b}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--soft:#a3afbb;--paper:#11161c;--card:#1a2129;--line:#3a4652;--accent:#6cb2f5;--bad:#ff8f86}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:min(24rem,calc(100vw - 2rem));margin:1rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.brand{margin:0 0 1rem;color:var(--soft);font-weight:600}
h1{margin:0 0 .5rem;font-size:1.35rem}
p{margin:.5rem 0;color:var(--soft)}
ul{margin:.5rem 0;padding-left:1.25rem;color:var(--soft)}
label{display:block;margin-top:1rem;font-weight:600}
input{width:100%;margin-top:.25rem;padding:.6rem;font:inherit;font-weight:400;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.3rem}
input[readonly]{color:var(--soft);border-style:dashed}
.hint{margin:.25rem 0 0;font-size:.875rem}
h1,strong,li{overflow-wrap:anywhere}
strong{color:var(--ink)}
button{width:100%;margin-top:1rem;padding:.7rem;font:inherit;font-weight:600;color:var(--card);background:var(--accent);border:0;border-radius:.3rem;cursor:pointer}
button.quiet{color:var(--ink);background:transparent;border:1px solid var(--line)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[role=alert]{color:var(--bad);font-weight:600}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** No `form-action`: Chromium would apply it to the redirect to the client. Everything else is forbidden. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for a page, also inside quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);
}

/** A complete page. @param title as text @param content as HTML */
export function page(title: string, content: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} – Signalbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">Signalbox</p>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}
