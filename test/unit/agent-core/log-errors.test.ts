import { expect, it } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { LinkError } from '../../../agent/link/errors.ts';
import { errorForLog } from '../../../agent/log-errors.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8728'), { code: 'ECONNREFUSED' });

it.each([
  new AgentError('router_unreachable', '127.0.0.1:8728: connection refused (ECONNREFUSED)', { cause: refused }),
  new AgentError('rejected', 'not enough permissions (9)', { cause: refused }),
  new LinkError('unreachable', refused.message, { cause: refused }),
])('$code is expected: it is logged with its message and without a stack', (error) => {
  expect(errorForLog(error)).toEqual({ type: error.name, code: error.code, message: error.message });
});

it.each([new TypeError('x is not a function'), new AgentError('internal', 'the journal is inconsistent'), refused])(
  '$message is not expected: it is logged with its stack',
  (error) => {
    expect(errorForLog(error)).toMatchObject({ message: error.message, stack: expect.stringContaining('log-errors.test.ts') as string });
  },
);

it('a value that is not an error is logged unchanged', () => {
  expect(errorForLog('thrown by a library')).toBe('thrown by a library');
});
