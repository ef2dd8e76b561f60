import { SyntaxFailure } from './errors.ts';

/** Nesting a source may have; RouterOS gives up earlier, a stack overflow here would be our own bug. */
const maxDepth = 128;

/** A reading position in a script source. Columns are 1-based byte offsets, as RouterOS counts them. */
export class Cursor {
  readonly source: string;
  index = 0;
  private depth = 0;
  private counted = { index: 0, line: 1 };

  constructor(source: string) {
    this.source = source;
  }

  get atEnd(): boolean {
    return this.index >= this.source.length;
  }

  peek(offset = 0): string {
    return this.source[this.index + offset] ?? '';
  }

  /** Consumes what the sticky pattern matches here; `undefined` and no move when it does not. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.index;
    const match = pattern.exec(this.source);
    if (match === null) return undefined;
    this.index += match[0].length;
    return match[0];
  }

  looksAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.index;
    return pattern.test(this.source);
  }

  takeText(text: string): boolean {
    if (!this.source.startsWith(text, this.index)) return false;
    this.index += text.length;
    return true;
  }

  /** Spaces, tabs and continued lines: what separates words of one command. */
  skipBlanks(): void {
    this.take(/(?:[ \t]|\\\r?\n)+/y);
  }

  /** Everything between two commands: white space, `;` and comments (only where a command could start). */
  skipSeparators(): void {
    this.take(/(?:[ \t\r\n;]|\\\r?\n|#[^\n]*)+/y);
  }

  /** White space inside parentheses and braces, where a line end means nothing. */
  skipSpace(): void {
    this.take(/(?:[ \t\r\n]|\\\r?\n)+/y);
  }

  lineAt(index: number): number {
    // Positions mostly ascend, so counting continues from the last answer.
    if (index < this.counted.index) this.counted = { index: 0, line: 1 };
    let { line } = this.counted;
    for (let at = this.source.indexOf('\n', this.counted.index); at !== -1 && at < index; at = this.source.indexOf('\n', at + 1)) line += 1;
    this.counted = { index, line };
    return line;
  }

  position(index = this.index): { line: number; column: number } {
    const start = index === 0 ? 0 : this.source.lastIndexOf('\n', index - 1) + 1;
    return { line: this.lineAt(index), column: Buffer.byteLength(this.source.slice(start, index)) + 1 };
  }

  fail(what: string, index = this.index): SyntaxFailure {
    return new SyntaxFailure(what, this.position(index));
  }

  /** Runs a nested production; deep nesting is an error of the source, not of us. */
  nested<T>(parse: () => T): T {
    if (this.depth >= maxDepth) throw this.fail('syntax error');
    this.depth += 1;
    try {
      return parse();
    } finally {
      this.depth -= 1;
    }
  }
}
