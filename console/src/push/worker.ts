/**
 * The service worker: shows what the control plane pushes to this browser, also while no page is open. It is a program of its own, which
 * imports nothing and keeps nothing; it has no access token, and asks the control plane for nothing.
 */
import type { PushedMessage } from './message.ts';

/** The parts of the worker's world that are used here; the page's types know `self` as a window. */
interface Extended extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Pushed extends Extended {
  data: { json(): unknown } | null;
}
interface Clicked extends Extended {
  notification: Notification;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: Extended) => void): void;
  addEventListener(type: 'push', listener: (event: Pushed) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: Clicked) => void): void;
  skipWaiting(): Promise<void>;
  registration: ServiceWorkerRegistration;
  clients: { openWindow(url: string): Promise<unknown>; claim(): Promise<void> };
  location: Location;
}
const worker = self as unknown as Worker;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('push', (event) => {
  event.waitUntil(show(event.data?.json()));
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open((event.notification.data as { url?: unknown } | null)?.url));
});

/** A browser takes the permission away from pages that get a message and show nothing, so something is always shown. */
function show(message: unknown): Promise<void> {
  const {
    title,
    lines = [],
    rows = [],
    tag,
    url,
    locale,
  } = (typeof message === 'object' && message !== null ? message : {}) as PushedMessage;
  return worker.registration.showNotification(typeof title === 'string' ? title : 'Signalbox', {
    body: [...lines, ...rows].join('\n'),
    lang: locale ?? 'en',
    data: { url },
    // A newer message of a thread takes the place of the older one, and is heard again.
    ...(tag === undefined ? {} : { tag, renotify: true }),
  });
}

/**
 * Shows what the message is about, always in a page of its own: an open one may have a terminal or a form, and of what it shows the browser
 * tells only the address with which it began. Nobody can send people elsewhere.
 */
async function open(url: unknown): Promise<void> {
  const { origin } = worker.location;
  await worker.clients.openWindow(typeof url === 'string' && URL.parse(url)?.origin === origin ? url : `${origin}/`);
}
