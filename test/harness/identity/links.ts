import type { Caller, World } from '../world.ts';
import { FormBrowser } from './browser.ts';
import type { Page } from './browser.ts';
import { PASSWORD } from './sign-in.ts';

export interface Invited {
  data: { id: null; email: string; state: string; invitation: { id: string; url: string; expires_at: string } };
}

/** What an administrator does. @returns the link */
export async function invite(caller: Caller, email: string, role = 'operator'): Promise<{ id: string; url: string }> {
  const { status, body } = await caller.call<Invited>('POST', '/api/members', { email, role });
  if (status !== 200) throw new Error(`not invited: ${JSON.stringify(body)}`);
  return body.data.invitation;
}

export interface Answer {
  current?: string;
  next?: string;
  repeated?: string;
}

/** What the person does, in a browser of their own. */
export async function acceptInvitation(
  world: World,
  url: string,
  { current = '', next = PASSWORD, repeated = next }: Answer = {},
): Promise<Page> {
  const browser = new FormBrowser(world.server.url);
  const page = await browser.open(url);
  if (page.status !== 200) return page;
  return browser.submit(page, '/accept', { current_password: current, new_password: next, repeated });
}

export async function declineInvitation(world: World, url: string): Promise<Page> {
  const browser = new FormBrowser(world.server.url);
  const page = await browser.open(url);
  return page.status === 200 ? browser.submit(page, '/decline') : page;
}

/** Opens the link for a new password and sets one. */
export async function setPasswordBy(world: World, url: string, next: string): Promise<Page> {
  const browser = new FormBrowser(world.server.url);
  const page = await browser.open(url);
  if (page.status !== 200) return page;
  return browser.submit(page, new URL(url).pathname, { new_password: next, repeated: next });
}
