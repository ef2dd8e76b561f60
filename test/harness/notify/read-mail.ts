/** Mails as they lie in a mailbox. */

export interface ReadMail {
  headers: Record<string, string>;
  parts: { type: string; body: string }[];
}

/** Reads what nodemailer writes: unfolded headers with encoded words, parts in quoted-printable or base64. */
export function readMail(source: string): ReadMail {
  const { headers, body } = split(source);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1];
  const parts = boundary === undefined ? [] : body.split(`--${boundary}`).slice(1, -1);
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, decodeWords(value)])),
    parts: parts.map((part) => {
      const { headers, body } = split(part.replace(/^\r?\n/, ''));
      return { type: (headers['content-type'] ?? '').split(';')[0]!, body: decodeBody(body, headers['content-transfer-encoding'] ?? '') };
    }),
  };
}

function split(source: string): { headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = source.split(/\r?\n\r?\n/);
  const lines = head.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: rest.join('\n\n') };
}

function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_word, kind: string, text: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(text, 'base64').toString() : unquote(text.replaceAll('_', ' ')),
    );
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  return encoding === 'quoted-printable' ? unquote(body.replaceAll(/=\r?\n/g, '')) : body;
}

function unquote(text: string): string {
  return Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}
