import { createHash } from 'node:crypto';
import { ROW_BATCH_BYTES } from '../../protocol/index.ts';
import type { AgentMessage, ReplyError, ReplyOutcome, Request } from '../../protocol/index.ts';
import type { LightRouter } from './light-router.ts';

/** @returns rows, then the reply */
export function answerRequest(request: Request, find: (name: string) => LightRouter | undefined): AgentMessage[] {
  const { id } = request;
  const replyWith = (outcome: ReplyOutcome): AgentMessage => ({ type: 'reply', id, outcome });
  const refuse = (code: ReplyError['code'], message: string): AgentMessage[] => [replyWith({ ok: false, error: { code, message } })];
  if (request.method === 'forward.close') return [replyWith({ ok: true, result: { method: 'forward.close' } })];
  const { params } = request;
  if (!('router' in params)) return refuse('unsupported', `a simulated router has no ${request.method}`);
  const router = find(params.router);
  if (!router) return refuse('invalid', `no router ${params.router}`);
  if (router.hardwareId !== params.hardware_id) return refuse('wrong_router', 'another device has this name now');
  if (router.isAway) return refuse('router_unreachable', router.heartbeat().reason ?? 'the router does not answer');
  switch (request.method) {
    case 'command': {
      const answer = router.command(request.params.path, request.params.words);
      if ('error' in answer) return [replyWith({ ok: false, error: answer.error })];
      const { rows, ret } = answer;
      const batch: AgentMessage[] = rows.length === 0 ? [] : [{ type: 'rows', id, rows }];
      return [...batch, replyWith({ ok: true, result: { method: 'command', ...(ret === undefined ? {} : { ret }) } })];
    }
    case 'forward.open':
      return [
        replyWith({
          ok: true,
          result: {
            method: 'forward.open',
            way: 'ssh',
            way_reason: 'the router forwards connections of SSH',
            target_reachable: true,
            renewed: true,
          },
        }),
      ];
    case 'backup.take':
      router.save(request.params.job_id, request.params.parts);
      return [replyWith({ ok: true, result: { method: 'backup.take' } })];
    case 'backup.read':
      return readBackup(request, router, replyWith) ?? refuse('invalid', 'no such backup');
    case 'backup.remove':
      router.backups.delete(request.params.job_id);
      return [replyWith({ ok: true, result: { method: 'backup.remove' } })];
    default:
      return refuse('unsupported', `a simulated router has no ${request.method}`);
  }
}

function readBackup(
  { id, params }: Extract<Request, { method: 'backup.read' }>,
  router: LightRouter,
  replyWith: (outcome: ReplyOutcome) => AgentMessage,
): AgentMessage[] | undefined {
  const file = router.backups.get(params.job_id)?.get(params.part);
  if (!file) return undefined;
  const messages: AgentMessage[] = [];
  for (let at = 0; at < file.length; at += ROW_BATCH_BYTES)
    messages.push({ type: 'rows', id, rows: [{ data: file.subarray(at, at + ROW_BATCH_BYTES).toString('base64') }] });
  const sha256 = createHash('sha256').update(file).digest('hex');
  return [...messages, replyWith({ ok: true, result: { method: 'backup.read', size: file.length, sha256 } })];
}
