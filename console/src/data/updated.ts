/**
 * What there is to say about a file of this page that is loaded when it is needed and could not be loaded: the control plane has another build by
 * now, or the network is down. What is on the page goes on working.
 */
let notice: string | undefined;
const listeners = new Set<() => void>();
let waiting: (() => void)[] = [];

export const UPDATED = 'Signalbox was updated. Reload this page to go on.';
export const NOT_LOADED = 'A file of Signalbox could not be loaded. The network or a proxy on the way may be down.';

/** What is said above the page. */
export function noticeNow(): string | undefined {
  return notice;
}

export function onNotice(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(what: string | undefined): void {
  notice = what;
  for (const listener of listeners) listener();
}

/** Whether the control plane serves another build than this page's: its document begins with another script. */
export async function isOtherBuild(): Promise<boolean> {
  // Whatever else answers in its place, such as the sign-in of a network, has no such script.
  const served = /\/assets\/index-[^"]+\.js/.exec((await readDocument()) ?? '')?.[0];
  return served !== undefined && document.querySelector(`script[src="${served}"]`) === null;
}

function readDocument(): Promise<string | undefined> {
  return fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } }).then(
    (answer) => (answer.ok ? answer.text() : undefined),
    () => undefined,
  );
}

/** @returns what to say about a file that could not be loaded; that there is another build is said above the page, too */
export async function whyMissing(): Promise<string> {
  if (!(await isOtherBuild())) return NOT_LOADED;
  tell(UPDATED);
  return UPDATED;
}

/** Says above the page that a part of it could not be loaded, until the person asks for it again. */
export async function untilAskedAgain(): Promise<void> {
  tell(await whyMissing());
  await new Promise<void>((resolve) => waiting.push(resolve));
}

export function askAgain(): void {
  tell(undefined);
  const asked = waiting;
  waiting = [];
  for (const again of asked) again();
}

/**
 * Reloads only when the control plane answers: otherwise the browser's own page would take the place of this one, and stay.
 * @returns whether it answers
 */
export async function reload(): Promise<boolean> {
  const isAnswered = (await readDocument()) !== undefined;
  if (isAnswered) location.reload();
  return isAnswered;
}
