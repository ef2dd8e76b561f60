import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import type { Deadline, RouterShell } from '../../../agent/routers/adapter.ts';
import { AgentTerminals } from '../../../agent/terminals/agent-terminals.ts';
import { FakeRouter, HARDWARE_ID } from '../../harness/fake-router.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const ID = '01a1fb9c-376e-7279-a064-482cecad7b5b';

const wanted = {
  router: 'one',
  hardware_id: HARDWARE_ID,
  terminal_id: ID,
  level: 'read' as const,
  channel_token: `${ID}:token`,
  cols: 80,
  rows: 24,
  resume: false,
  from: 0,
  expires_in_ms: 7_200_000,
  idle_ms: 600_000,
  keep_ms: 300_000,
};

/** A router whose shell opens when the test says so. `heedsAbort`: as the real one, which then fails. */
function slowRouter({ heedsAbort }: { heedsAbort: boolean }) {
  const router = new FakeRouter();
  router.terminalLevels = ['read'];
  const shells: RouterShell[] = [];
  let isAborted = false;
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: opened, resolve: answer } = Promise.withResolvers<void>();
  router.onOpenShell = async ({ signal }: Deadline) => {
    isAsked();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => undefined);
    signal?.addEventListener('abort', () => {
      isAborted = true;
      if (heedsAbort) reject(new AgentError('outcome_unknown', 'given up'));
    });
    await Promise.race([opened, aborted]);
    const shell = Object.assign(new PassThrough(), { resize: () => undefined });
    shells.push(shell);
    return shell;
  };
  return { router, shells, asked, answer, isAborted: () => isAborted };
}

function terminalsOf(router: FakeRouter) {
  let dialled = 0;
  const terminals = new AgentTerminals({
    routers: new Map([[router.name, router]]),
    level: 'read',
    dialChannel: () => {
      dialled += 1;
      // Nobody answers.
      return new Promise(() => undefined);
    },
    send: () => true,
    clock: new ManualClock(),
    log: silentLog,
  });
  return { terminals, dialled: () => dialled };
}

const deadline = { timeoutMs: 20_000 };

test.each<[string, (terminals: AgentTerminals) => unknown]>([
  ['closed', (terminals) => terminals.close(ID)],
  ['closed because the agent is revoked', (terminals) => terminals.closeAll()],
  ['closed because the agent stops', (terminals) => terminals.stop()],
])('a shell that is being opened while it is %s opens no session', async (_what, close) => {
  const { router, asked, isAborted } = slowRouter({ heedsAbort: true });
  const { terminals, dialled } = terminalsOf(router);
  const opening = terminals.open(wanted, deadline);
  await asked;
  await close(terminals);
  await expect(opening).rejects.toThrow(AgentError);
  expect([isAborted(), dialled()]).toEqual([true, 0]);
});

test('a shell that opens in the moment in which it is closed ends at once', async () => {
  const { router, asked, answer, shells } = slowRouter({ heedsAbort: false });
  const { terminals, dialled } = terminalsOf(router);
  const opening = terminals.open(wanted, deadline);
  await asked;
  terminals.close(ID);
  answer();
  await expect(opening).rejects.toThrow('the terminal was closed while it was being opened');
  expect([shells[0]!.destroyed, dialled()]).toEqual([true, 0]);
  // Nothing is left of it: the id is free.
  await expect(terminals.open({ ...wanted, resume: true }, deadline)).rejects.toMatchObject({ terminal: 'terminal_gone' });
});

test('a shell is opened once, however often it is asked for meanwhile', async () => {
  const { router, asked, answer, shells } = slowRouter({ heedsAbort: true });
  const { terminals } = terminalsOf(router);
  const opening = terminals.open(wanted, deadline);
  await asked;
  await expect(terminals.open(wanted, deadline)).rejects.toMatchObject({ code: 'invalid' });
  answer();
  expect(await opening).toEqual({ from: 0 });
  expect(shells).toHaveLength(1);
  await terminals.stop();
});
