/** `ok` needs no action, `WARN` works but may be unintended, `FAIL` will not work. */
export type State = 'ok' | 'WARN' | 'FAIL';

/** One line of what `signalbox doctor` prints. */
export interface Finding {
  check: string;
  state: State;
  /** What was found, and what to do about it. */
  detail: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail };
}

export function warn(check: string, detail: string): Finding {
  return { check, state: 'WARN', detail };
}

export function fail(check: string, detail: string): Finding {
  return { check, state: 'FAIL', detail };
}
