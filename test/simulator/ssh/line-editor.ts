/** What a key did to the line. */
export type Edit =
  | { kind: 'none' }
  | { kind: 'typed'; text: string }
  | { kind: 'redraw' }
  | { kind: 'enter'; line: string }
  | { kind: 'complete' }
  | { kind: 'interrupt' }
  | { kind: 'end' };

/** Lines that are remembered, as on a router. */
const MOST_REMEMBERED = 100;
/** Longest line: what `:execute` takes. */
const MAX_LINE = 65_536;

const NONE: Edit = { kind: 'none' };
const REDRAW: Edit = { kind: 'redraw' };

/** One line being typed, and those typed before. Pure: it says what to draw. */
export class LineEditor {
  line = '';
  /** Characters before the cursor. */
  at = 0;
  readonly #history: string[] = [];
  #back = 0;
  #draft = '';

  /** @param key one character, or one whole escape sequence */
  press(key: string): Edit {
    const edit = KEYS[key];
    if (edit) return edit(this);
    return key >= ' ' && !key.startsWith('\u001b') ? this.#type(key) : NONE;
  }

  /** Replaces the text from `from` to the cursor. */
  replace(from: number, text: string): void {
    this.line = this.line.slice(0, from) + text + this.line.slice(this.at);
    this.at = from + text.length;
  }

  enter(): Edit {
    const { line } = this;
    if (line.trim() !== '' && this.#history.at(-1) !== line) this.#history.push(line);
    if (this.#history.length > MOST_REMEMBERED) this.#history.shift();
    this.clear();
    return { kind: 'enter', line };
  }

  clear(): void {
    this.line = '';
    this.at = 0;
    this.#back = 0;
  }

  move(to: number): Edit {
    this.at = Math.min(Math.max(to, 0), this.line.length);
    return REDRAW;
  }

  cut(from: number, to: number): Edit {
    const begin = Math.max(0, from);
    this.line = this.line.slice(0, begin) + this.line.slice(to);
    this.at = begin;
    return REDRAW;
  }

  /** One line back in the history, or forward to the one being typed. */
  recall(step: 1 | -1): Edit {
    const back = this.#back + step;
    if (back < 0 || back > this.#history.length) return NONE;
    if (this.#back === 0) this.#draft = this.line;
    this.#back = back;
    this.line = back === 0 ? this.#draft : this.#history[this.#history.length - back]!;
    this.at = this.line.length;
    return REDRAW;
  }

  #type(text: string): Edit {
    if (this.line.length + text.length > MAX_LINE) return NONE;
    const isAtEnd = this.at === this.line.length;
    this.replace(this.at, text);
    return isAtEnd ? { kind: 'typed', text } : REDRAW;
  }
}

const KEYS: Readonly<Record<string, (editor: LineEditor) => Edit>> = {
  '\r': (editor) => editor.enter(),
  '\n': (editor) => editor.enter(),
  '\t': () => ({ kind: 'complete' }),
  '\u0003': () => ({ kind: 'interrupt' }),
  '\u0004': (editor) => (editor.line === '' ? { kind: 'end' } : editor.cut(editor.at, editor.at + 1)),
  '\u007f': (editor) => editor.cut(editor.at - 1, editor.at),
  '\b': (editor) => editor.cut(editor.at - 1, editor.at),
  '\u0001': (editor) => editor.move(0),
  '\u0005': (editor) => editor.move(editor.line.length),
  '\u000b': (editor) => editor.cut(editor.at, editor.line.length),
  '\u0015': (editor) => editor.cut(0, editor.at),
  '\u0017': (editor) => editor.cut(editor.line.slice(0, editor.at).search(/\S*\s*$/), editor.at),
  '\u000c': () => REDRAW,
  '\u001b[A': (editor) => editor.recall(1),
  '\u001b[B': (editor) => editor.recall(-1),
  '\u001b[C': (editor) => editor.move(editor.at + 1),
  '\u001b[D': (editor) => editor.move(editor.at - 1),
  '\u001b[H': (editor) => editor.move(0),
  '\u001b[1~': (editor) => editor.move(0),
  '\u001b[F': (editor) => editor.move(editor.line.length),
  '\u001b[4~': (editor) => editor.move(editor.line.length),
  '\u001b[3~': (editor) => editor.cut(editor.at, editor.at + 1),
};

const ESC = String.fromCodePoint(0x1b);
/** CR LF as one, a whole escape sequence, or one character. */
const KEY = new RegExp(`\\r\\n|${ESC}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|[^[O])|[^${ESC}]`, 'gsu');
/** The longest beginning of an escape sequence that is kept until its rest comes. */
const MAX_REST = 32;

/** Splits typed text into keys: characters, CR LF as one, and whole escape sequences. An unfinished sequence is returned as `rest`. */
export function readKeys(text: string): { keys: string[]; rest: string } {
  const keys = text.match(KEY) ?? [];
  const length = keys.reduce((sum, key) => sum + key.length, 0);
  return { keys: keys.map(asOneKey), rest: text.slice(length, length + MAX_REST) };
}

/** The same key has two forms in some terminals. */
function asOneKey(key: string): string {
  if (key === '\r\n') return '\r';
  return key.startsWith(`${ESC}O`) ? `${ESC}[${key.slice(2)}` : key;
}
