/** The lines of an asciicast v2 file: one header, then one line for each event. Pure. */

export interface CastHeader {
  cols: number;
  rows: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  title: string;
}

export function headerLine({ cols, rows, startedAt, title }: CastHeader): string {
  const header = { version: 2, width: cols, height: rows, timestamp: Math.floor(startedAt / 1000), title, env: { TERM: 'xterm-256color' } };
  return `${JSON.stringify(header)}\n`;
}

/** @param at milliseconds since the beginning */
export function outputLine(at: number, text: string): string {
  return `${JSON.stringify([seconds(at), 'o', text])}\n`;
}

export function resizeLine(at: number, cols: number, rows: number): string {
  return `${JSON.stringify([seconds(at), 'r', `${cols}x${rows}`])}\n`;
}

/** What stands in the output in place of bytes that the agent no longer had. */
export function gapText(bytes: number): string {
  return `\r\n[signalbox: ${bytes} bytes of output were lost]\r\n`;
}

function seconds(ms: number): number {
  return Math.round(Math.max(0, ms)) / 1000;
}

/** Length of the beginning of a UTF-8 character at the end of some bytes, whose rest may follow; 0 when there is none. */
export function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
