import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { mailOf } from '../../server/outbound/notifications/channels/email/mail.ts';
import { proofMessage } from '../../server/outbound/notifications/proofs/message.ts';
import { LOCALES } from '../../server/outbound/notifications/texts/types.ts';
import type { Locale } from '../../server/outbound/notifications/texts/types.ts';
import { messageOf, reader } from '../../test/harness/notify/views.ts';
import { MAILS } from './mail-list.ts';

/**
 * `npm run pictures -- --mails`: pictures of mails as people see them, in each language, light and dark, on a desk and on a telephone. They go to
 * a folder that git ignores, for somebody to look at; `mails.txt` there has the headers and what stands beside the HTML.
 */

const folder = path.resolve(import.meta.dirname, '..', '..', '.mails');
const WIDTHS = [700, 390];
const FROM = { name: 'Signalbox', address: 'signalbox@example.org' };
const LINK = `https://signalbox.example.com/mail/leave/${'x'.repeat(120)}`;

/** @param only names of mails; undefined: all */
export async function takeMails(executablePath: string, only: readonly string[] | undefined): Promise<void> {
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'] });
  try {
    const told: string[] = [];
    for (const name of ['proof', ...Object.keys(MAILS)])
      if (only === undefined || only.includes(name))
        for (const locale of LOCALES) {
          const mail = mailNamed(name, locale);
          told.push(`==== ${name}, ${locale}`, `Subject: ${mail.subject}`, headersOf(mail), mail.text);
          await takeMail(browser, mail.html, `${name}-${locale}`);
        }
    await writeFile(path.join(folder, 'mails.txt'), told.join('\n'));
    process.stdout.write(`${path.relative(process.cwd(), folder)}\n`);
  } finally {
    await browser.close();
  }
}

function mailNamed(name: string, locale: Locale): ReturnType<typeof mailOf> {
  const view = MAILS[name];
  if (view === undefined) return proofMail(locale);
  // A second mail of the thread answers the first one.
  const previousIds = view.kind === 'open' ? [] : ['0199c7a1-0000-7000-8000-000000000001'];
  return mailOf({ ...messageOf(view, { locale, previousIds }), unsubscribeUrl: LINK }, FROM, view.at);
}

function proofMail(locale: Locale): ReturnType<typeof mailOf> {
  const words = { id: '0199c7a1-0000-7000-8000-0000000000aa', by: 'ana@example.org', team: 'Northwind', at: Date.now() };
  const rest = { code: null, url: 'https://signalbox.example.com/mail/confirm/abc', validMs: 86_400_000, reader: reader(locale) };
  return mailOf(proofMessage({ ...words, ...rest }), FROM, words.at);
}

function headersOf({ messageId, inReplyTo, references, headers }: ReturnType<typeof mailOf>): string {
  const all = { 'Message-ID': messageId, 'In-Reply-To': inReplyTo, References: references.join(' '), ...headers };
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

async function takeMail(browser: Browser, html: string, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of WIDTHS) {
      const page = await browser.newPage({ viewport: { width, height: 300 }, colorScheme });
      await page.setContent(html);
      const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
      if (isCut) process.stderr.write(`${name}: wider than ${width} px\n`);
      await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      await page.close();
    }
}
