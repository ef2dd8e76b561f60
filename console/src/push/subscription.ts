const WORKER = '/push-worker.js';
/** The id of this browser's address at the control plane: without it nobody could say which of several is this one. */
const KEPT = 'signalbox-push-contact';

/** A subscription as `POST /api/me/contacts` takes it. */
export interface Subscribed {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** Why a browser cannot show notifications. */
export class PushRefused extends Error {}

export function canSubscribe(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
}

/** The id of this browser's address, if it is subscribed. */
export async function thisBrowser(): Promise<string | null> {
  const registration = await navigator.serviceWorker.getRegistration(WORKER);
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? localStorage.getItem(KEPT) : null;
}

export function keepContact(id: string): void {
  localStorage.setItem(KEPT, id);
}

/** Asks the person, starts the worker and subscribes. @throws PushRefused with what the person can do */
export async function subscribe(publicKey: string): Promise<Subscribed> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new PushRefused('This browser does not allow notifications of this page. Allow them beside its address, then try again.');
  await navigator.serviceWorker.register(WORKER);
  const { pushManager } = await navigator.serviceWorker.ready;
  // One that the control plane does not know any more, or that belongs to another person.
  await (await pushManager.getSubscription())?.unsubscribe();
  try {
    const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
    return made.toJSON() as unknown as Subscribed;
  } catch (error) {
    throw new PushRefused(`The push service of this browser does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export async function unsubscribe(): Promise<void> {
  localStorage.removeItem(KEPT);
  const registration = await navigator.serviceWorker.getRegistration(WORKER);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
