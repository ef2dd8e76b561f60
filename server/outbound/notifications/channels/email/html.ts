import { fitRows } from '../../texts/rows.ts';
import type { Text, Tone } from '../../texts/types.ts';

/**
 * The mail as HTML: one column without tables, inline styles, light and dark, no images, nothing loaded from anywhere. Mail programs
 * that ignore the style sheet show the light colours of the inline styles.
 */

/** Gmail cuts a mail at 102 kB; ours stays far below, whatever the names are. */
export const MAX_HTML_BYTES = 30_000;
/** Rows are at most ten of about 300 characters; this holds them with every character escaped. */
const ROWS_BUDGET = 18_000;

interface Colours {
  bar: string;
  /** Of the word: at least 4.5:1 on the card. */
  light: string;
  dark: string;
}

const TONES: Record<Tone, Colours> = {
  critical: { bar: '#d92d20', light: '#b42318', dark: '#ff8a80' },
  warning: { bar: '#dc6803', light: '#93370d', dark: '#fdb022' },
  info: { bar: '#1570ef', light: '#175cd3', dark: '#84caff' },
  good: { bar: '#079455', light: '#067647', dark: '#47cd89' },
};

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

export interface HtmlMail {
  text: Text;
  unsubscribeUrl: string | undefined;
}

export function renderHtml({ text, unsubscribeUrl }: HtmlMail): string {
  const { labels, tone } = text;
  const colours = TONES[tone];
  const rows = fitRows(text, ROWS_BUDGET, (row) => escapeHtml(row).length + ROW_MARKUP);
  return [
    `<!doctype html>`,
    `<html lang="${text.locale}">`,
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`,
    `<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">`,
    `<title>${escapeHtml(text.subject)}</title>`,
    `<style>${styleSheet(colours)}</style></head>`,
    `<body class="page" style="margin:0;padding:0;background:#f2f4f7;font-family:${FONT};-webkit-text-size-adjust:100%">`,
    `<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(text.lines[0] ?? '')}</div>`,
    `<div style="max-width:600px;margin:0 auto;padding:24px 12px">`,
    `<div class="card" style="background:#ffffff;border-top:4px solid ${colours.bar};border-radius:4px;padding:24px 24px 28px;color:#1d2939">`,
    `<p class="tone" style="margin:0 0 8px;font-size:13px;font-weight:700;color:${colours.light}">${escapeHtml(labels.tone)}</p>`,
    `<h1 dir="auto" style="margin:0 0 16px;font-size:20px;line-height:1.35;font-weight:600;overflow-wrap:anywhere">${escapeHtml(text.first)}</h1>`,
    ...text.lines.map(
      (line) => `<p dir="auto" style="margin:0 0 10px;font-size:15px;line-height:1.5;overflow-wrap:anywhere">${escapeHtml(line)}</p>`,
    ),
    rows.length === 0 ? '' : list(rows),
    `<p style="margin:22px 0 0"><a class="button" href="${escapeHtml(text.url)}" style="display:inline-block;background:#1d2939;color:#ffffff;`,
    `text-decoration:none;font-size:15px;font-weight:600;padding:11px 18px;border-radius:4px">${escapeHtml(labels.open)}</a></p>`,
    text.acknowledgeUrl === null ? '' : acknowledgeLink(text.acknowledgeUrl, labels.acknowledge),
    `</div>`,
    footer(labels.reason, labels.unsubscribe, unsubscribeUrl),
    `</div></body></html>`,
  ].join('\n');
}

function acknowledgeLink(url: string, label: string): string {
  const style = 'color:inherit;font-size:15px;font-weight:600';
  return `<p style="margin:16px 0 0"><a href="${escapeHtml(url)}" style="${style}">${escapeHtml(label)}</a></p>`;
}

/** Bytes of markup around one row, rounded up. */
const ROW_MARKUP = 150;

function list(rows: readonly string[]): string {
  const items = rows.map((row) => {
    const style = 'padding:8px 0;border-top:1px solid #e4e7ec;font-size:14px;line-height:1.45;overflow-wrap:anywhere';
    return `<li class="row" dir="auto" style="${style}">${escapeHtml(row)}</li>`;
  });
  return `<ul style="list-style:none;margin:18px 0 0;padding:0">\n${items.join('\n')}\n</ul>`;
}

function footer(reason: string, unsubscribe: string, url: string | undefined): string {
  const link = url === undefined ? '' : ` <a class="muted" href="${escapeHtml(url)}" style="color:#475467">${escapeHtml(unsubscribe)}</a>`;
  const style = 'margin:16px 12px 0;font-size:12px;line-height:1.5;color:#475467;overflow-wrap:anywhere';
  return `<p class="muted" dir="auto" style="${style}">${escapeHtml(reason)}${link}</p>`;
}

function styleSheet({ dark }: Colours): string {
  const rules = [
    '.page{background:#101418!important}',
    '.card{background:#1b2126!important;color:#e4e7ec!important}',
    `.tone{color:${dark}!important}`,
    '.row{border-top-color:#343c44!important}',
    '.button{background:#e4e7ec!important;color:#101418!important}',
    '.muted{color:#98a2b3!important}',
  ];
  return `:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${rules.join('')}}`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
