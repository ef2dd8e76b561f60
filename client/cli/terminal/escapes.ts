/** What the person asked of this program rather than of the router. */
export type Escape = 'end' | 'leave' | undefined;

const TILDE = 0x7e;
const DOT = 0x2e;
const AMPERSAND = 0x26;
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x0a]);

/** Finds `~.` and `~&` at the beginning of a line, as ssh does. `~~` there types one tilde. */
export class EscapeReader {
  #isLineStart = true;
  #hasTilde = false;

  /** @returns the bytes for the router, and what was asked for; bytes after that are dropped */
  read(bytes: Buffer): { bytes: Buffer; escape: Escape } {
    const out: number[] = [];
    for (const byte of bytes) {
      if (this.#hasTilde) {
        this.#hasTilde = false;
        if (byte === DOT || byte === AMPERSAND) return { bytes: Buffer.from(out), escape: byte === DOT ? 'end' : 'leave' };
        if (byte !== TILDE) out.push(TILDE);
      } else if (this.#isLineStart && byte === TILDE) {
        this.#hasTilde = true;
        continue;
      }
      out.push(byte);
      this.#isLineStart = LINE_ENDS.has(byte);
    }
    return { bytes: Buffer.from(out), escape: undefined };
  }
}

const ESC = String.fromCodePoint(0x1b);
/** Where is the cursor, what kind of terminal is this, and the like. */
const QUERIES = new RegExp(`${ESC}(?:Z|\\[[?>=]?[0-9;]*[nc])`, 'g');

/** Output of the past without questions to the terminal, whose answers the router would take for typed text. */
export function withoutQueries(output: Buffer): Buffer {
  return Buffer.from(output.toString('latin1').replaceAll(QUERIES, ''), 'latin1');
}
