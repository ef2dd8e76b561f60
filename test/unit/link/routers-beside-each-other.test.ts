import { describe, expect, it } from 'vitest';
import { systemClock as agentClock } from '../../../agent/core/clock.ts';
import { declineReason } from '../../../agent/jobs/acceptance.ts';
import type { JournalEntry } from '../../../agent/jobs/journal/memory.ts';
import { ServedRequests } from '../../../agent/link/requests.ts';
import type { RequestHandlers } from '../../../agent/link/types.ts';
import { MAX_OPEN_JOBS_PER_AGENT, MAX_OPEN_REQUESTS } from '../../../protocol/index.ts';
import type { AgentMessage, JobOffer, Request } from '../../../protocol/index.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { Counters } from '../../../server/platform/core/counters.ts';
import { ReplyMemory } from '../../../server/platform/tunnel/reply-memory.ts';
import { AgentRequests } from '../../../server/platform/tunnel/requests.ts';
import { FakeRouter, HARDWARE_ID } from '../../harness/fake-router.ts';
import { silentLog } from '../../harness/silent-log.ts';

/** Several routers behind one agent: one that hangs gets no more than is left for the others. */

const paramsOf = (router: string) => ({ router, hardware_id: HARDWARE_ID, path: '/x', words: [] });

describe('a router that hangs', () => {
  it('gets at most half of the requests of its tunnel, and another router still gets requests', async () => {
    const sent: number[] = [];
    const requests: AgentRequests = new AgentRequests({
      clock: systemClock,
      counters: new Counters(),
      memory: new ReplyMemory().ofTunnel('team'),
      send: (message) => {
        if (message.type !== 'request') return 'sent';
        sent.push(message.id);
        if ((message.params as { router: string }).router === 'good') {
          setImmediate(() => requests.onReply({ type: 'reply', id: message.id, outcome: { ok: true, result: { method: 'command' } } }));
        }
        return 'sent';
      },
    });
    const ask = (router: string) => requests.request('command', paramsOf(router), { timeoutMs: 60_000 });
    const hanging = Array.from({ length: MAX_OPEN_REQUESTS }, () => ask('hangs').catch((error: unknown) => error));
    expect(sent).toHaveLength(MAX_OPEN_REQUESTS / 2);
    await expect(hanging.at(-1)).resolves.toMatchObject({ code: 'unavailable', message: 'too many requests under way on this router' });
    for (let n = 0; n < MAX_OPEN_REQUESTS; n += 1) await ask('good');
    requests.close();
    await Promise.all(hanging);
    // The end of the requests releases what they held.
    const again = ask('hangs').catch((error: unknown) => error);
    expect(sent).toHaveLength(MAX_OPEN_REQUESTS * 1.5 + 1);
    requests.close();
    await again;
  });

  it("gets at most half of the agent's open requests, and another router is still served", async () => {
    const said: AgentMessage[] = [];
    const port = { send: (message: AgentMessage) => said.push(message) > 0, bufferedAmount: 0 };
    const handlers = {
      command: (params: { router: string }, { signal }: { signal: AbortSignal }) =>
        params.router === 'good'
          ? Promise.resolve({})
          : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
    } as unknown as RequestHandlers;
    const served = new ServedRequests(handlers, port, agentClock, silentLog);
    const request = (id: number, router: string): Request => ({
      type: 'request',
      id,
      remaining_ms: 60_000,
      method: 'command',
      params: paramsOf(router),
    });
    for (let id = 1; id <= MAX_OPEN_REQUESTS; id += 1) served.serve(request(id, 'hangs'));
    expect(served.size).toBe(MAX_OPEN_REQUESTS / 2);
    const before = said.length;
    served.serve(request(5000, 'good'));
    await new Promise(setImmediate);
    expect(said.slice(before)).toEqual([{ type: 'reply', id: 5000, outcome: { ok: true, result: { method: 'command' } } }]);
    served.abortAll();
    await served.idle();
    served.serve(request(5001, 'hangs'));
    expect(served.size).toBe(1);
    served.abortAll();
    await served.idle();
  });

  it('and cannot be cleaned up leaves room in the journal for the jobs of another', () => {
    const routers = new Map(['hangs', 'good'].map((name) => [name, new FakeRouter(name)]));
    const offerFor = (router: string): JobOffer => ({
      type: 'job.offer',
      job_id: '018f0000-0000-7000-8000-000000000000',
      router,
      hardware_id: HARDWARE_ID,
      script: '',
      make_backup: false,
      needs_acknowledgement: true,
      timeout_ms: 1000,
    });
    const entry = {
      offer: offerFor('hangs'),
      state: 'ended',
      boot: undefined,
      guard: undefined,
      isArmed: false,
      result: undefined,
      acked: true,
    } as JournalEntry;
    const entries = Array.from({ length: MAX_OPEN_JOBS_PER_AGENT / 2 }, () => entry);
    expect(declineReason(offerFor('hangs'), routers, entries)).toBe('busy');
    expect(declineReason(offerFor('hangs'), routers, entries.slice(1))).toBeUndefined();
    expect(declineReason(offerFor('good'), routers, entries)).toBeUndefined();
  });
});
