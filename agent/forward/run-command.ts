import { AgentError } from '../core/errors.ts';
import type { ApiCommand, CommandReply, Deadline, RouterAdapter } from '../routers/adapter.ts';

/** A command of the agent's own, that nobody sees otherwise: a refusal (`not enough permissions (9)`) names it. @throws AgentError */
export async function runCommand(router: RouterAdapter, command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
  try {
    return await router.command(command, deadline);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    throw new AgentError('rejected', `${error.message} (${command.path})`, { cause: error, category: error.category });
  }
}
