import { displayWidth } from '../../client/cli/display-width.ts';

const clusters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const ESC = '\u001b';
const SEQUENCE = new RegExp(`^${ESC}\\[([?\\d;]*)([A-Za-z])`);
const UNFINISHED = new RegExp(`^(?:\\r+|${ESC}(?:\\[[?\\d;]*)?)$`);

/** A terminal that knows the few sequences which `signalbox top` uses. Any other control character is an error. */
export class SmallTerminal {
  columns: number;
  rows: number;
  isOtherScreen = false;
  hasCursor = true;
  wraps = true;
  isStyled = false;
  /** Cells of the screen: a wide character has an empty cell behind it. */
  #cells: string[][] = [];
  #unfinished = '';
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
    this.#clear();
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.#clear();
  }

  get lines(): string[] {
    return this.#cells.map((row) => row.join('').trimEnd());
  }

  write(text: string): void {
    let rest = this.#unfinished + text;
    this.#unfinished = '';
    while (rest !== '') {
      // The rest of the sequence comes with the next write.
      if (UNFINISHED.test(rest)) {
        this.#unfinished = rest;
        return;
      }
      const [sequence, words, end] = SEQUENCE.exec(rest) ?? [];
      // A line end passes through the settings of a terminal, which may put another return in front.
      const [lineEnd] = /^\r+\n/.exec(rest) ?? [];
      const [printed] = /^[^\p{Cc}]+/u.exec(rest) ?? [];
      if (sequence !== undefined) this.#control(words!, end!);
      else if (lineEnd !== undefined) this.#newLine();
      else if (printed !== undefined) this.#print(printed);
      else throw new Error(`a control character for the terminal: ${JSON.stringify(rest.slice(0, 20))}`);
      const read = sequence ?? lineEnd ?? printed!;
      rest = rest.slice(read.length);
    }
  }

  #control(words: string, end: string): void {
    const isOn = end === 'h';
    if (end === 'm') this.isStyled = words !== '0';
    else if (end === 'H' && words === '') [this.#row, this.#column] = [0, 0];
    else if (end === 'K' && words === '') this.#clearLine(this.#row, this.#column);
    else if (end === 'J' && words === '') {
      this.#clearLine(this.#row, this.#column);
      for (let row = this.#row + 1; row < this.rows; row += 1) this.#clearLine(row, 0);
    } else if (words === '?1049') {
      this.isOtherScreen = isOn;
      if (isOn) this.#clear();
    } else if (words === '?25') this.hasCursor = isOn;
    else if (words === '?7') this.wraps = isOn;
    else throw new Error(`an unknown sequence: ${words}${end}`);
  }

  #print(text: string): void {
    for (const { segment } of clusters.segment(text)) {
      const width = displayWidth(segment);
      if (this.#column + width > this.columns) throw new Error(`a line is longer than ${this.columns} cells: ${text}`);
      this.#cells[this.#row]![this.#column] = segment;
      if (width === 2) this.#cells[this.#row]![this.#column + 1] = '';
      // The cursor stays on the last cell.
      this.#column = Math.min(this.#column + width, this.columns);
    }
  }

  #newLine(): void {
    if (this.#row === this.rows - 1) throw new Error('the screen scrolls');
    [this.#row, this.#column] = [this.#row + 1, 0];
  }

  #clearLine(row: number, from: number): void {
    for (let column = Math.min(from, this.columns - 1); column < this.columns; column += 1) this.#cells[row]![column] = ' ';
  }

  #clear(): void {
    this.#cells = Array.from({ length: this.rows }, () => Array.from({ length: this.columns }, () => ' '));
    [this.#row, this.#column] = [0, 0];
  }
}
