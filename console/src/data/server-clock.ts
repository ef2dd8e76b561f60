/** A clock of a few seconds off is what computers have; more is told from the answers' dates, which are whole seconds. */
const TOLERATED_MS = 10_000;
/** An answer that took longer says too little about when it was given. */
const LONGEST_ANSWER_MS = 5000;
const SECOND_MS = 1000;

/** How far the control plane's clock is ahead of this browser's, milliseconds; 0 while they agree. */
let aheadMs = 0;

/**
 * The time of the control plane, milliseconds since 1970: what its records are compared with. With a browser's clock that is two hours fast, a
 * forward that is open would look ended, and a silence of an hour would last for three.
 */
export function serverNow(): number {
  return toServerTime(Date.now());
}

/** @param at of this browser's clock, milliseconds since 1970 */
export function toServerTime(at: number): number {
  return at + aheadMs;
}

/**
 * Learns from an answer of the control plane.
 * @param date its `Date`
 * @param sentAt when it was asked for, by this browser's clock; milliseconds since 1970
 * @param receivedAt when it came, the same
 */
export function noteServerTime(date: string | null, { sentAt, receivedAt }: { sentAt: number; receivedAt: number }): void {
  const given = Date.parse(date ?? '');
  if (Number.isNaN(given) || receivedAt < sentAt || receivedAt - sentAt > LONGEST_ANSWER_MS) return;
  const least = given - receivedAt;
  const most = given + SECOND_MS - sentAt;
  const agreesWith = (ahead: number, within: number): boolean => ahead >= least - within && ahead <= most + within;
  if (agreesWith(0, TOLERATED_MS)) aheadMs = 0;
  // What is known fits: a countdown does not jump with every answer.
  else if (!agreesWith(aheadMs, SECOND_MS)) aheadMs = (least + most) / 2;
}

/** `fetch` for a client of the control plane: learns its time from every answer. */
export const fetchWithDate: typeof fetch = async (input, init) => {
  const sentAt = Date.now();
  const answer = await fetch(input, init);
  noteServerTime(answer.headers.get('date'), { sentAt, receivedAt: Date.now() });
  return answer;
};
