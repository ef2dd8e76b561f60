import pino from 'pino';
import { TeamsService } from '../../server/access/teams/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';

/** The administrator of the demo hears of everything, so that there is something to look at. */

/** Nobody could open the link in a mail that is only a file: the address of the demo's administrator counts as proved. */
export async function proveEmail(databaseUrl: string, email: string): Promise<void> {
  const storage = await openStorage(databaseUrl, { log: pino({ level: 'silent' }) });
  try {
    await new TeamsService({ storage, clock: systemClock }).confirmEmail(email);
  } finally {
    await storage.close();
  }
}

/** A group with the four topics of a new team, which tells the administrator, and would tell a channel if somebody proved it. */
export async function makeGroup(server: string, apiKey: string, email: string): Promise<void> {
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(
      `${server}${path}`,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    );
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const { data: members } = await ask<{ data: { id: string; email: string }[] }>('/api/members');
  const { data: topics } = await ask<{ data: { id: string }[] }>('/api/topics');
  const recipients = members.filter((member) => member.email === email).map(({ id }) => id);
  const slack = { name: '#noc', channel: 'slack', address: { url: 'https://hooks.slack.com/services/T00000000/B00000000/invented' } };
  const { data: target } = await ask<{ data: { id: string } }>('/api/notification-targets', slack);
  await ask('/api/groups', { name: 'On call', recipients, targets: [target.id], topics: topics.map(({ id }) => id) });
}
