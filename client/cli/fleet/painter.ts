import type { Screen } from '../command.ts';
import { cutToWidth, displayWidth } from '../display-width.ts';
import { printable } from '../text.ts';

/** One line of a screen. Its text may quote routers: it is printed without control characters. */
export interface Line {
  text: string;
  style?: 'title' | 'quiet';
}

const ESC = '\u001b[';
/** Another screen, so that what stood on the terminal comes back; no cursor; no wrapping, so that a wide character never adds a line. */
const BEGIN = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const END = `${ESC}0m${ESC}?7h${ESC}?25h${ESC}?1049l`;

const TITLE = `${ESC}1m`;
const QUIET = `${ESC}2m`;
const PLAIN = `${ESC}0m`;
/** Words that a person looks for, in red, yellow and green of the 16 colours, which every terminal has in its own shade. */
const COLOUR_OF = new Map([
  ...['agent_away', 'critical', 'failed', 'unknown'].map((word) => [word, `${ESC}31m`] as const),
  ...['not_answering', 'warning', 'away'].map((word) => [word, `${ESC}33m`] as const),
  ...['answering', 'connected', 'completed'].map((word) => [word, `${ESC}32m`] as const),
]);

/** Draws whole frames, and leaves the terminal as it was. */
export class Painter {
  readonly #screen: Screen;
  readonly #write: (text: string) => void;
  #shown = '';
  #isOpen = false;

  constructor(screen: Screen, write: (text: string) => void) {
    this.#screen = screen;
    this.#write = write;
  }

  open(): void {
    this.#isOpen = true;
    this.#write(BEGIN);
  }

  /** Draws the lines that fit; the same frame again costs nothing. */
  draw(lines: readonly Line[]): void {
    const { columns, rows } = this.#screen.size();
    const body = lines.slice(0, rows).map((line) => this.#lineText(line, columns));
    // Behind a last line that fills the screen there is nothing to clear, and clearing would take its last character.
    const frame = `${ESC}H${body.join('\r\n')}${body.length < rows ? `\r\n${ESC}J` : ''}`;
    if (!this.#isOpen || frame === this.#shown) return;
    this.#shown = frame;
    this.#write(frame);
  }

  /** After the terminal's size has changed, what it shows is not known. */
  forget(): void {
    this.#shown = '';
  }

  close(): void {
    if (this.#isOpen) this.#write(END);
    this.#isOpen = false;
  }

  #lineText({ text, style }: Line, columns: number): string {
    const plain = text === '' ? '' : cutToWidth(printable(text), columns);
    // The cursor stays on the last cell of a full line: clearing from there would take its last character.
    const rest = displayWidth(plain) < columns ? `${ESC}K` : '';
    if (!this.#screen.hasColour) return plain + rest;
    if (style === 'title') return `${TITLE}${plain}${PLAIN}${rest}`;
    if (style === 'quiet') return `${QUIET}${plain}${PLAIN}${rest}`;
    return colourful(plain) + rest;
  }
}

function colourful(text: string): string {
  return text.replaceAll(/\w+/g, (word) => {
    const colour = COLOUR_OF.get(word);
    return colour === undefined ? word : `${colour}${word}${PLAIN}`;
  });
}
