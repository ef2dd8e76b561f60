import { createHash } from 'node:crypto';

/** Pages for people outside of the web application: no script, no external content. */

/** The colours of the web application (console/src/look/tokens.css), and its font where the machine has it. */
const STYLE = `
:root{color-scheme:light dark;--ink:#16191c;--soft:#51575d;--paper:#fbfbf9;--field:#fff;--hair:#e6e6e0;--edge:#85898c;--accent:#1a5acb;--on:#fff;--link:#1a5acb;--bad:#c1271c}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaec;--soft:#a3acb4;--paper:#0e1113;--field:#1a1f23;--hair:#20262a;--edge:#69737b;--accent:#2f68d2;--on:#fff;--link:#7fb3ff;--bad:#ff7b6e}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);font:15px/1.5 InterVariable,Inter,system-ui,sans-serif}
main{width:min(24rem,calc(100vw - 2rem));margin:1rem;padding:1rem 0 2rem}
main.wide{width:min(38rem,calc(100vw - 2rem))}
.brand{display:flex;align-items:center;gap:.5rem;margin:0 0 1.5rem;padding-bottom:.75rem;border-bottom:1px solid var(--hair);color:var(--ink);font-weight:650}
h1{margin:0 0 .5rem;font-size:1.35rem;font-weight:600;letter-spacing:-.013em}
a{color:var(--link)}
pre{margin:.75rem 0;padding:.75rem;white-space:pre;overflow-x:auto;color:var(--ink);background:var(--field);border:1px solid var(--hair);border-radius:.3rem;font:13px/1.5 ui-monospace,monospace}
p{margin:.5rem 0;color:var(--soft)}
ul{margin:.5rem 0;padding-left:1.25rem;color:var(--soft)}
label{display:block;margin-top:1rem;font-weight:600}
input{width:100%;margin-top:.25rem;padding:.5rem .6rem;font:inherit;font-weight:400;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:.3rem}
input[readonly]{color:var(--soft);border-style:dashed}
.hint{margin:.25rem 0 0;font-size:.875rem}
h1,strong,li{overflow-wrap:anywhere}
strong{color:var(--ink)}
summary{margin-top:1rem;color:var(--link);cursor:pointer}
button,.act{display:block;width:100%;margin-top:1rem;padding:.6rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;color:var(--on);background:var(--accent);border:1px solid var(--accent);border-radius:.3rem;cursor:pointer}
button.quiet{color:var(--ink);background:transparent;border-color:var(--edge)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
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

/** Two tracks and a signal, as in the web application. */
const MARK =
  '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="M1 4h18v5H1z" fill="currentColor"/><path d="M1 11h7v5H1zM14 11h5v5h-5z" fill="currentColor"/><path d="M9.4 13.6h3.2V16H9.4z" fill="#d23b2e"/></svg>';

/** A complete page. @param title as text @param content as HTML @param width `wide` for one with lines to copy */
export function page(title: string, content: string, width: 'narrow' | 'wide' = 'narrow'): string {
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
<main${width === 'wide' ? ' class="wide"' : ''}>
<p class="brand">${MARK}Signalbox</p>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}
