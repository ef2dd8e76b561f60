import { expect, test } from 'vitest';
import { NtfyChannel } from '../../../server/outbound/notifications/channels/ntfy.ts';
import type { HttpDeps } from '../../../server/outbound/notifications/channels/http.ts';
import { agentAway, messageOf } from '../../harness/notify/views.ts';

/** What a provider answers is read as it came; secrets are taken out of what is told of it. */

function answering(status: number, body: string): HttpDeps {
  return { now: () => 0, poster: { ask: () => Promise.resolve({ outcome: 'answered', status, headers: {}, body, isPrivate: false }) } };
}

const send = (topic: string, deps: HttpDeps) =>
  new NtfyChannel(deps).send(messageOf(agentAway()), { url: 'https://ntfy.example.com', topic, token: null }, new AbortController().signal);

test.each(['id', '1', 'time'])('a topic called %s does not hide that the message was accepted', async (topic) => {
  const body = JSON.stringify({ id: 'hwQ2YpKdmg', time: 1_700_000_001, event: 'message', topic });
  expect(await send(topic, answering(200, body))).toEqual({ outcome: 'sent', ref: 'hwQ2YpKdmg' });
});

test('a secret with slashes is taken out in JSON, too', async () => {
  const result = await send('alerts/s3cr3t', answering(400, String.raw`{"error":"no topic alerts\/s3cr3t"}`));
  expect(result).toMatchObject({ outcome: 'never', detail: 'HTTP 400: {"error":"no topic •••"}' });
});
