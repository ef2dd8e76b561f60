const ESC = String.fromCodePoint(0x1b);
/** Reports of the cursor, the terminal, a mode, the window (CSI …), a setting (DCS …) or a colour (OSC …): ECMA-48, and xterm's "Control Sequences". */
const ANSWER = new RegExp(`^${ESC}(?:\\[[?>]?[0-9;]*(?:[cnRt]|\\$y)|[P\\]])`);

/** Whether the screen says this by itself, because the router has asked it, and not the person at it. */
export function isAnswer(text: string): boolean {
  return ANSWER.test(text);
}
