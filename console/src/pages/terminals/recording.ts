/** One event of an asciicast v2 file: `o` is output, `r` a new size of the window. */
export interface CastEvent {
  at: number;
  kind: 'o' | 'r';
  text: string;
}

export interface Cast {
  cols: number;
  rows: number;
  events: readonly CastEvent[];
}

/** Longest pause that a player makes, seconds: people think longer than that. */
const LONGEST_PAUSE_S = 2;

/** Reads a recording; the pauses in it are shortened. @throws SyntaxError when it is none */
export function readCast(file: string): Cast {
  const [first = '', ...rest] = file.split('\n');
  const { width, height } = JSON.parse(first) as { width: number; height: number };
  let at = 0;
  let before = 0;
  const events = rest.filter(Boolean).map((line): CastEvent => {
    const [time, kind, text] = JSON.parse(line) as [number, 'o' | 'r', string];
    at += Math.min(Math.max(0, time - before), LONGEST_PAUSE_S);
    before = time;
    return { at, kind, text };
  });
  return { cols: width, rows: height, events };
}

/** `120x40`. */
export function readSize(text: string): { cols: number; rows: number } {
  const [cols, rows] = text.split('x').map(Number);
  return { cols: cols || 80, rows: rows || 24 };
}
